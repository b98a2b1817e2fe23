"""δ(ε) of n shuffled Laplace reports on a lattice, by their exact privacy blanket: 1.4 to 1.8 times below the clones' ε.

Balle, Bell, Gascón, Nissim 2019, with the optimal decomposition of Su et al. 2025 (arXiv 2504.07414): with w
= inf_x R_x and γ = Σw, δ(ε) = E[(ΣG_i)_+]/n, where G = 0 with probability 1−γ and else (R_x − e^ε R_x')/w at
a point drawn from w/γ.

Why x = 0, x' = m is the worst pair, also when each slot has a pair of its own: for x ≥ m/2, R_x/w is
nondecreasing in y and has mean 1 under w/γ (times γ), as R_m/w has, and it crosses R_m/w once, from above; so
R_x/w is below R_m/w in the convex order (cut criterion), and mirrored for x ≤ m/2. A difference X − eY is,
for given laws of X and Y, largest in convex order when X and Y are countermonotone, which R_0/w and R_m/w
are. Convex order survives independent sums and mixing with 0, and x ↦ x_+ is convex.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from dpaudit.accountants.numerics.contour import enclose, estimate, last_slope, quick, saddle
from dpaudit.accountants.shuffle import finite_family
from dpaudit.accountants.shuffle.clone import CLONE, sign_family
from dpaudit.accountants.shuffle.laplace import blanket_on_grid as few
from dpaudit.accountants.shuffle.laplace.contour_law import BlanketLaw, EndLaw
from dpaudit.accountants.shuffle.laplace.lattice import lattice
from dpaudit.accountants.shuffle.laplace.quadrature import LaplaceFloats
from dpaudit.claims.balls import ball, lower, precision, upper
from dpaudit.noise.extreme_report import extreme_report_attack

GRID_STEPS = 2 * 2**20  # rewards in [-1, 1] on the grid 2^-20
TINY = Fraction(1, 1000)  # ε0 below which clones and the sign of a report enclose δ(ε) closely enough
_SMOOTH = 2.3  # (c + 20 steps) e^{ε0+ε} up to which the contour ends within 10 ms and is 1e-8 wide; at twice that it is 1e-2 wide
_WIDE = Fraction(1, 10**4)  # relative width of an enclosure by the contour that is worth the grid
_CROWD = 300.0  # expected reports that hide the target (a twentieth of that at the ends) from which on the contour estimates well
_AT_ENDS, _FEW, _MILD = 100.0, 1000, 2  # reports at the ends from which on, and n and ε0 up to which, the attack is quick
_NOBODY = -12.0  # log of the expected number of reports that hide the target, below which it is alone

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Family:
    """δ(ε) of n shuffled Laplace reports on ``steps`` grid steps."""

    steps: int = GRID_STEPS

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> Ends:
        """Certified (lower, upper) of δ(ε); accurate where δ(ε) is about ``effort`` or more.

        Where ε0 is tiny, below by an observer who sees the side of each report only, above by the clones, who differ by about ε0.
        """
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        single = single_report(self.steps, epsilon0, epsilon, effort)
        if n == 1:
            return single
        with precision(192):
            alone = lower(ball(single[0]) * (1 - lattice(epsilon0, self.steps, 192).mass) ** (n - 1)), single[1]
        if _hiding(float(epsilon0), n) < _NOBODY:
            return alone
        if epsilon0 < TINY:
            return sign_family(self.steps).delta(epsilon0, n, epsilon, effort)[0], CLONE.delta(epsilon0, n, epsilon, effort)[1]
        return _both(alone, enclosed(self.steps, epsilon0, n, epsilon, effort))

    def estimate(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> float:
        """log δ(ε) in floats, uncertified."""
        if epsilon >= epsilon0:
            return -math.inf
        if n == 1 or _hiding(epsilon0, n) < _NOBODY:
            return _alone(epsilon0, epsilon)
        if epsilon0 < TINY:
            return CLONE.estimate(epsilon0, n, epsilon, near)
        if math.log(n) - max(epsilon0 / 2, epsilon0 - 3) > math.log(_CROWD):
            return estimate(LaplaceFloats(epsilon0, self.steps, n, epsilon), near)
        return few.estimated(epsilon0, n, epsilon, self.steps, near=near)

    def quick(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> tuple[float, float | None]:
        """log δ(ε) at a fraction of the cost, off by a small factor where few hide the target; and ``near`` for the next."""
        if epsilon >= epsilon0 or n == 1 or _hiding(epsilon0, n) < _NOBODY:
            return self.estimate(epsilon0, n, epsilon), None
        if epsilon0 < TINY:
            return CLONE.quick(epsilon0, n, epsilon, near)
        value, c = quick(LaplaceFloats(epsilon0, self.steps, n, epsilon), near)
        return min(value, _alone(epsilon0, epsilon)), c

    def last(self, epsilon0: float, n: int) -> tuple[float, float]:
        """As in ``last_slope``."""
        end = math.exp(-epsilon0) / 2
        return last_slope(0.5, end, -math.expm1(-epsilon0 / 2), n)

    def attack(self, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
        """A proven lower bound on ε for these reports: the extreme report."""
        return extreme_report_attack(self.steps / epsilon0, self.steps, n, delta, grid=1).epsilon


@dataclass(frozen=True)
class EndAttack:
    """All others hold one end, the target that end or the other: δ(ε) of this pair of datasets, exactly; an attack.

    G = (R_0 − e^ε R_m)/R_m under R_m: the blanket with w = R_m, γ = 1.
    """

    steps: int = GRID_STEPS

    def is_quick(self, epsilon0: Fraction, n: int) -> bool:
        """Is δ(ε) enclosed quickly and closely? Elsewhere the extreme report is the better attack, or close to it."""
        return math.log(n) - float(epsilon0) > math.log(_AT_ENDS) or (n <= _FEW and epsilon0 <= _MILD)

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> Ends:
        """Certified (lower, upper) of δ(ε)."""
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        if n == 1:
            return single_report(self.steps, epsilon0, epsilon, effort)
        return enclosed(self.steps, epsilon0, n, epsilon, effort, attack=True)

    def estimate(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> float:
        """log δ(ε) in floats, uncertified."""
        if epsilon >= epsilon0:
            return -math.inf
        if n == 1:
            return _alone(epsilon0, epsilon)
        if math.log(n) - max(0.0, epsilon0 - 3) > math.log(_CROWD):
            return estimate(LaplaceFloats(epsilon0, self.steps, n, epsilon, attack=True), near)
        return few.estimated(epsilon0, n, epsilon, self.steps, attack=True, near=near)

    def quick(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> tuple[float, float | None]:
        """log δ(ε) at a fraction of the cost, off by a small factor where few hide the target; and ``near`` for the next."""
        if epsilon >= epsilon0 or n == 1:
            return self.estimate(epsilon0, n, epsilon), None
        value, c = quick(LaplaceFloats(epsilon0, self.steps, n, epsilon, attack=True), near)
        return min(value, _alone(epsilon0, epsilon)), c

    def last(self, epsilon0: float, n: int) -> tuple[float, float]:
        """As in ``last_slope``."""
        return last_slope(0.5, math.exp(-epsilon0) / 2, 0.0, n)


def _hiding(epsilon0: float, n: int) -> float:
    """The log of the expected number of reports that hide the target, nγ."""
    return math.log(n) - epsilon0 / 2


def _alone(epsilon0: float, epsilon: float) -> float:
    """log δ(ε) of one report, in floats."""
    return math.log(-math.expm1((epsilon - epsilon0) / 2))


def single_report(steps: int, epsilon0: Fraction, epsilon: Fraction, effort: Fraction) -> Ends:
    """δ(ε) of one report: P_0(y ≤ Y) − e^ε P_m(y ≤ Y) at the last Y with a ratio above e^ε."""
    last = math.ceil(steps * (epsilon0 - epsilon) / (2 * epsilon0)) - 1
    with precision(192 + effort.denominator.bit_length() + (epsilon0 - epsilon).denominator.bit_length()):
        a = ball(epsilon0 / steps)
        missed = (-a * (last + 1)).exp() + (ball(epsilon) - a * (steps - last)).exp()
        single = 1 - missed / (1 + (-a).exp())
        return _ends(single, single)


def enclosed(steps: int, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction, attack: bool = False) -> Ends:
    """δ(ε) of the blanket, or of the attack: a coarse lattice has few values; else by the contour, or on a grid."""
    kind = EndLaw if attack else BlanketLaw
    if lattice(epsilon0, steps, 0, attack).is_coarse:
        bits = 192 + effort.denominator.bit_length() + math.ceil(3 * float(epsilon0)) + 3 * n.bit_length()
        with precision(bits):
            return finite_family.enclosed(kind(lattice(epsilon0, steps, bits, attack), n, epsilon).few_values())
    found, floats = (Fraction(0), Fraction(1)), LaplaceFloats(float(epsilon0), steps, n, float(epsilon), attack)
    if floats.top > 0 and is_smooth(floats):
        bits = 224 + 2 * n.bit_length()
        with precision(bits), suppress(ArithmeticError):  # where the power series does not reach
            found = _ends(*enclose(kind(lattice(epsilon0, steps, bits, attack), n, epsilon)))
    if found[1] - found[0] > found[1] * _WIDE:
        logs = few.enclosed(epsilon0, n, epsilon, steps, attack)
        with precision(128):
            found = _both(found, _ends(*(ball(Fraction(x)).exp() if x > -math.inf else flint.arb(0) for x in logs)))
    return found


def is_smooth(law: LaplaceFloats) -> bool:
    """Is the contour short and close to 0, where the power series need few terms?"""
    at = saddle(law)
    return math.log(at.c + 20 * at.step) + law.epsilon0 + law.epsilon < math.log(_SMOOTH)


def _ends(low: Any, high: Any) -> Ends:
    return max(Fraction(0), lower(low)), min(Fraction(1), upper(high))


def _both(first: Ends, second: Ends) -> Ends:
    """What two enclosures of the same number say together."""
    return max(first[0], second[0]), min(first[1], second[1])
