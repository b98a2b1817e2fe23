"""dp.clip_rows: sealed and plain rows by one computation, with the sensitivity that it promises."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sealed.array import dependence

TABLE = np.random.default_rng(3).uniform(-1, 1, (6, 4))


def found(sealed: Any) -> Any:
    return dependence(sealed)


@pytest.mark.parametrize("norm", ["1", "0.1", "3/7"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("removal", [False, True])
def test_a_sum_moves_by_twice_the_norm_or_once_exactly(norm: str, order: int, removal: bool) -> None:
    """Nothing is charged for rounding: steps times the grid is at most the textbook's sensitivity."""
    summed = dp.clip_rows(dp.seal(TABLE, -1, 1, removal=removal), norm, order=order).sum(axis=0)
    times = 1 if removal else 2
    noise = dp.Laplace(1) if order == 1 else dp.Gaussian(1)
    steps = found(summed).steps(noise.grid, order)
    assert times * Fraction(norm) - times * noise.grid < steps * noise.grid <= times * Fraction(norm)
    assert found(summed).sensitivity(order) <= times * float(Fraction(norm))


def test_sealed_and_plain_rows_are_clipped_alike() -> None:
    plain = dp.clip_rows(dp.snap(TABLE, -1, 1), 1)
    assert np.array_equal(dp.unseal(dp.clip_rows(dp.seal(TABLE, -1, 1), 1)), plain)


def test_raw_rows_that_hold_anything_are_clipped_too() -> None:
    from dpaudit.sealed.array import seal_raw

    summed = dp.clip_rows(seal_raw([np.nan, np.inf, 1e308, -3.0]), 1).sum()
    assert found(summed).sensitivity(1) == 2
    assert dp.unseal(summed) == (1 - 2**-20) * 0


@pytest.mark.parametrize("program", [lambda t: t.T, lambda t: np.concatenate([t, t]), lambda t: t - t.mean(axis=0)])
def test_rows_that_are_not_one_record_each_are_untraced(program: Any) -> None:
    clipped = dp.clip_rows(program(dp.seal(TABLE, -1, 1)), 1)
    assert "clip_rows" in found(clipped.sum(axis=0)).operation


@pytest.mark.parametrize(("norm", "order"), [(0, 2), (-1, 2), (1, 3), ("1/2097152", 2), (2**40, 2)])
def test_what_is_no_norm_is_refused(norm: Any, order: Any) -> None:
    with pytest.raises(dp.DpauditError):
        dp.clip_rows(TABLE, norm, order=order)
