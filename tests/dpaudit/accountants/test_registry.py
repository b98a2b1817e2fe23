"""Every registered accountant proves a bound that holds, refuses what it cannot bound, and says what it rests on."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants.interface import Accountant
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.registry import ACCOUNTANTS, PLAIN
from dpaudit.claims import InvalidValue

DELTA = Fraction(1, 10**5)
LAPLACE, KARY = Part(dp.Laplace(10, grid=1), 1, 40), Part(dp.KaryResponse("1/5", 7), 1, 30)
MIXED: list[tuple[AnyPart, ...]] = [(LAPLACE,), (KARY,), (LAPLACE, KARY), (LAPLACE, Part(dp.Gaussian(20, grid="1/8"), 8, 25))]
RANGES = "bounded range"  # the one that answers only where such a part is


@pytest.mark.parametrize("accountant", ACCOUNTANTS, ids=lambda accountant: accountant.name)
@pytest.mark.parametrize("parts", MIXED)
def test_no_accountant_goes_below_what_is_attained(accountant: Accountant, parts: tuple[AnyPart, ...]) -> None:
    bound = accountant.bound(parts, DELTA)
    assert (bound is None) == (accountant.name == RANGES)
    if bound is not None:
        assert bound.delta <= DELTA
        assert bound.epsilon >= compose(parts, DELTA).lower > 0


@pytest.mark.parametrize("accountant", ACCOUNTANTS[1:], ids=lambda accountant: accountant.name)
def test_what_needs_a_delta_refuses_without_one(accountant: Accountant) -> None:
    assert accountant.bound((LAPLACE,), Fraction(0)) is None


def test_the_plain_one_bounds_whatever_can_be_bounded_and_raises_for_the_rest() -> None:
    assert PLAIN.bound((LAPLACE, KARY), Fraction(0)).epsilon == 4 + 6
    assert PLAIN.bound((Known(Fraction(1), DELTA / 2, 2),), DELTA).epsilon == 2
    with pytest.raises(InvalidValue, match="Gaussian noise has no finite ε"):
        PLAIN.bound((Part(dp.Gaussian(2), 2**20),), Fraction(0))


def test_laws_are_composed_only_for_parameters_fixed_in_advance_from_the_tightest_on() -> None:
    assert [accountant.fixed for accountant in ACCOUNTANTS] == [False, False, True, True, True]
    exact, divergences = (each.bound((LAPLACE, KARY), DELTA) for each in ACCOUNTANTS[2:] if each.name != RANGES)
    assert exact is not None
    assert divergences is not None
    assert exact.epsilon < divergences.epsilon


def test_names_are_different() -> None:
    assert len({accountant.name for accountant in ACCOUNTANTS}) == len(ACCOUNTANTS)
