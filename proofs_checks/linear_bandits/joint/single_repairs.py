"""Theorem 1's four repairs one by one: which parts stand with which of them, and which repair alone breaks another part."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from proofs_checks.linear_bandits.algorithms.batches import exact_lengths
from proofs_checks.linear_bandits.algorithms.elimination_rules import witness
from proofs_checks.linear_bandits.lemmas import central as lemma_central
from proofs_checks.linear_bandits.repairs.widths import central_width
from proofs_checks.shared.decisions import Row

REPAIRS = ("Lap(2/ε)", "max over A_i", "N that fits T", "corrected γ")
BROKEN_BY_NOISE = "lemma-central.concentration"  # what Lap(2/ε) alone breaks


@lru_cache(maxsize=4)
def exceeded(scale: int, corrected: bool) -> float:
    """T·P(error > γ) at least, T = 10^6, noise Lap(scale/ε): exact tails of crowded core sets."""
    width = (lambda n, level: scale * central_width(n, float(level))) if corrected else lemma_central.printed_width
    return float(lemma_central.coverage(scale, width)["P·T"])


def combinations() -> list[Row]:
    """All sixteen: a part fails by a computed witness, and stands where none of them applies."""
    overrun = sum(exact_lengths(1097, 6)) > 1097
    found: list[Row] = []
    for chosen in product((False, True), repeat=4):
        noise, maximum, fits, gamma = chosen
        least = exceeded(2, True) if gamma else exceeded(2 if noise else 1, False)  # ours grows with the noise
        parts = {
            "privacy": "ε" if noise else "2ε",
            "good event, T·P": "≤ 1" if least <= 1 else f"≥ {least:.4g}",
            "optimum kept": "yes" if witness("active" if maximum else "all") is None else "no",
            "rounds": "T" if fits or not overrun else "T + 2 at T = 1097",
        }
        stands = noise and least <= 1 and maximum and fits
        names = [name for name, used in zip(REPAIRS, chosen, strict=True) if used]
        found.append({"repairs": ", ".join(names) or "none", **parts, "the theorem": "stands" if stands else "does not stand"})
    return found
