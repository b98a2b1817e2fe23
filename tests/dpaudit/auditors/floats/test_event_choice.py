"""The choice of an event: what tells most on training outputs, nothing on grids, and never by looking at test runs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpaudit.auditors.floats.event_choice import Limit, choose_event, distinct
from dpaudit.auditors.floats.low_bits import Residues, Unreachable
from dpaudit.auditors.floats.porosity import porosity

N = 4000
LIMIT = Limit(math.e, 0.0, 4.0)
Draw = Callable[[np.random.Generator, float, int], np.ndarray]


def sides(draw: Draw, count: int = N, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    return draw(np.random.default_rng([seed, 0]), 0.0, count), draw(np.random.default_rng([seed, 1]), 1.0, count)


def laplace(rng: np.random.Generator, centre: float, count: int) -> np.ndarray:
    return centre + rng.laplace(size=count)


@pytest.mark.parametrize("multiple", [3, 5, 7, 31, 63])
def test_a_lattice_of_odd_multiples_is_told_by_its_remainders(multiple: int) -> None:
    def lattice(rng: np.random.Generator, centre: float, count: int) -> np.ndarray:
        return centre + multiple * 2.0**-52 * rng.integers(-(2**54) // multiple, 2**54 // multiple, size=count)

    choice = choose_event(*sides(lattice), [], LIMIT)
    assert choice is not None
    assert isinstance(choice.event.feature, Residues)
    assert porosity(*sides(lattice, 10_000, 2), epsilon=1.0) is not None


def test_noise_of_a_known_sampler_is_told_by_what_it_cannot_give() -> None:
    choice = choose_event(*sides(laplace), [], LIMIT)
    assert choice is not None
    assert isinstance(choice.event.feature, Unreachable)
    first, second = sides(laplace, seed=2)
    here, there = (second, first) if choice.turned else (first, second)
    assert choice.event.holds(here).mean() > 0.5
    assert choice.event.holds(there).mean() < 0.01


@pytest.mark.parametrize("step", [2.0**-20, 1e-9, 0.01, 3 * 2.0**-40])
def test_a_grid_that_both_sides_share_promises_nothing(step: float) -> None:
    def grid(rng: np.random.Generator, centre: float, count: int) -> np.ndarray:
        return np.rint(laplace(rng, centre, count) / step) * step

    choice = choose_event(*sides(grid), [], LIMIT)
    assert choice is None or choice.promise < 0  # what is chosen by luck is tested on other runs
    assert porosity(*sides(grid, 10_000, 2), epsilon=1.0) is None


def test_a_promise_falls_with_the_claim_with_delta_and_with_fewer_runs() -> None:
    counts = np.array([300]), 1000, np.array([3]), 1000
    promise = LIMIT.promise(*counts)[0]
    assert promise > 0
    assert Limit(math.e**2, 0.0, 4.0).promise(*counts)[0] == pytest.approx(promise - 1)
    assert Limit(math.e, 0.1, 4.0).promise(*counts)[0] < promise
    assert Limit(math.e, 0.0, 1.0).promise(*counts)[0] < promise
    assert Limit(math.e, 0.9, 4.0).promise(*counts)[0] == -math.inf


def test_repeated_values_are_not_last_bits() -> None:
    assert distinct(np.arange(100.0))
    assert not distinct(np.zeros(100))
    assert not distinct(np.zeros(0))
