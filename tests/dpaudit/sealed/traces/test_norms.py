"""Rows clipped to a norm, as people write it; and what looks like it and is something else."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sealed.array import Untraced, dependence

C = 0.75
ROWS = dp.snap(np.random.default_rng(5).choice([-1.0, -0.6, 0.0, 0.3, 1.0], (7, 3)), -1, 1)


def norms(x: Any) -> Any:
    return np.linalg.norm(x, axis=1)


SPELLINGS: dict[str, Callable[[Any], Any]] = {
    "maximum of the norm": lambda x: x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True) / C),
    "norm first": lambda x: x / np.maximum(norms(x) / C, 1)[:, None],
    "ord=2": lambda x: x / np.maximum(1, np.linalg.norm(x, ord=2, axis=1, keepdims=True) / C),
    "axis=-1": lambda x: x / np.maximum(1, np.linalg.norm(x, axis=-1, keepdims=True) / C),
    "minimum of a factor": lambda x: x * np.minimum(1, C / norms(x))[:, None],
    "with a small number": lambda x: x * np.minimum(1, C / (norms(x) + 1e-9))[:, None],
    "with a least norm": lambda x: x * np.minimum(1, C / np.maximum(norms(x), 1e-9))[:, None],
    "clipped factor": lambda x: x * np.clip(C / np.maximum(norms(x), 1e-9), 0, 1)[:, None],
    "roots of squares": lambda x: x / np.maximum(1, np.sqrt(np.sum(np.square(x), axis=1, keepdims=True)) / C),
    "roots of products": lambda x: x / np.maximum(1, (x * x).sum(axis=1) ** 0.5 / C)[:, None],
    "where": lambda x: x * np.where(norms(x) > C, C / norms(x), 1.0)[:, None],
    "a multiple": lambda x: C * x / np.maximum(norms(x), C)[:, None],
    "inverse": lambda x: x * (1 / np.maximum(1, norms(x) / C))[:, None],
}  # fmt: skip

NEAR_MISSES: dict[str, Callable[[Any], Any]] = {
    "norm of half the rows' size": lambda x: x / np.maximum(1, norms(x * 0.5) / C)[:, None],
    "norm of one column": lambda x: x / np.maximum(1, np.abs(x[:, 0]) / C)[:, None],
    "squared norm": lambda x: x / np.maximum(1, (x**2).sum(axis=1) / C)[:, None],
    "minimum for maximum": lambda x: x / np.maximum(np.minimum(1, norms(x) / C), 0.5)[:, None],
    "maximum for minimum": lambda x: x * np.maximum(1, C / np.maximum(norms(x), 0.25))[:, None],
    "a factor above 1": lambda x: x * np.minimum(1.5, C / np.maximum(norms(x), 0.25))[:, None] * 1.5,
    "the divisor cut": lambda x: x / np.clip(norms(x) / C, 1, 1.5)[:, None],
    "less than the norm": lambda x: x / np.maximum(1, norms(x) / C - 0.5)[:, None],
    "the wrong branch": lambda x: x * np.where(norms(x) < C, C / np.maximum(norms(x), 0.25), 1.0)[:, None],
    "another condition": lambda x: x * np.where(x[:, 0] > 0, 1.0, C / np.maximum(norms(x), 0.25))[:, None],
    "norm of other rows": lambda x: (x + 0.25) / np.maximum(1, norms(x) / C)[:, None],
    "L2 clipped, in L1": lambda x: x / np.maximum(1, norms(x) / C)[:, None],
    "clipped twice as far": lambda x: 2 * x / np.maximum(1, norms(x) / C)[:, None],
}


def moved(program: Any, order: int, removal: bool) -> float:
    """The largest move of the sum that any two of many rows make: the independent route, on plain numbers."""
    grid = np.array([-1.0, -0.6, 0.0, 0.3, 1.0])
    rows = np.array(np.meshgrid(grid, grid, grid)).reshape(3, -1).T
    made = program(dp.snap(rows, -1, 1))
    if removal:
        return float(np.linalg.norm(made, ord=order, axis=1).max())
    return float(max(np.linalg.norm(made - row, ord=order, axis=1).max() for row in made))


def found(program: Any, removal: bool) -> Any:
    return dependence(program(dp.seal(ROWS, -1, 1, removal=removal)).sum(axis=0))


@pytest.mark.parametrize("removal", [False, True], ids=["replaced", "removed"])
@pytest.mark.parametrize("program", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_the_usual_spellings_have_twice_the_norm_or_once(program: Any, removal: bool) -> None:
    dependence_ = found(program, removal)
    assert dependence_.sensitivity(2) == pytest.approx(C if removal else 2 * C, rel=1e-13)
    assert moved(program, 2, removal) <= dependence_.sensitivity(2)
    assert dependence_.sensitivity(1) <= math.sqrt(3) * (C if removal else 2 * C) * (1 + 1e-13)
    assert moved(program, 1, removal) <= dependence_.sensitivity(1)


@pytest.mark.parametrize("removal", [False, True], ids=["replaced", "removed"])
@pytest.mark.parametrize("program", NEAR_MISSES.values(), ids=NEAR_MISSES.keys())
def test_near_misses_are_never_given_less_than_they_move(program: Any, removal: bool) -> None:
    dependence_ = found(program, removal)
    for order in (1, 2):
        assert isinstance(dependence_, Untraced) or moved(program, order, removal) <= dependence_.sensitivity(order)


@pytest.mark.parametrize("name", ["norm of half the rows' size", "norm of one column", "the divisor cut", "clipped twice as far"])
def test_near_misses_do_move_further(name: str) -> None:
    """The twin: taken for a clipping, these would be found out."""
    assert moved(NEAR_MISSES[name], 2, False) > 2 * C * 1.01


@pytest.mark.parametrize("program", [lambda x: norms(x[::-1]), lambda x: np.linalg.norm(x, axis=0)[:1] + 0 * norms(x)])
def test_norms_of_other_records_are_untraced(program: Any) -> None:
    assert isinstance(dependence((lambda x: x / np.maximum(1, program(x))[:, None])(dp.seal(ROWS, -1, 1))), Untraced)


def test_a_norm_is_computed_as_numpy_computes_it() -> None:
    for order in (None, 1, 2):
        for keepdims in (False, True):
            plain = np.linalg.norm(ROWS, ord=order, axis=1, keepdims=keepdims)
            sealed = np.linalg.norm(dp.seal(ROWS, -1, 1), ord=order, axis=1, keepdims=keepdims)
            assert np.array_equal(dp.unseal(sealed), plain)
