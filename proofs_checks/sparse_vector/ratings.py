"""The claims about sparse vector variants, rated by the rules of ``dpaudit.papers.severity``."""

from __future__ import annotations

from proofs_checks.shared.ratings import Rating


def _claimed(*needs: str) -> Rating:
    """A guarantee that a published algorithm gives its reader."""
    return Rating("fatal", "proven", needs)


def _shown(basis: str, *needs: str) -> Rating:
    return Rating("repairable", basis, needs)


RATINGS = {
    "svt1.privacy": Rating(
        "fatal", "proven", ("svt1.below-is-free",), ("svt3.privacy", "svt4.privacy", "svt5.privacy", "svt6.privacy")
    ),
    "svt1.tight": _shown("range", "svt1.privacy"),
    "svt1.below-is-free": _shown("proven"),
    "svt1.monotone": _claimed("svt1.below-is-free"),
    "svt1.half-noise": _shown("proven", "svt1.monotone"),
    "svt2.privacy": _claimed("svt1.below-is-free"),
    "svt2.more-noise": _shown("proven", "svt1.privacy", "svt2.privacy"),
    "svt3.privacy": _claimed(),
    "svt3.unbounded": _shown("range"),
    "svt4.privacy": _claimed("svt4.bound"),
    "svt4.bound": _shown("proven", "svt1.below-is-free"),
    "svt4.monotone-bound": _shown("proven", "svt1.below-is-free"),
    "svt5.privacy": _claimed(),
    "svt6.privacy": _claimed(),
    "svt6.unbounded": _shown("range"),
    "svt7.numbers": _claimed("svt1.privacy"),
    "svt.split": _shown("proven", "svt1.privacy"),
    "svt.split-monotone": _shown("proven", "svt1.monotone"),
    "svt.even-split": _shown("proven", "svt.split"),
}
