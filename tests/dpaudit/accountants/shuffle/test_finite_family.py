"""Which engine answers a law never shows in its answer: all of them enclose the same number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import flint
import pytest

from dpaudit.accountants.numerics.array_contour import enclose_atoms
from dpaudit.accountants.numerics.contour import enclose
from dpaudit.accountants.shuffle.blankets import OPTIMISED, UNARY, response_attack, response_blanket
from dpaudit.accountants.shuffle.clone import CLONE, SAME, sign_family
from dpaudit.accountants.shuffle.finite_family import enclosed, isolated, log_alone, outward
from dpaudit.claims.balls import precision

EFFORT = Fraction(1, 10**9)
FAMILIES = {
    "clone": CLONE,
    "same": SAME,
    "sides": sign_family(64),
    "3-RR": response_blanket(3),
    "100-RR": response_blanket(100),
    "unary": UNARY,
    "attack": response_attack(4),
}


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("n", [3, 40, 1000, 3 * 10**5])
def test_the_answer_lies_within_what_each_engine_says(name: str, n: int) -> None:
    epsilon = Fraction(4, 10) / Fraction(math.isqrt(n))
    with precision(256):
        for law in FAMILIES[name].enclosures(Fraction(1), n, epsilon):
            low, high = enclosed(law)
            assert 0 < low <= high <= 1
            for engine in (enclose, enclose_atoms):
                least, most = outward(*engine(law))
                assert low <= most
                assert least <= high
            assert high - low <= high / 10**4
            assert not low <= high * Fraction(101, 100) <= high  # an engine that is 1 % off would be noticed


@pytest.mark.parametrize("name", FAMILIES)
def test_floats_and_balls_are_written_once_and_agree(name: str) -> None:
    family = FAMILIES[name]
    with precision(128):
        for law, floats in zip(family.enclosures(Fraction(1), 50, Fraction(1, 8)), family.floats(1.0, 50, 0.125), strict=True):
            for (weight, value), (w, g) in zip(law.atoms, floats.atoms, strict=True):
                assert float(weight) == pytest.approx(w, rel=1e-12)
                assert float(value) == pytest.approx(g, rel=1e-12)
            assert float(law.empty) == pytest.approx(floats.empty, rel=1e-12, abs=1e-15)
            assert law.paired == floats.paired
            if law.paired:
                assert law.atoms[0][0] is law.atoms[1][0]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("n", [2, 30, 1000, 10**6])
def test_estimates_are_near_the_certified_values(name: str, n: int) -> None:
    epsilon = 0.8 / math.sqrt(n)
    low, high = FAMILIES[name].delta(Fraction(1), n, Fraction(epsilon), EFFORT)
    assert FAMILIES[name].estimate(1.0, n, epsilon) == pytest.approx(math.log((low + high) / 2), abs=5e-3)


def test_nobody_hides_a_target_that_tells_almost_all() -> None:
    assert CLONE.estimate(200.0, 10**6, 150.0) == log_alone(200.0, 150.0)
    low, high = CLONE.delta(Fraction(200), 10**6, Fraction(150), EFFORT)
    assert math.log(high) == pytest.approx(log_alone(200.0, 150.0), abs=1e-12)
    assert high - low <= high / 10**15


def test_ends_are_rounded_outward_and_stay_in_the_unit_interval() -> None:
    def ends(low: Any, high: Any) -> tuple[Fraction, Fraction]:
        return outward(flint.arb(low, 1e-3), flint.arb(high, 1e-3))

    low, high = ends(0.25, 0.5)
    assert low <= Fraction("0.249")
    assert Fraction("0.501") <= high < Fraction("0.502")
    assert ends(-1, 2) == (0, 1)
    assert outward(flint.arb(2) ** -(10**6), flint.arb(1) / 2)[0] == 0


def test_one_report_alone_bounds_from_below() -> None:
    """By enumeration for few reports, and where floats end: ε0 of 150 among a thousand is not hidden."""
    for n in (2, 5, 12):
        for law in OPTIMISED.enclosures(Fraction(3), n, Fraction(1)):
            assert 0 <= isolated(law) <= enclosed(law)[1]
    low, high = OPTIMISED.delta(Fraction(150), 1000, Fraction(100), EFFORT)
    assert 0.499 < float(low) <= float(high) <= 0.5
