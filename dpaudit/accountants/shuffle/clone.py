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

from dpaudit.accountants.numerics.contour import enclose, last_slope, quick
from dpaudit.accountants.shuffle.three_value_floats import ThreeFloats
from dpaudit.accountants.shuffle.three_values import ThreeValues, exact_sum, is_long
from dpaudit.claims.balls import ball, decimal, lower, precision, upper


def clone_law(epsilon0: Fraction, n: int, epsilon: Fraction) -> ThreeValues:
    """The summand of the clone bound at ε."""
    p, e, scale = ball(epsilon0).exp(), ball(epsilon).exp(), 2 / (1 + ball(-epsilon0).exp())
    plus, minus = e * ball(epsilon0 - epsilon).expm1(), -ball(epsilon0 + epsilon).expm1()
    return ThreeValues(n, 1 / (2 * p), plus * scale, minus * scale, flint.arb(0), -ball(epsilon).expm1())


def clone_floats(epsilon0: float, n: int, epsilon: float) -> ThreeFloats:
    scale, weight = 2 / (1 + math.exp(-epsilon0)), math.exp(-epsilon0) / 2
    plus, minus = math.exp(epsilon) * math.expm1(epsilon0 - epsilon), -math.expm1(epsilon0 + epsilon)
    return ThreeFloats(n, weight, plus * scale, minus * scale, 0.0, -math.expm1(epsilon), -math.expm1(-epsilon0))


def same_law(epsilon0: Fraction, n: int, epsilon: Fraction) -> ThreeValues:
    """The summand at ε where all n reports come from one ε0-LDP randomiser, none chosen by what others reported.

    G = p−e or 1−pe, each with probability 1/(1+p), else 0: the value of the "stronger clone" (Feldman, McMillan, Talwar 2023),
    whose own proof fails for general randomisers (their errata). Proof here, for 0 ≤ ε < ε0:
    (1) ω = max(R_0, R_1)/p ≤ R_x is a blanket, so δ ≤ E[(ΣG)_+]/n (Balle et al. 2019, Lemma 5.3);
    (2) an output with ratio ℓ in (1, p) splits into ratios p and 1 with the same ω and mean of G, so the sum grows (Jensen);
    (3) the part with ratio 1, replaced by as much of p and 1/p, rises in the convex order.
    Checked step by step as the claim ``shuffle.same-randomiser``.
    """
    p, mean = ball(epsilon0).exp(), -ball(epsilon).expm1()
    plus, minus = ball(epsilon).exp() * ball(epsilon0 - epsilon).expm1(), -ball(epsilon0 + epsilon).expm1()
    return ThreeValues(n, 1 / (1 + p), plus, minus, flint.arb(0), mean)


def same_floats(epsilon0: float, n: int, epsilon: float) -> ThreeFloats:
    weight, mean = 1 / (1 + math.exp(epsilon0)), -math.expm1(epsilon)
    plus, minus = math.exp(epsilon) * math.expm1(epsilon0 - epsilon), -math.expm1(epsilon0 + epsilon)
    return ThreeFloats(n, weight, plus, minus, 0.0, mean, math.tanh(epsilon0 / 2))


def response_law(epsilon0: Fraction, n: int, epsilon: Fraction) -> ThreeValues:
    """Ternary randomised response, which is ε0-LDP: the others hold 3, the target 1 or 2. Its own exact δ(ε).

    G = (R_1 − e^ε R_2)/R_3 under R_3 = (1, 1, p)/(p+2).
    """
    p, e, mean = ball(epsilon0).exp(), ball(epsilon).exp(), -ball(epsilon).expm1()
    plus, minus = e * ball(epsilon0 - epsilon).expm1(), -ball(epsilon0 + epsilon).expm1()
    return ThreeValues(n, 1 / (p + 2), plus, minus, mean / p, mean)


def response_floats(epsilon0: float, n: int, epsilon: float) -> ThreeFloats:
    weight, mean = 1 / (math.exp(epsilon0) + 2), -math.expm1(epsilon)
    plus, minus = math.exp(epsilon) * math.expm1(epsilon0 - epsilon), -math.expm1(epsilon0 + epsilon)
    return ThreeFloats(n, weight, plus, minus, mean * math.exp(-epsilon0), mean, 1 - 2 * weight)


