"""The claims of the optimistic bandit, rated by the rules of ``dpaudit.papers.severity``."""

from __future__ import annotations

from proofs_checks.shared.ratings import Rating


def _theorem(basis: str, *needs: str) -> Rating:
    return Rating("fatal", basis, needs)


def _lemma(basis: str, *needs: str) -> Rating:
    return Rating("repairable", basis, needs)


RATINGS = {
    "optimistic.privacy-central": _theorem("range", "optimistic.discrete-noise"),
    "optimistic.privacy-local": _theorem("range"),
    "optimistic.privacy-shuffled": _theorem("range", "optimistic.privacy-local"),
    "optimistic.validity": _theorem("range", "optimistic.discrete-noise"),
    "optimistic.width": _lemma("range", "optimistic.noise-growth"),
    "optimistic.noise-growth": _lemma("range"),
    "optimistic.discrete-noise": _lemma("range"),
    "optimistic.regret-r1": _theorem("measured", "optimistic.validity", "optimistic.width"),
    "optimistic.regret-r2": _theorem("measured", "optimistic.validity", "optimistic.width", "optimistic.shrunken-matrix"),
    "optimistic.batches": _lemma("measured"),
    "optimistic.shrunken-matrix": _lemma("range"),
}
