"""The optimal composition of k releases of which it is known only that each is (ε, δ)-DP, with one ε and δ fixed in advance.

Kairouz, Oh, Viswanath 2015 (The Composition Theorem for Differential Privacy), Thm 3.3: the worst such mechanism is randomised
response that reveals its input with probability δ, so for every ε' the composition is (ε', δ')-DP exactly from
δ' = 1 − (1−δ)^k (1 − D(ε')),  D(ε') = Σ_l C(k,l) e^{(k−l)ε}/(1+e^ε)^k (1 − e^{ε'−(k−2l)ε})_+  on.
"""

from __future__ import annotations

from fractions import Fraction

import flint

from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, exact_epsilon, whole
from dpaudit.claims.balls import Ball, ball, decimal, lower, precision, upper

_DIGITS = 15


def kairouz_epsilon(epsilon: Number, delta: Number, k: object, target: Number) -> Enclosure:
    """The least ε' of k (ε, δ)-DP releases at δ' = target, enclosed. Raises ``InvalidValue`` if target is below 1 − (1−δ)^k."""
    one, failure, count, total = exact_epsilon(epsilon), exact_delta(delta), whole(k, "k"), exact_delta(target, "target")
    with precision(_bits(count, failure, total)):
        kept = (1 - ball(failure)) ** count
        least = failure if count == 1 else upper(1 - kept) if failure else Fraction(0)
        if total < least:
            raise InvalidValue("target", target, f"at least 1 − (1−δ)^k = {float(least):.6g}: so often all may be revealed")
        return _crossing(one, count, 1 - (1 - ball(total)) / kept)


def kairouz_delta(epsilon: Number, delta: Number, k: object, level: Number) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the δ' of k (ε, δ)-DP releases at ε' = level."""
    one, failure, count, above = exact_epsilon(epsilon), exact_delta(delta), whole(k, "k"), exact_epsilon(level, "level")
    with precision(_bits(count, failure, Fraction(1, 2**200))):
        weight, sum_ = (1 / (1 + ball(-one).exp())) ** count, flint.arb(0)
        for i in range(count + 1):
            if (count - 2 * i) * one <= above:
                break
            sum_ += weight * (1 - ball(above - (count - 2 * i) * one).exp())
            weight *= ball(-one).exp() * (count - i) / (i + 1)
        found = 1 - (1 - ball(failure)) ** count * (1 - sum_)
        return max(Fraction(0), lower(found)), min(Fraction(1), upper(found))


def _bits(count: int, *sizes: Fraction) -> int:
    return 128 + 2 * count.bit_length() + max(size.denominator.bit_length() for size in sizes)


def _crossing(one: Fraction, count: int, goal: Ball) -> Enclosure:
    """Where D(ε') = goal: going down the values (k−2i)ε of the loss until D is above the goal; there D = S − e^{ε'} R."""
    pure = one * count
    if not goal > 0 or not one:
        return Enclosure(pure, pure, True, "optimal composition")
    odds = ball(-one).exp()
    weight = (1 / (1 + odds)) ** count
    above, other = flint.arb(0), flint.arb(0)  # S = Σ P(loss), R = Σ P(loss) e^{−loss} over the losses so far
    for i in range(count + 1):
        above += weight
        other += weight * ball(-(count - 2 * i) * one).exp()
        weight = weight * odds * (count - i) / (i + 1)
        below = ball((count - 2 * i - 2) * one).exp()
        if above - below * other > goal or count - 2 * i - 2 <= 0:
            break
    share = (above - goal) / other
    low = decimal(lower(share.log()), _DIGITS, up=False) if share > 1 else Fraction(0)
    high = Fraction(0) if share <= 1 else decimal(upper(share.log()), _DIGITS, up=True)
    return Enclosure(min(low, pure), min(high, pure), True, "optimal composition")
