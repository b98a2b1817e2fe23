"""The good event of the repaired algorithms, for every T ≥ 3: a Bernstein bound for sums of Laplace noises, and a union bound.

For X = Σ l_k z_k, z_k ~ Lap(σ), v = Σ l_k², c = max|l_k|, and reward noise of variance proxy 1 with ‖a‖² = ‖a‖²_{V⁻¹}:

    log E e^{λX} = Σ −log(1 − u_k²) ≤ Σ u_k²/(1 − u_k²) ≤ λ²σ²v/(1 − λσc),      u_k = λσ|l_k| < 1
    P(X > 2σ√(vL) + σcL) ≤ e^{−L}                                              at λ = s/(1 + σcs), s = √(L/(σ²v))

The corrected γ adds √(2‖a‖²L) for the rewards. The tight γ takes the minimum over λ for both at once, and is smaller. The noise
that is shipped lives on a lattice of step g: E e^{λz} = 1/(1 − sinh²(λg/2)/sinh²(g/2σ)), which is at most 1/(1 − λ²σ²).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import flint

from dpaudit.claims.balls import precision
from proofs_checks.shared.proof_steps import Ball, Step, inverse_log, number, supremum, vanishes

Exponent = Callable[[Fraction, Fraction, Fraction, Fraction, Fraction], Fraction]


def bernstein_exponent(s: Fraction, c: Fraction, w: Fraction, deep: Fraction, share: Fraction = Fraction(1)) -> Fraction:
    """(λt − λ²w/(1 − λc) − L)(1 + cs) for λ = s/(1 + cs), w = σ²v = L/s², t = 2·w·s·share + cL, c = σ·max|l|.

    ``share`` other than 1 is a planted width.
    """
    rate, width = s / (1 + c * s), 2 * w * s * share + c * deep
    return (rate * width - rate**2 * w / (1 - rate * c) - deep) * (1 + c * s)


def identity(share: Fraction) -> bool:
    """With w = L/s² the exponent is exactly −L: a polynomial identity in s, c, L once multiplied out."""
    return vanishes(lambda s, c, deep: bernstein_exponent(s, c, deep / s**2, deep, share) * s, (4, 4, 2))


def logarithm_step() -> bool:
    """u/(1 − u) + log(1 − u) is 0 at u = 0, with derivative 1/(1 − u)² − 1/(1 − u) = u/(1 − u)² ≥ 0.

    Computed on balls away from 0 and 1, as a second route: log(1 − u) ≥ −u/(1 − u) on [1/16, 15/16].
    """
    with precision(64):
        low, high = flint.arb(1) / 16, flint.arb(15) / 16
        return bool(supremum(lambda u: -u / (1 - u) - (1 - u).log(), low, high, 4096) <= 0)


def lattice_mgf(rate: Fraction, step: Fraction, scale: Fraction) -> Ball:
    """E e^{λz} for P(z = kg) ∝ e^{−|k|g/σ}, summed as two geometric series."""
    fades, tilt = (-number(step / scale)).exp(), number(rate * step).exp()
    return (1 - fades) / (1 + fades) * (1 / (1 - fades * tilt) + 1 / (1 - fades / tilt) - 1)


def lattice_step(excess: Fraction = Fraction(1)) -> Step:
    """sinh(cy) ≤ c·sinh(y) for 0 ≤ c ≤ 1, with y = g/2σ and c = λσ. ``excess``: of the noise's scale; the planted fault."""
    cases = product((Fraction(1, 10), Fraction(1, 2), Fraction(99, 100)), (Fraction(1, 2**20), Fraction(1), Fraction(4)), (1, 3))
    holds = True
    with precision(128):
        for share, step, scale in cases:  # share = λσ
            holds &= bool(lattice_mgf(share / scale, step, scale * excess) <= 1 / (1 - number(share) ** 2))
    return Step(
        "noise on the lattice has at most the mgf of Lap(σ)",
        "sinh(λg/2) ≤ λσ·sinh(g/2σ), as sinh is convex on [0, ∞) and 0 at 0; series summed at 18 points",
        holds,
    )


def fewer_batches(x: Ball) -> Ball:
    """(N/log T − 1)·log T for N = log²T/(log T + log 2), at x = 1/log T: −log 2/(1 + x·log 2)."""
    two = flint.arb(2).log()
    return -two / (1 + x * two)


def union_steps(excess: Callable[[Ball], Ball] = fewer_batches) -> list[Step]:
    """N·4|A_i|e^{−L_i} = N/T² and N ≤ log T ≤ T. ``excess``: of N over log T; the planted fault plays more batches."""
    with precision(64):
        few = bool(supremum(excess, flint.arb(0), inverse_log()) <= 0)
    return [
        Step("N ≤ log²T/(log T + log 2) ≤ log T batches", "q^N ≤ Σ n_i ≤ T and log q = 1 + log 2/log T", few),
        Step("log T ≤ T", "log T ≤ T − 1, as log is concave"),
        Step(
            "corrected: P(bad) ≤ Σ_i |A_i|·2(e^−L_i + e^−L_i) = N/T² ≤ 1/T, L_i = log(4|A_i|T²)",
            "two sides, two noises; given the past, A_i and V_i are fixed and the batch's noise is fresh",
            few,
        ),
        Step(
            "tight: P(bad) ≤ Σ_{i≤N_max} |A_i|·e^−L_i = 1/T, L_i = log(|A_i|·N_max·T)",
            "one side per action: the optimum is not underestimated, no other overestimated",
        ),
    ]


def tail_steps(share: Fraction = Fraction(1)) -> list[Step]:
    """The tail of the noise. ``share``: of the root in the width; less than 1 is the planted fault."""
    return [
        Step("−log(1 − u²) ≤ u²/(1 − u²) ≤ u²/(1 − u)", "u/(1 − u) + log(1 − u) rises from 0", logarithm_step()),
        Step(
            "P(X > 2σ√(vL) + σcL) ≤ e^−L",
            "at λ = s/(1 + σcs), s = √(L/(σ²v)), the exponent is −L exactly (identity of polynomials)",
            identity(share),
        ),
        Step(
            "‖a‖² ≤ 2m/q^i and |l_k| ≤ 2m/q^i",
            "V_i ⪰ q^i V(π), leverage ≤ 2m (verified by the code for every core set that it uses), Cauchy–Schwarz",
        ),
        lattice_step(),
        Step(
            "tight γ_a ≤ corrected γ_i",
            "the λ above with w = ‖a‖²/2 + σ²v: 2√(wL) + σcL ≤ √(2‖a‖²L) + 2σ√(vL) + σcL; and |A_i|N_maxT ≤ 4|A_i|T²",
        ),
    ]
