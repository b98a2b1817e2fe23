"""The vocabulary: exact numbers in and out, claims that are claims, verdicts that are JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.claims import (
    Contradiction,
    Enclosure,
    InvalidValue,
    Leak,
    Lower,
    Outcome,
    exact,
    exact_delta,
    float_down,
    float_up,
    positive,
    shorten_up,
    show,
    sum_up,
    whole,
)

fractions = st.fractions(min_value=-(10**9), max_value=10**9)


@given(fractions)
def test_a_shown_number_reads_back_as_itself(number: Fraction) -> None:
    assert exact(show(number)) == number


@given(st.integers(-(10**6), 10**6), st.integers(0, 80))
def test_decimals_of_any_length_read_back(digits: int, places: int) -> None:
    number = Fraction(digits, 10**places)
    assert exact(show(number)) == number


@pytest.mark.parametrize(
    ("number", "text"),
    [("0.1", "0.1"), ("1/3", "1/3"), ("1e-6", "1e-6"), ("-0.000025", "-2.5e-5"), ("100", "100"), ("0.25", "0.25")],
)
def test_numbers_are_shown_as_people_write_them(number: str, text: str) -> None:
    assert show(exact(number)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_read_by_its_shortest_decimal(number: float) -> None:
    assert exact(number) == Fraction(Decimal(repr(number)))


@given(fractions)
def test_floats_are_rounded_in_the_safe_direction_and_to_the_next_one(number: Fraction) -> None:
    low, high = float_down(number), float_up(number)
    assert Fraction(low) <= number <= Fraction(high)
    assert high <= np.nextafter(low, np.inf)


@pytest.mark.parametrize(
    "wrong", [True, np.True_, None, "one", "", "1/0", "0x1", "１", "1_000", float("nan"), float("inf"), 1j, [1], b"1", "9" * 5000]
)
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue):
        exact(wrong)


@pytest.mark.parametrize("wrong", ["-1", -0.1, "1e301", float("inf")])
def test_an_epsilon_that_cannot_be_one_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match="epsilon"):
        dp.Claim(wrong)


@pytest.mark.parametrize("wrong", ["1", "-1e-9", 2, "nan"])
def test_a_delta_that_cannot_be_one_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidValue):
        exact_delta(wrong)


@pytest.mark.parametrize(("given_", "least"), [(0, 1), ("1.5", 1), (2.5, 1), (True, 0), (None, 0), (-1, 0), ("1e400x", 1)])
def test_a_whole_number_is_whole_and_large_enough(given_: Any, least: int) -> None:
    with pytest.raises(InvalidValue):
        whole(given_, "n", least)


def test_whole_numbers_may_be_written_in_powers_of_ten() -> None:
    assert [whole(text, "n") for text in ("1e6", 7, "10", 8.0)] == [10**6, 7, 10, 8]


@pytest.mark.parametrize("wrong", [0, "-1", 0.0])
def test_positive_means_above_zero(wrong: Any) -> None:
    with pytest.raises(InvalidValue, match="greater than 0"):
        positive(wrong, "scale")


def test_an_enclosure_is_ordered() -> None:
    with pytest.raises(InvalidValue):
        Enclosure(Fraction(2), Fraction(1))


def test_errors_keep_the_offending_value_and_shorten_long_ones() -> None:
    error = InvalidValue("n", "x" * 500, "short")
    assert error.value == "x" * 500
    assert len(str(error)) < 120
    assert Leak("float()", "here.py:3").where == "here.py:3"
    assert Contradiction(Fraction(1), 2.0).upper == 1


def test_a_claim_is_compared_by_its_exact_numbers() -> None:
    assert dp.Claim("0.1") == dp.Claim(0.1) == dp.Claim(Fraction(1, 10))
    assert dp.Claim("0.1") != dp.Claim("0.1", "1e-9")
    assert str(dp.Claim("1", "1e-6")) == "ε=1, δ=1e-6"


def test_a_verdict_with_numbers_that_json_has_not_is_an_error_and_no_document() -> None:
    claim = dp.Claim("1")
    verdict = dp.Verdict(Outcome.UNPROVEN, claim, Lower(0.5, 0.95, "m", 10), None, (), None, "s", "n", 1, None, "why")
    assert json.loads(verdict.to_json())["lower"]["epsilon"] == 0.5
    broken = dp.Verdict(Outcome.UNPROVEN, claim, Lower(float("nan"), 0.95, "m", 10), None, (), None, "s", "n", 1, None, "why")
    with pytest.raises(ValueError, match="JSON"):
        broken.to_json()


def test_a_long_denominator_is_rounded_up_by_less_than_it_could_ever_matter() -> None:
    numbers = [Fraction(1, 2**40 + 2 * i + 1) for i in range(300)]
    exact_sum, told = sum(numbers), sum_up(numbers)
    assert exact_sum.denominator.bit_length() > 4096 >= told.denominator.bit_length()
    assert 0 < told - exact_sum < Fraction(300, 2**2048)
    assert sum_up(numbers[:50]) == sum(numbers[:50])  # short ones stay exact
    assert shorten_up(-exact_sum) >= -exact_sum
