"""How a paper's claims are rated: severity if one fails, basis if it holds, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from dpaudit.papers.checks import Check
from proofs_checks.shared.durations import SECONDS


@dataclass(frozen=True)
class Rating:
    """As the fields of a check."""

    severity: str = "none"
    basis: str | None = None
    needs: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


def rated(checks: Iterable[Check], ratings: Mapping[str, Rating]) -> list[Check]:
    """Each check with its rating. Raises KeyError for a check without one, and for a rating without a check."""
    listed = list(checks)
    stray = set(ratings) - {check.id for check in listed}
    if stray:
        raise KeyError(f"ratings of no check: {', '.join(sorted(stray))}")
    return [
        replace(
            check, severity=rating.severity, basis=rating.basis, needs=rating.needs, repairs=rating.repairs,
            seconds=SECONDS.get(check.id, 1.0),
        )
        for check in listed
        for rating in [ratings[check.id]]
    ]  # fmt: skip
