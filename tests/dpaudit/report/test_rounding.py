"""How figures are shown: to the safe side, and one figure alike everywhere."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from dpaudit.claims.decimals import number
from dpaudit.report.rounding import about_at_most, at_least, at_most, decimal, enclosure_words


@pytest.mark.parametrize("seed", range(3))
def test_upper_bounds_are_shown_rounded_up_and_lower_bounds_down(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(500):
        value = draw.choice([draw.random(), 1 + draw.random() / 1e6, 10 ** draw.uniform(-12, 12)])
        exactly = Fraction(repr(value))
        assert Fraction(at_least(value)) <= exactly <= Fraction(at_most(value)) <= Fraction(about_at_most(value))
        assert Fraction(at_least(value)) >= exactly * Fraction(999, 1000)
        exact = Fraction(draw.randrange(1, 10**15), draw.randrange(1, 10**12))
        assert exact <= Fraction(at_most(exact)) <= exact * (1 + Fraction(1, 10**6))
        assert Fraction(decimal(exact, 9)) <= exact <= Fraction(decimal(exact, 9, up=True))


def test_twin_rounding_to_the_nearest_would_fail() -> None:
    values = [1 + random.Random(7).random() for _ in range(50)]
    assert any(Decimal(f"{value:.4g}") > Decimal(repr(value)) for value in values)
    assert not any(Decimal(at_least(value)) > Decimal(repr(value)) for value in values)


def test_short_figures_are_exact() -> None:
    assert [at_most(0.1), at_most(1.0), at_most(0.0), at_most(Fraction(1, 3)), at_most(Fraction("10.01"))] == [
        "0.1", "1", "0", "1/3", "10.01",
    ]  # fmt: skip
    assert [at_least(value) for value in (0.0, 0.1, 2.0, 0.99999999, 12345.67891, 1e300)] == [
        "0", "0.1", "2", "0.9999", "12345.6789", "1e+300",
    ]  # fmt: skip
    assert at_least(0.000043219) == "0.00004321"  # a small ε is not nothing
    assert about_at_most(1.30241) == "1.303"
    assert [at_most(float("inf")), at_least(float("inf"))] == ["inf", "inf"]


def test_a_lower_bound_that_beats_a_claim_is_seen_above_it_and_another_is_not() -> None:
    assert at_least(10.00001, Fraction(10)) == "10.00001"
    assert at_least(10.00001) == "10"
    assert at_least(10.01, Fraction(10)) == "10.01"
    assert at_least(9.999999, Fraction(10)) == "9.9999"


def test_an_upper_bound_over_its_budget_never_looks_within_it() -> None:
    draw = random.Random(1)
    for _ in range(300):
        budget = Fraction(draw.randrange(1, 10**6), 10 ** draw.randrange(0, 5))
        over = budget * (1 + Fraction(1, 10 ** draw.randrange(1, 30)))
        assert Fraction(at_most(over)) > budget


def test_a_figure_is_shown_as_the_rest_of_dpaudit_shows_it() -> None:
    for value in (Fraction(1, 3), Fraction(10**15 + 1, 10**14), Fraction(2, 7) ** 9):
        assert at_most(value) == number(value)


def test_an_enclosure_is_rounded_outward() -> None:
    assert enclosure_words(Fraction(1, 3), Fraction(2, 3), 4) == "[0.3333, 0.6667]"
    assert enclosure_words(Fraction(-1, 3), Fraction(1), 2) == "[-0.34, 1]"
