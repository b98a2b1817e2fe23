"""The search: floats guide, enclosures decide."""

import math
from fractions import Fraction

import pytest

from dpaudit.accountants.numerics.roots import Root, bracketed, certified_ends, enclosed_root, float_root, log, newton, step_out

DELTA = Fraction(1, 1000)


@pytest.mark.parametrize("start", [-8.0, 0.0, 9.0])
def test_a_zero_is_found_from_anywhere(start):
    found = float_root(lambda x: math.expm1(x - 1.234), start, 3.0)
    assert found.at == pytest.approx(1.234, abs=1e-6)
    assert found.slope == pytest.approx(1, abs=0.1)


def test_a_curve_that_is_infinite_on_one_side_has_a_zero_too():
    found = float_root(lambda x: -math.inf if x < 0.5 else x - 2, -3.0, 3.0)
    assert found.at == pytest.approx(2, abs=1e-6)


def falling(blur):
    """δ(x) = e^{−10x} in an enclosure of relative width ``blur``."""

    def curve(x):
        value = Fraction(math.exp(-10 * float(x)))
        return value * (1 - Fraction(blur)), value * (1 + Fraction(blur))

    return curve


@pytest.mark.parametrize("blur", [0.0, 1e-6, 0.1])
@pytest.mark.parametrize("off", [0.0, 1e-4, -1e-4, 0.05])
def test_both_ends_are_proven_and_close_to_the_curve(blur, off):
    curve, root = falling(blur), math.log(1000) / 10
    safe, unsafe = certified_ends(curve, Fraction, Root(root + off, -10.0), DELTA)
    assert unsafe < safe
    assert curve(safe)[1] <= DELTA
    assert curve(unsafe)[0] > DELTA
    assert float(safe - unsafe) <= 0.25 * blur + 1e-6


def test_a_rising_curve_has_its_ends_the_other_way_round():
    def curve(x):
        return (Fraction(math.exp(5 * float(x))) / 10**6,) * 2

    safe, unsafe = certified_ends(curve, Fraction, Root(math.log(1000) / 5, 5.0), DELTA)
    assert safe < unsafe
    assert curve(safe)[1] <= DELTA < curve(unsafe)[0]


def test_an_enclosure_that_proves_nothing_leaves_the_end_open():
    safe, unsafe = certified_ends(lambda x: (Fraction(0), Fraction(1)), Fraction, Root(1.0, -1.0), DELTA)
    assert safe is None
    assert unsafe is None


def test_a_step_out_ends_at_the_first_place_that_is_proven() -> None:
    tried: list[float] = []

    def proven(at: float) -> bool:
        tried.append(at)
        return at >= 1.02

    found = step_out(proven, 1.0, 0.01)
    assert found == tried[-1] >= 1.02
    assert tried == sorted(tried)
    assert tried[0] == 1.01
    assert step_out(lambda at: at < 0.5, 1.0, -0.6) == 0.4
    assert step_out(lambda _: False, 1.0, -0.6) is None  # the next would be below 0
    assert step_out(lambda _: False, 1.0, 0.1) is None


def test_newton_finds_where_a_falling_curve_passes_its_target() -> None:
    def curve(x: float) -> tuple[float, float]:
        return -2 * x - x * x / 10, -2 - x / 5

    found = newton(curve, 0.0, -30.0, 2.0)
    assert curve(found.at)[0] == pytest.approx(-30.0, abs=1e-9)
    assert found.slope == pytest.approx(curve(found.at)[1])
    assert math.isnan(newton(lambda x: (math.nan, -1.0), 0.0, -30.0, 2.0).slope)
    assert math.isnan(newton(lambda x: (x, 1.0), 0.0, -30.0, 2.0).slope)


@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-6])
def test_an_enclosed_root_is_proven_on_both_sides_from_a_place_that_floats_found(off: float) -> None:
    curve = falling(1e-9)
    ends = enclosed_root(lambda at: curve(Fraction(at)), Root(math.log(1000) / 10 + off, -10.0), DELTA)
    assert curve(ends.lower)[0] > DELTA >= curve(ends.upper)[1]
    assert ends.width <= 1e-8 + 10 * abs(off)
    with pytest.raises(ArithmeticError, match="no ε"):
        enclosed_root(lambda at: (Fraction(0), Fraction(1)), Root(1.0, -1.0), DELTA)


def test_halving_needs_no_floats_and_proves_both_ends_in_either_direction() -> None:
    safe, unsafe = bracketed(falling(1e-9), Fraction(100), Fraction(1, 100), DELTA)
    assert safe is not None
    assert unsafe is not None
    assert falling(1e-9)(unsafe)[0] > DELTA >= falling(1e-9)(safe)[1]
    assert unsafe < safe <= unsafe * Fraction(1002, 1000)

    def rising(x: Fraction) -> tuple[Fraction, Fraction]:
        return x / 10**4, x / 10**4

    safe, unsafe = bracketed(rising, Fraction(1, 100), Fraction(100), DELTA, lambda x: Fraction(round(x * 2**20), 2**20))
    assert safe is not None
    assert unsafe is not None
    assert safe <= 10 < unsafe <= safe * Fraction(1002, 1000)
    assert bracketed(lambda _: (Fraction(0), Fraction(1)), Fraction(4), Fraction(1), DELTA) == (None, None)


def test_the_logarithm_of_a_fraction_beyond_floats() -> None:
    assert log(Fraction(1, 10**400)) == pytest.approx(-400 * math.log(10))
    assert log(Fraction(0)) == -math.inf
