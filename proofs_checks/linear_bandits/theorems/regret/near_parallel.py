"""Three actions on which Algorithm 1's maximum over A loses the optimum for good, with a probability bounded exactly.

d = 2, A = {a, b, e_2}, a and b = (c, ±s) with t = 1/100, θ = (1/10, −4/5), rewards ±1. b is the best, a has gap Δ = 8s/5, e_2 has
gap Γ = c/10 + 4s/5 + 4/5. A is its own 1/T-net. Bd is read as |C_i| = 2; any core set of Lemma 2 will do before e_2 leaves.

Once A_i = {a, b}, both are pulled n = ⌈q^i/2⌉ times, their means are estimated by ρ_a = r̂_a/n and ρ_b = r̂_b/n, and e_2's by
(ρ_a − ρ_b)/(2s). So A_{i+1} = {a}, which is not empty, just if ρ_b < (ρ_a − ρ_b)/(2s) − 2γ_i ≤ ρ_a. From then on A_j ⊆ {a}:
whatever is played is a. What happens to an empty set plays no part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from dpaudit.claims.balls import Ball, ball, lower, precision, upper
from proofs_checks.shared.laplace_tails import MP

T_PARAMETER = Fraction(1, 100)
C, S = (1 - T_PARAMETER**2) / (1 + T_PARAMETER**2), 2 * T_PARAMETER / (1 + T_PARAMETER**2)
THETA = (Fraction(1, 10), Fraction(-4, 5))
MEANS = (C * THETA[0] + S * THETA[1], C * THETA[0] - S * THETA[1], THETA[1])  # of a, b, e_2
GAP_A, GAP_E2 = MEANS[1] - MEANS[0], MEANS[1] - MEANS[2]
Width = Callable[[Any, Any], Any]  # (|C_i|, L) → the noise's part of γ_i in units of 2d/(εq^i)
SMALL = Fraction(1, 50)  # a batch before the last decides otherwise than planned with at most this probability
BITS = 256
MOST = 10**6  # pulls that are summed over
REACH = 12  # standard deviations that sums run over: what is left out only lowers a lower bound


@dataclass(frozen=True)
class Batch:
    """What batch i of Algorithm 1 has: q^i, γ_i and L_i for that many active actions."""

    power: Any
    gamma: Any
    level: Any


def batch(horizon: Any, epsilon: Fraction, index: int, active: int, width: Width) -> Batch:
    """50 digits. γ_i = √(4dL/q^i) + (2d/(εq^i))·width(|C_i|, L), L = log(4|A_i|T²)."""
    log = MP.log(horizon)
    power, level = MP.exp(index * (1 + MP.log(2) / log)), MP.log(4 * active) + 2 * log
    return Batch(power, MP.sqrt(8 * level / power) + 4 * number(width(2, level)) / (number(epsilon) * power), level)


def number(value: Any) -> Any:
    """A Fraction, an int or a float in 50 digits."""
    return MP.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else MP.mpf(value)


def error_tail(share: Any, level: Any, width: Width) -> Any:
    """P(some |⟨α, θ̂_i − θ⟩| > share·γ_i, α ∈ A) at most, for any core set of Lemma 2 in A.

    Rewards: ‖α‖² ≤ 4/q^i in V⁻¹, sub-Gaussian with proxy 1, so 2e^{−share²L} for each of three actions. Noise: all coefficients
    are at most 4/q^i, so at most (4/(εq^i))·Gamma(3), for all actions at once.
    """
    if share <= 0:
        return MP.mpf(1)
    v = share * number(width(2, level))
    return min(MP.mpf(1), 6 * MP.exp(-(share**2) * level) + MP.exp(-v) * (1 + v + v**2 / 2))


def departure(horizon: Any, epsilon: Fraction, width: Width) -> tuple[range, Any]:
    """The batches in which e_2 may be the only one to leave, and P(a, b or e_2 does otherwise before or then) at most.

    Errors of at most γ − Γ/2 keep all three; of at most γ − Δ/2 keep a and b; of less than Γ/2 − γ throw e_2 out.
    """
    small, gap_a, gap_e2 = number(SMALL), number(GAP_A), number(GAP_E2)
    index, first, risk = 1, 0, MP.mpf(0)
    while True:
        now = batch(horizon, epsilon, index, 3, width)
        keeps_all, keeps_two, throws = 1 - gap_e2 / (2 * now.gamma), 1 - gap_a / (2 * now.gamma), gap_e2 / (2 * now.gamma) - 1
        if keeps_two <= 0:  # γ is so small that a has to leave too
            return range(0), MP.mpf(1)
        stays = error_tail(keeps_all, now.level, width)
        if not first and stays <= small:
            risk += stays
        else:
            first = first or index
            leaves = error_tail(min(keeps_two, throws), now.level, width)
            if leaves <= small:
                return range(first, index + 1), risk + leaves
            risk += error_tail(keeps_two, now.level, width)
        index += 1


def pulls(power: Any) -> int:
    """⌈q^i/2⌉; the 50 digits must tell."""
    n = int(MP.ceil(power / 2))
    if abs(power / 2 - MP.nint(power / 2)) < MP.mpf(10) ** -20:
        raise ArithmeticError("q^i/2 is too near to a whole number")
    return n


@dataclass(frozen=True)
class Window:
    """X, Y = 2x − n, 2y − n are sums of n rewards of a and b. The pairs for which A_{i+1} = {a} whatever noises |z| ≤ ``reach``.

    A negative reach: all pairs for which some such noises make A_{i+1} = {a}. γ is inside [low, high].
    """

    n: int
    low: Fraction
    high: Fraction
    reach: Fraction
    maximum: str

    def lines(self) -> tuple[Line, Line]:
        """(first, last): the window's y are ⌈first(x)⌉, …, ⌈last(x)⌉ − 1."""
        n, z = self.n, self.reach
        inner, outer = (self.high, self.low) if z >= 0 else (self.low, self.high)
        if self.maximum == "active":  # Y + z_b < X + z_a − 2γn
            return _line(Fraction(0), Fraction(-n), n), _line(Fraction(1), -2 * inner * n - 2 * z, n)
        # Y + z_b < (X − Y + z_a − z_b)/(2s) − 2γn ≤ X + z_a
        least = _line(1 - 2 * S, -2 * S * (2 * outer * n - z * (1 / S - 1)), n)
        scale = 1 + 1 / (2 * S)
        return least, _line(1 / (2 * S) / scale, (-2 * inner * n - z * (1 + 1 / S)) / scale, n)


