"""The claims of the optimistic bandit, rated by the rules of ``dpaudit.papers.severity``."""

from __future__ import annotations

from proofs_checks.shared.ratings import Rating


def _theorem(basis: str, *needs: str) -> Rating:
    return Rating("fatal", basis, needs)


def _lemma(basis: str, *needs: str) -> Rating:
    return Rating("repairable", basis, needs)


RATINGS = {
    "optimistic.privacy-central": _theorem("proven"),
    "optimistic.privacy-local": _theorem("proven"),
    "optimistic.privacy-shuffled": _theorem("proven", "optimistic.privacy-local"),
    "optimistic.ellipsoid": _lemma("proven", "optimistic.noise-growth", "optimistic.discrete-noise"),
    "optimistic.ball": _lemma("proven"),
    "optimistic.validity": _theorem("proven", "optimistic.discrete-noise", "optimistic.ellipsoid", "optimistic.ball"),
    "optimistic.width": _lemma("proven"),
    "optimistic.noise-growth": _lemma("proven"),
    "optimistic.discrete-noise": _lemma("proven"),
    "optimistic.regret-r1": _theorem("proven", "optimistic.validity", "optimistic.width"),
    "optimistic.regret-r2": _theorem("proven", "optimistic.validity", "optimistic.shrunken-matrix"),
    "optimistic.batches": _lemma("proven"),
    "optimistic.shrunken-matrix": _lemma("proven"),
}
