"""Optimised unary encoding: δ(ε), loss law and composition against enumeration of the two bits that differ."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import mpmath
import pytest

import dpaudit as dp
from dpaudit.accountants.losses.numerical import composed_delta
from dpaudit.accountants.losses.parts import Part
from dpaudit.ledger import Charge
from dpaudit.ledger.spending.charge_moments import charge_moment


def pair(epsilon: str) -> list[tuple[mpmath.mpf, mpmath.mpf]]:
    """P and Q of the two bits that differ: the own one is a coin, the other is 1 with probability 1/(1 + e^ε)."""
    other = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
    first, second = (mpmath.mpf("0.5"), other), (other, mpmath.mpf("0.5"))
    return [
        (mpmath.fprod(p if b else 1 - p for p, b in zip(first, bits, strict=True)),
         mpmath.fprod(p if b else 1 - p for p, b in zip(second, bits, strict=True)))
        for bits in product((0, 1), repeat=2)
    ]  # fmt: skip


def enumerated_delta(epsilon: str, changed: int, level: Fraction) -> mpmath.mpf:
    grown, total = mpmath.exp(mpmath.mpf(level.numerator) / level.denominator), mpmath.mpf(0)
    for outputs in product(pair(epsilon), repeat=changed):
        p, q = (mpmath.fprod(one[side] for one in outputs) for side in (0, 1))
        total += max(p - grown * q, 0)
    return total


@pytest.mark.parametrize("changed", [1, 2, 4])
@pytest.mark.parametrize("level", ["0", "0.2", "0.7", "1.5"])
def test_delta_is_the_sum_over_all_outputs_rounded_up(changed: int, level: str) -> None:
    with mpmath.workdps(80):
        brute = enumerated_delta("0.7", changed, Fraction(level))
        delta = dp.OptimizedUnaryResponse("0.7", 5).delta(Fraction(level), changed)
        bound = mpmath.mpf(delta.numerator) / delta.denominator
        assert brute - mpmath.mpf(10) ** -70 <= bound <= brute * (1 + mpmath.mpf(10) ** -15) + mpmath.mpf(10) ** -70


@pytest.mark.parametrize("level", ["0.1", "0.5", "1.5"])
def test_numerical_composition_encloses_what_enumeration_gives(level: str) -> None:
    with mpmath.workdps(50):
        brute = enumerated_delta("0.7", 4, Fraction(level))
        found = composed_delta([Part(dp.OptimizedUnaryResponse("0.7", 6), 1, 4)], Fraction(level))
        below, above = (mpmath.mpf(e.numerator) / e.denominator for e in found)
    assert below <= brute * (1 + mpmath.mpf(10) ** -30)
    assert brute <= above * (1 + mpmath.mpf(10) ** -30)
    assert above - below <= brute * mpmath.mpf(10) ** -6


def test_a_filter_charges_it_no_less_than_it_costs() -> None:
    noise = dp.OptimizedUnaryResponse("0.7", 5)
    facts = {"mechanism": noise.name, **noise.parameters(), "sensitivity": "1"}
    for c in (1, 3, 31):
        found, _ = charge_moment(Charge(Fraction("0.7"), facts=facts), Fraction(c))
        with mpmath.workdps(60):
            truth = mpmath.log(mpmath.fsum(p * (p / q) ** c for p, q in pair("0.7")))
            assert mpmath.mpf(found.numerator) / found.denominator >= truth