Line = tuple[int, int, int]  # (p, r, d): x ↦ (px + r)/d


def _line(slope: Fraction, start: Fraction, n: int) -> Line:
    """Y = slope·X + start in terms of x and y, over one denominator."""
    at = (start + n - slope * n) / 2
    common = math.lcm(slope.denominator, at.denominator)
    return slope.numerator * (common // slope.denominator), at.numerator * (common // at.denominator), common


def _ceiling(line: Line, x: int) -> int:
    p, r, d = line
    return -(-(p * x + r) // d)


def masses(n: int, chance: Fraction, first: int, last: int) -> list[Ball]:
    """P(Bin(n, chance) = k) for k = first, …, last, as balls."""
    k, odds = flint.arb(first), ball(chance / (1 - chance))
    log = flint.arb(n + 1).lgamma() - (k + 1).lgamma() - (flint.arb(n) - k + 1).lgamma()
    weights = [(log + k * ball(chance).log() + (flint.arb(n) - k) * ball(1 - chance).log()).exp()]
    for at in range(first, last):
        weights.append(weights[-1] * odds * (n - at) / (at + 1))
    return weights


def chance(horizon: Any, epsilon: Fraction, index: int, maximum: str, width: Width) -> tuple[Fraction, int]:
    """P(A_{i+1} = {a} | A_i = {a, b}) at least, and n: an exact binomial sum over the window that noises of at most z leave.

    Both noises are that small with probability (1 − e^{−εz})².
    """
    window, n, small = _window(horizon, epsilon, index, maximum, width, 1)
    with precision(BITS):
        return max(lower(_sum(window, outside=False) * ball(small)), Fraction(0)), n


def chance_at_most(horizon: Any, epsilon: Fraction, index: int, maximum: str, width: Width) -> Fraction:
    """The same from above: the wider window, and all of what larger noises may do."""
    window, _, small = _window(horizon, epsilon, index, maximum, width, -1)
    with precision(BITS):
        return min(upper(_sum(window, outside=True) + ball(1 - small)), Fraction(1))


def _window(horizon: Any, epsilon: Fraction, index: int, maximum: str, width: Width, sign: int) -> tuple[Window, int, Fraction]:
    """The window, n, and P(both noises are small) from below."""
    now, reach = batch(horizon, epsilon, index, 2, width), reach_for(epsilon)
    n, gamma = pulls(now.power), _fraction(now.gamma)
    error = gamma / 10**40
    with precision(BITS):
        small = lower((1 - (-ball(epsilon * reach)).exp()) ** 2)
    return Window(n, gamma - error, gamma + error, sign * reach, maximum), n, small


def _sum(window: Window, *, outside: bool) -> Ball:
    """Σ_x P(x)·P(y in the window), x and y within REACH deviations of their means; ``outside`` adds what that leaves out."""
    n, spread = window.n, math.isqrt(window.n) * REACH // 2 + REACH
    ranges = []
    for mean in MEANS[:2]:
        middle = round(n * (1 + mean) / 2)
        ranges.append((max(0, middle - spread), min(n, middle + spread)))
    x_first, (y_first, y_last) = ranges[0][0], ranges[1]
    probability_a, probability_b = (masses(n, (1 + mean) / 2, *ends) for mean, ends in zip(MEANS[:2], ranges, strict=True))
    sums = [flint.arb(0)]
    for mass in probability_b:
        sums.append(sums[-1] + mass)
    total, (least, limit) = flint.arb(0), window.lines()
    for x, mass in enumerate(probability_a, x_first):
        first, last = max(_ceiling(least, x), y_first), min(_ceiling(limit, x) - 1, y_last)
        if first <= last:
            total += mass * (sums[last + 1 - y_first] - sums[first - y_first])
    # Hoeffding: a count is further from its mean than spread − 1 with probability at most 2·exp(−2(spread − 1)²/n)
    return total + 4 * (flint.arb(-2 * (spread - 1) ** 2) / n).exp() if outside else total


def _fraction(value: Any) -> Fraction:
    mantissa, exponent = MP.frexp(value)
    return Fraction(int(mantissa * 2**200)) * Fraction(2) ** (int(exponent) - 200)


def reach_for(epsilon: Fraction) -> Fraction:
    """How large noises are allowed for: 10 scales where that is little, 1/2 at most."""
    return min(10 / epsilon, Fraction(1, 2))


@dataclass(frozen=True)
class Loss:
    """P(from some batch on only a is played) ≥ ``least``, after at most ``rounds`` rounds."""

    horizon: Any
    epsilon: Fraction
    batches: tuple[int, ...]  # in which {a, b} may begin
    pulled: tuple[int, ...]  # n of these batches
    chances: tuple[Fraction, ...]
    risk: Any
    rounds: Any

    @property
    def least(self) -> Any:
        """(1 − P(otherwise)) times the least of the chances: the noise of that batch is fresh."""
        return (1 - self.risk) * number(min(self.chances))


def loss(horizon: Any, epsilon: Fraction, maximum: str, width: Width) -> Loss | None:
    """None where there are no such batches, or the loop does not reach them, not in T/2 rounds, or pulls too often to sum."""
    leaving, risk = departure(horizon, epsilon, width)
    if not leaving:
        return None
    following = tuple(index + 1 for index in leaving)
    rounds = sum(batch(horizon, epsilon, index, 3, width).power + 3 for index in range(1, following[-1] + 1))
    if rounds > min(horizon / 2, 2 * MOST) or following[-1] > MP.log(horizon) - 1:
        return None
    chances = [chance(horizon, epsilon, index, maximum, width) for index in following]
    return Loss(horizon, epsilon, following, tuple(n for _, n in chances), tuple(p for p, _ in chances), risk, rounds)


def loss_at_most(horizon: Any, width: Width) -> Any:
    """P(b leaves before a) at most when the maximum is over A_i: then some |error| exceeds γ_i in some of ⌊log T⌋ batches."""
    level = MP.log(4 * 2) + 2 * MP.log(horizon)  # of two actions: three make γ larger
    return MP.floor(MP.log(horizon)) * error_tail(MP.mpf(1), level, width)
