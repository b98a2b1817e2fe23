"""The loss of near_parallel for every T from some T0 on, in closed form: P ≥ T^{−κ}/(const·log T) with κ < 1.

Write L = log(8T²), q^i = λL. Steps, each monotone in T so that it is checked at T0 only:
1. On |errors| ≤ γ_j/2, e_2 stays while γ_j ≥ Γ and leaves once 4γ_j < Γ; a and b stay, as Δ ≤ γ_j. So {a, b} begins with a batch
   of λ between 8e/Γ² and q²(4/Γ²)(√8 + √(8 + 4Γω/ε))², 8 times L_3/L for three actions; ω = width/L.
2. A single pair of sums lies in the window: n(ρ_a − ρ_b)/2 the whole number next to n·D/2, D = 2s(m + 2γ), m = c/10, and both
   means within e/n of m ± D/2, e = 3/2 + 1/(2s); for that ns(m + 2γ) > 3/2 + z(1 + 1/s) is enough.
3. P(Bin(n, p) = k) ≥ e^{−nKL}/√(2n), as C(n, k) ≥ e^{nH(k/n)}/√(8k(1 − k/n)); in means KL ≤ (shift)²/(2(1 − M²)), |means| ≤ M.
   Both shifts are at most δ + e/n, δ = (D + Δ)/2, and nδ² ≤ (λL/2 + 1)δ²: exponents F·L + const, κ = 2F.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_checks.linear_bandits.theorems.regret.near_parallel import (
    GAP_A,
    GAP_E2,
    MEANS,
    THETA,
    S,
    Width,
    error_tail,
    number,
    reach_for,
)
from proofs_checks.shared.laplace_tails import MP


@dataclass(frozen=True)
class Rate:
    """P·T ≥ e^{slope·log T − offset}/(λ(2 log T + log 8) + 2) for every T ≥ T0: above 1 there, and growing."""

    decade: int  # T0 = 10^decade
    kappa: Any
    offset: Any
    most: Any  # λ

    def log_least(self, log_horizon: Any) -> Any:
        """log of the lower bound on P."""
        level = 2 * log_horizon + MP.log(8)
        return -self.kappa * log_horizon - self.offset - MP.log(self.most * level + 2)


def rate(epsilon: Fraction, maximum: str, width: Width, first: int = 6, last: int = 280) -> Rate | None:
    """For the smallest T0 = 10^k at which every step holds; None if there is none."""
    for decade in range(first, last + 1):
        rate_here = _at(decade, epsilon, maximum, width)
        if rate_here is not None:
            return rate_here
    return None


def _at(decade: int, epsilon: Fraction, maximum: str, width: Width) -> Rate | None:
    log = decade * MP.log(10)
    level, level3, q = 2 * log + MP.log(8), 2 * log + MP.log(12), MP.exp(1 + MP.log(2) / log)
    eps, s, gap, gap_a, z = (number(x) for x in (epsilon, S, GAP_E2, GAP_A, reach_for(epsilon)))
    middle, down = number((MEANS[0] + MEANS[1]) / 2), -number(THETA[1])
    omega = number(width(2, level3)) / level
    if any(number(width(2, x + MP.log(12))) / (x + MP.log(8)) > omega for x in (2 * log * k for k in (2, 10, 100, 1000))):
        return None  # ω must not grow
    root8 = 8 * level3 / level
    most = q**2 * 4 / gap**2 * (MP.sqrt(root8) + MP.sqrt(root8 + 4 * gap * omega / eps)) ** 2
    least = 8 * MP.e / gap**2
    gamma = MP.sqrt(8 / least) + 4 * omega / (eps * least)  # γ at most
    if maximum == "all":  # √λ·δ and δ at most; δ = s(m + 2γ) + Δ/2, Δ = 2s|θ_2|
        scaled = s * (MP.sqrt(most) * (middle + down) + 2 * MP.sqrt(8) + 8 * omega / (eps * MP.sqrt(least)))
        shift = s * (middle + down + 2 * gamma)
    else:  # ρ_a − ρ_b > 2γ: δ = γ + Δ/2
        scaled = MP.sqrt(most) * gap_a / 2 + MP.sqrt(8) + 4 * omega / (eps * MP.sqrt(least))
        shift = gamma + gap_a / 2
    n, slack = least * level / 2, MP.mpf(3) / 2 + 1 / (2 * s)
    mean = middle + shift + slack / n
    fits = s * level * MP.sqrt(8 * least) + s * middle * n > MP.mpf(3) / 2 + z * (1 + 1 / s)
    if mean >= 1 or not fits or MP.sqrt(8 / most) < gap_a:
        return None
    batches = MP.log(most * level)
    risk = batches * error_tail(MP.mpf(1) / 2, level3, width)
    early = most * level * q / (q - 1) + 3 * batches <= MP.exp(log) / 2 and batches <= log - 2
    kappa = scaled**2 / (1 - mean**2)
    if risk >= MP.mpf(1) / 2 or not early or 1 - kappa < 1 / log:
        return None
    constant = (shift**2 + 2 * shift * slack + slack**2 / n) / (1 - mean**2) + kappa / 2 * MP.log(8)
    offset = constant - 2 * MP.log(1 - MP.exp(-eps * z)) - MP.log(1 - risk)
    rate_here = Rate(decade, kappa, offset, most)
    return rate_here if rate_here.log_least(log) > -log else None