@dataclass(frozen=True)
class CloneFamily:
    """δ(ε) of n shuffled reports for a three-valued law that depends on ε0 and ε."""

    law: Callable[[Fraction, int, Fraction], ThreeValues]
    floats: Callable[[float, int, float], ThreeFloats]

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]:
        """Certified (lower, upper) of δ(ε); accurate where δ(ε) is about ``effort`` or more."""
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        bits = 128 + 3 * n.bit_length()
        with precision(bits):
            if is_hopeless(epsilon0, n):
                low, high = _lone_target(epsilon0, n, epsilon)
                return max(Fraction(0), lower(low)), upper(high)
            law = self.law(epsilon0, n, epsilon)
            if not law.plus > 0:  # S is never above 0, or hardly
                return Fraction(0), max(Fraction(0), upper(law.plus))
            if is_long(law):
                return outward(*enclose(law))
        bits += _depth(effort)  # the recurrences of the sum lose about as much
        with precision(bits):
            return outward(*exact_sum(self.law(epsilon0, n, epsilon), bits))

    def estimate(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> float:
        """log δ(ε) in floats, uncertified."""
        if epsilon >= epsilon0:
            return -math.inf
        if is_hopeless(Fraction(epsilon0), n):
            return log_alone(epsilon0, epsilon)
        floats = self.floats(epsilon0, n, epsilon)
        return floats.log_delta(near) if floats.plus > 0 else -math.inf

    def quick(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> tuple[float, float | None]:
        """log δ(ε) at a fraction of the cost, off by a small factor where few hide the target; and ``near`` for the next."""
        if epsilon >= epsilon0 or is_hopeless(Fraction(epsilon0), n):
            return self.estimate(epsilon0, n, epsilon), None
        floats = self.floats(epsilon0, n, epsilon)
        if floats.plus <= 0:
            return -math.inf, None
        value, c = quick(floats, near)
        return min(value, log_alone(epsilon0, epsilon)), c

    def last(self, epsilon0: float, n: int) -> tuple[float, float]:
        """As in ``last_slope``."""
        if is_hopeless(Fraction(epsilon0), n):
            return -math.log1p(math.exp(-epsilon0)), 0.0
        law = self.floats(epsilon0, n, epsilon0)
        one = self.floats(epsilon0, n, epsilon0 * (1 - 1e-6)).plus / (epsilon0 * 1e-6)
        return last_slope(law.weight * one, law.weight, law.rest if law.idle == 0 else 0.0, n)

    def attack(self, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
        """A proven lower bound on ε for some ε0-LDP randomiser."""
        return last_one_out(epsilon0, n, delta)


CLONE, RESPONSE = CloneFamily(clone_law, clone_floats), CloneFamily(response_law, response_floats)
SAME = CloneFamily(same_law, same_floats)


def sign_family(steps: int) -> CloneFamily:
    """Laplace reports on ``steps`` steps of which an observer sees the side of the middle value v only: an attack.

    v itself counts for either side by a coin. The others hold v, the target an end: G = (R_0 − e^ε R_m)/R_v on the two sides,
    where R_0 is above v with probability t^v/2, and R_m below it with t^{m−v}/2, t = e^{−ε0/m}.
    """
    low, high = Fraction(steps // 2, steps), Fraction(steps - steps // 2, steps)

    def law(epsilon0: Fraction, n: int, epsilon: Fraction) -> ThreeValues:
        e, mean = ball(epsilon).exp(), -ball(epsilon).expm1()
        first, second = ball(-epsilon0 * low).expm1(), e * ball(-epsilon0 * high).expm1()
        return ThreeValues(n, flint.arb(1) / 2, mean - first - second, mean + first + second, flint.arb(0), mean)

    def floats(epsilon0: float, n: int, epsilon: float) -> ThreeFloats:
        mean = -math.expm1(epsilon)
        both = math.expm1(-epsilon0 * float(low)) + math.exp(epsilon) * math.expm1(-epsilon0 * float(high))
        return ThreeFloats(n, 0.5, mean - both, mean + both, 0.0, mean, 0.0)

    return CloneFamily(law, floats)


def last_one_out(epsilon0: Fraction, n: int, delta: Fraction, k: int = 2) -> Fraction:
    """An attack on k-ary randomised response (ε0-LDP): the others hold 2, the target 1 or 2, S = "nobody reports 1".

    With a = 1/(p+k−1), P(S) is (1−a)^n against (1−a)^{n−1}(k−1)a, hence ε ≥ log((1−a)/((k−1)a) − δ(1−a)^{1−n}/((k−1)a)),
    rounded down; 0 if empty.
    """
    with precision(128 + 2 * n.bit_length() + _depth(delta)):
        inverse = ball(-epsilon0).exp()
        others = 1 + (k - 2) * inverse  # (1 − a)(p+k−1)/p
        # 1/(1−a) = 1 + 1/(p+k−2); the power through log1p, since n is large and 1/p small
        share = ball(delta) * (others + inverse) / others * ((n - 1) * (inverse / others).log1p()).exp()
        if not share < 1:
            return Fraction(0)
        least = ball(epsilon0) + others.log() - ball(Fraction(k - 1)).log() + (-share).log1p()
        return max(Fraction(0), decimal(lower(least), 15, up=False)) if least > 0 else Fraction(0)


def is_hopeless(epsilon0: Fraction, n: int) -> bool:
    """Is a single clone among the n − 1 others so rare that no amplification can be seen?"""
    return float(epsilon0) > math.log(n) + 40


def log_alone(epsilon0: float, epsilon: float) -> float:
    """log δ(ε) of one report of binary randomised response, which no ε0-LDP randomiser exceeds."""
    return math.log(-math.expm1(epsilon - epsilon0)) - math.log1p(math.exp(-epsilon0))


def _lone_target(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[Any, Any]:
    """δ(ε) between "nobody else takes part, with its probability" and "nobody": (p−e)/(1+p) for a report alone.

    Another report takes part with probability 1/p (clones) or 2/(1+p) (one randomiser)."""
    alone = (1 - ball(epsilon - epsilon0).exp()) / (1 + ball(-epsilon0).exp())
    return alone * (1 - 2 * n * ball(-epsilon0).exp()), alone


def outward(low: Any, high: Any) -> tuple[Fraction, Fraction]:
    """The outward ends of δ(ε), which lies in [0, 1] however wide an enclosure is."""
    return max(Fraction(0), lower(low)) if low > 0 else Fraction(0), upper(high) if high < 1 else Fraction(1)


def _depth(delta: Fraction) -> int:
    """About −log2 δ."""
    return max(0, delta.denominator.bit_length() - delta.numerator.bit_length())
