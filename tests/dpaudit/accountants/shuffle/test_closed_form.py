from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.accountants.shuffle import closed_form as closed
from dpaudit.claims import InvalidValue


def f_in_arb(epsilon0, n, delta, bits=2000):
    """FMT21 Theorem 3.1, written down a second time, in the other ball arithmetic."""
    with flint.ctx.workprec(bits):
        p = flint.arb(flint.fmpq(epsilon0.numerator, epsilon0.denominator)).exp()
        log = flint.arb(flint.fmpq(4 * delta.denominator, delta.numerator)).log()
        inner = 8 * (p * log).sqrt() / flint.arb(n).sqrt() + 8 * p / n
        return (1 + (p - 1) / (p + 1) * inner).log()


def as_arb(value, bits=2000):
    with flint.ctx.workprec(bits):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))


CASES = [
    ("1", 10**3, "1e-6"),
    ("4", 10**6, "1e-6"),
    ("1e-12", 1, "1e-300"),
    ("1e-12", 10**18, "0.9"),
    ("1000", 10**18, "1e-300"),
    ("1000", 1, "0.5"),
    ("6.78", 297170, "1e-6"),
]


@pytest.mark.parametrize(("epsilon0", "n", "delta"), CASES)
@pytest.mark.parametrize("digits", [1, 50, 300])
def test_f_is_enclosed_to_the_digits_asked_and_arb_agrees(epsilon0, n, delta, digits):
    low, high = closed.f(epsilon0, n, delta, digits)
    value = f_in_arb(Fraction(epsilon0), n, Fraction(delta))
    assert as_arb(low) <= value <= as_arb(high)
    assert high - low <= low * Fraction(10) ** -digits


@pytest.mark.parametrize(("epsilon", "n", "delta"), CASES)
@pytest.mark.parametrize("digits", [1, 50, 300])
def test_inverse_brackets_the_root_to_the_digits_asked_and_arb_agrees(epsilon, n, delta, digits):
    low, high = closed.inverse(epsilon, n, delta, digits)
    assert 0 < low < high
    assert high - low <= low * Fraction(10) ** -digits
    target = as_arb(Fraction(epsilon))
    assert f_in_arb(low, n, Fraction(delta)) < target < f_in_arb(high, n, Fraction(delta))


def test_the_arb_check_notices_an_end_on_the_wrong_side():
    low, high = closed.inverse(1, 297170, "1e-6")
    assert f_in_arb(high, 297170, Fraction("1e-6")) > as_arb(Fraction(1))
    assert not f_in_arb(low + 2 * (high - low), 297170, Fraction("1e-6")) < as_arb(Fraction(1))


def test_f_reproduces_the_measured_figures():
    for epsilon0, n, figure in [
        (1, 10**3, 0.5662),
        (1, 10**4, 0.2140),
        (1, 10**6, 0.0235),
        (4, 10**6, 0.2010),
    ]:
        assert round(float(closed.f(epsilon0, n, "1e-6")[1]), 4) == figure


def test_ten_thousand_digits_of_f_are_given_and_more_are_refused():
    low, high = closed.f("0.5", 1000, "1e-6", 10_000)
    assert 0 < high - low <= low * Fraction(10) ** -10_000
    with pytest.raises(InvalidValue, match="digits"):
        closed.f("0.5", 1000, "1e-6", 10_001)


def test_domain_is_none_exactly_when_n_is_at_most_sixteen_log_two_over_delta():
    # 16 log(2e6) = 232.14...
    assert closed.domain(232, "1e-6") is None
    low, high = closed.domain(233, "1e-6")
    assert 0 < low <= high < Fraction("0.004")


def test_in_domain_decides_at_the_boundary():
    low, high = closed.domain(297170, "1e-6", 60)
    assert closed.in_domain(low, 297170, "1e-6")
    assert not closed.in_domain(high + Fraction(1, 10**60), 297170, "1e-6")
    assert round(float(low), 4) == 7.1547
    assert not closed.in_domain("1e-9", 1, "1e-6")


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=30),
    st.integers(min_value=1, max_value=10**18),
    st.integers(min_value=1, max_value=300),
)
def test_inverse_undoes_f(epsilon0, n, k):
    delta = Fraction(1, 10**k)
    low, high = closed.f(epsilon0, n, delta, 40)
    assert closed.inverse(low, n, delta, 30)[0] <= epsilon0 <= closed.inverse(high, n, delta, 30)[1]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 10, "0.1"), "epsilon0"),
        (("-1", 10, "0.1"), "epsilon0"),
        (("1e7", 10, "0.1"), "epsilon0"),
        ((1, 0, "0.1"), "n"),
        ((1, "2.5", "0.1"), "n"),
        ((1, 10, 0), "delta"),
        ((1, 10, 1), "delta"),
        ((1, 10, "0.1", 0), "digits"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, name):
    with pytest.raises(InvalidValue) as refusal:
        closed.f(*arguments)
    assert refusal.value.name == name
