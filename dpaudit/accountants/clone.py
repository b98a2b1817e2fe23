"""Laws with three values: the exact clone bound, and the attack that shows how tight it can be.

Clone bound (Feldman, McMillan, Talwar 2021, Theorem 3.1): for every ε0-LDP randomiser, adaptive ones
included, the shuffled reports are dominated by the pair (A+Δ, C−A+1−Δ), (A+1−Δ, C−A+Δ) with C ~ Bin(n−1,
e^{−ε0}), A ~ Bin(C, 1/2), Δ ~ Bernoulli(p/(1+p)), p = e^ε0. Its δ(ε) is E[(ΣG_i)_+]/n with G = 2p(p−e)/(1+p)
or 2p(1−ep)/(1+p), each with probability 1/(2p), else 0; e = e^ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from dpaudit.accountants.contour import estimate
from dpaudit.accountants.three_values import ThreeValues, curve
from dpaudit.balls import ball, decimal, lower, precision, upper


def clone_law(epsilon0: Fraction, n: int, epsilon: Fraction) -> ThreeValues:
    """The summand of the clone bound at ε."""
    p, e = ball(epsilon0).exp(), ball(epsilon).exp()
    scale = 2 * p / (1 + p)
    return ThreeValues(n, 1 / (2 * p), (p - e) * scale, (1 - e * p) * scale, flint.arb(0), 1 - e)


def response_law(epsilon0: Fraction, n: int, epsilon: Fraction) -> ThreeValues:
    """Ternary randomised response, which is ε0-LDP: the others hold 3, the target 1 or 2. Its own exact δ(ε).

    G = (R_1 − e^ε R_2)/R_3 under R_3 = (1, 1, p)/(p+2).
    """
    p, e = ball(epsilon0).exp(), ball(epsilon).exp()
    return ThreeValues(n, 1 / (p + 2), p - e, 1 - e * p, (1 - e) / p, 1 - e)


@dataclass(frozen=True)
class Family:
    """δ(ε) of n shuffled reports for a three-valued law that depends on ε0 and ε."""

    law: Callable[[Fraction, int, Fraction], ThreeValues]

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]:
        """Certified (lower, upper) of δ(ε); accurate where δ(ε) is about ``effort`` or more."""
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        bits = _working_bits(epsilon0, n, effort)
        with precision(bits):
            if _hopeless(epsilon0, n, effort):
                low, high = _lone_target(epsilon0, n, epsilon)
            else:
                low, high = curve(self.law(epsilon0, n, epsilon), effort, bits)
            return max(Fraction(0), lower(low)), upper(high)

    def estimate(self, epsilon0: float, n: int, epsilon: float) -> float:
        """log δ(ε) in floats, uncertified."""
        with precision(64 + 2 * n.bit_length()):
            return estimate(self.law(Fraction(epsilon0), n, Fraction(epsilon)))

    def attack(self, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
        """A proven lower bound on ε for some ε0-LDP randomiser."""
        return last_one_out(epsilon0, n, delta)


CLONE, RESPONSE = Family(clone_law), Family(response_law)


def last_one_out(epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """An attack on binary randomised response (ε0-LDP): the others hold 2, the target 1 or 2, S = "nobody
    reports 1".

    P(S) is (p/(1+p))^n against (p/(1+p))^{n−1}/(1+p), hence ε ≥ log(p − δ(1+p)(1+1/p)^{n−1}), rounded down; 0
    if empty.
    """
    with precision(_working_bits(epsilon0, n, delta)):
        inverse = ball(-epsilon0).exp()
        # log(p − x) = ε0 + log(1 − x/p); the power through log1p, since n is large and 1/p small
        share = ball(delta) * (1 + inverse) * ((n - 1) * inverse.log1p()).exp()
        if not share < 1:
            return Fraction(0)
        return max(Fraction(0), decimal(lower(ball(epsilon0) + (-share).log1p()), 15, up=False))


def _hopeless(epsilon0: Fraction, n: int, delta: Fraction) -> bool:
    """Is a single clone among the n − 1 others so rare (e^-60 of δ) that no amplification can be seen?"""
    return float(epsilon0) > math.log(n) + math.log(delta.denominator) - math.log(delta.numerator) + 60


def _lone_target(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[Any, Any]:
    """δ(ε) between "no clone at all, with its probability" and "no clone": (p−e)/(1+p) for a report alone."""
    alone = (1 - ball(epsilon - epsilon0).exp()) / (1 + ball(-epsilon0).exp())
    return alone * (1 - n * ball(-epsilon0).exp()), alone


def _working_bits(epsilon0: Fraction, n: int, delta: Fraction) -> int:
    """Precision that keeps δ(ε) accurate to about 1e-20 of itself."""
    return 128 + 3 * n.bit_length() + delta.denominator.bit_length() + math.ceil(3 * min(float(epsilon0), 1e4))
