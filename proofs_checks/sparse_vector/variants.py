"""The six published variants that Lyu, Su and Li compare (Algorithms 1–6), for sensitivity Δ = 1; ε is what is claimed.

Noise scales and cutoffs were compared with public code and notes that cite the paper, as far as these show them; the paper's own
text was not at hand.
"""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.sparse_vector.transcripts import Variant

EPSILON = Fraction(1)


def standard(cutoff: int, first: Fraction = EPSILON / 2, second: Fraction = EPSILON / 2, monotone: bool = False) -> Variant:
    """Algorithm 1 (theirs): Lap(Δ/ε_1), Lap(2cΔ/ε_2); for monotone queries Lap(cΔ/ε_2)."""
    return Variant(1 / first, (1 if monotone else 2) * cutoff / second, cutoff)


def book(cutoff: int, epsilon: Fraction = EPSILON) -> Variant:
    """Algorithm 2 (Dwork and Roth 2014): Lap(cΔ/ε_1), Lap(2cΔ/ε_1), ε_1 = ε/2, the threshold's noise drawn anew after each ⊤."""
    return Variant(2 * cutoff / epsilon, 4 * cutoff / epsilon, cutoff, refresh=True)


def lecture(cutoff: int, epsilon: Fraction = EPSILON) -> Variant:
    """Algorithm 3 (Roth's lecture notes 2011): Lap(Δ/ε_1), Lap(cΔ/ε_2); ⊤ comes with q_i + ν_i itself."""
    return Variant(2 / epsilon, 2 * cutoff / epsilon, cutoff)


def frequent_items(cutoff: int, epsilon: Fraction = EPSILON) -> Variant:
    """Algorithm 4 (Lee and Clifton 2014): ε_1 = ε/4, Lap(Δ/ε_1), Lap(Δ/ε_2)."""
    return Variant(4 / epsilon, Fraction(4, 3) / epsilon, cutoff)


def no_query_noise(epsilon: Fraction = EPSILON) -> Variant:
    """Algorithm 5 (Stoddard, Chen and Machanavajjhala 2014): Lap(Δ/ε_1), no noise at the queries, no cutoff."""
    return Variant(2 / epsilon, Fraction(0), None)


def no_cutoff(epsilon: Fraction = EPSILON) -> Variant:
    """Algorithm 6 (Chen et al. 2015): Lap(Δ/ε_1), Lap(Δ/ε_2), no cutoff."""
    return Variant(2 / epsilon, 2 / epsilon, None)


def shift_bound(variant: Variant, monotone: bool = False) -> Fraction | None:
    """ε by the argument of shifts: ρ moves by Δ, each ⊤ by 2Δ (monotone: Δ), each ⊥ is free. None: no cutoff, or no noise."""
    if variant.cutoff is None or variant.query == 0:
        return None
    draws = variant.cutoff if variant.refresh else 1
    return draws / variant.threshold + variant.cutoff * (1 if monotone else 2) / variant.query
