"""Certified numbers: the ends are outside, in both directions, however hard the number is to compute."""

from __future__ import annotations

import threading
from fractions import Fraction

import mpmath
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.noise.sampling.probability_bits import LEAST, approximate, ball, enclose, ends, precision


@given(
    x=st.fractions(min_value=Fraction(1, 1000), max_value=500, max_denominator=10**6),
    digits=st.integers(1, 40),
)
def test_the_ends_lie_on_both_sides_and_close(x: Fraction, digits: int) -> None:
    lower, upper = enclose(lambda: ball(-x).exp(), digits)
    with mpmath.workdps(400):
        true = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
        assert mpmath.mpf(lower.numerator) / lower.denominator < true < mpmath.mpf(upper.numerator) / upper.denominator
    assert upper - lower <= upper / 10**digits


def test_precision_grows_until_cancellation_is_overcome() -> None:
    # (1 + 2^-900) − 1: nothing is left of it below 900 bits
    lower, upper = enclose(lambda: (ball(1) + ball(Fraction(1, 2**900))) - 1, 20)
    assert lower <= Fraction(1, 2**900) <= upper
    assert upper - lower <= Fraction(1, 2**900) / 10**20


def test_below_the_least_number_only_a_bound_is_given() -> None:
    assert enclose(lambda: ball(-(10**15)).exp(), 20) == (0, LEAST)
    with precision(64):
        assert ends(arb(0)) == (0, LEAST)


def test_a_ball_around_zero_has_lower_end_zero() -> None:
    with precision(64):
        lower, upper = ends(arb(0, 1))
    assert lower == 0
    assert upper >= 1


def test_precision_is_restored_also_when_threads_compete() -> None:
    before = ctx.prec

    def compute() -> None:
        for bits in range(64, 564, 5):
            with precision(bits):
                assert ctx.prec == bits

    threads = [threading.Thread(target=compute) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ctx.prec == before


def test_approximations_have_the_digits_asked_for() -> None:
    value = approximate(lambda: ball(2).log(), 60)
    with mpmath.workdps(60):
        assert abs(value - mpmath.log(2)) < mpmath.mpf(10) ** -59
        assert abs(value - mpmath.mpf("0.6931471805599453")) > mpmath.mpf(10) ** -20


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(-7, 2), 5])
def test_a_ball_holds_its_number(number: Fraction) -> None:
    with precision(128):
        assert abs(ball(number) - arb(number.numerator) / number.denominator) < arb(2) ** -120
