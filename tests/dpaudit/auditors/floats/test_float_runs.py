"""Runs for the porosity test: the watching generator is numpy's, and what it saw is read correctly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.floats.float_runs import Recording, most_central, output_table, watch
from dpaudit.auditors.floats.preimage import Additive

PAIR = (np.array([0.0]), np.array([1.0]))


def black(function: Callable[..., Any]) -> Any:
    return dp.subject(claim=dp.Claim(epsilon="1"), neighbours=[PAIR])(function)


@pytest.mark.parametrize("sampler", ["laplace", "normal"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"scale": 3.0},
        {"size": 5},
        {"size": np.int64(5)},
        {"size": ()},
        {"size": (2, 3), "scale": 0.5},
        {"loc": 7.0},
        {"loc": np.arange(4.0)},
        {"loc": np.arange(3.0), "scale": np.array([[1.0], [2.0]])},
        {"loc": np.arange(3.0), "size": (2, 3)},
    ],
    ids=str,
)
def test_a_watched_generator_draws_what_numpy_draws(sampler: str, arguments: dict[str, Any]) -> None:
    watched, plain = Recording(np.random.PCG64(1)), np.random.Generator(np.random.PCG64(1))
    for _ in range(3):
        ours, theirs = getattr(watched, sampler)(**arguments), getattr(plain, sampler)(**arguments)
        assert np.shape(ours) == np.shape(theirs)
        np.testing.assert_allclose(ours, theirs, rtol=1e-15, atol=1e-15)  # a location may be added with one rounding less
    assert watched.random() == plain.random()


def test_a_watched_generator_can_be_spawned() -> None:
    child = Recording(np.random.PCG64(1)).spawn(1)[0]
    assert child.laplace() == np.random.default_rng(1).spawn(1)[0].laplace()


def test_centre_and_scale_are_seen_to_the_last_bit_and_only_where_noise_is_added() -> None:
    def one(data: Any, rng: Any) -> Any:
        return 2.3456789 + data.sum() + rng.normal(scale=0.123456789), int(rng.integers(9))

    def many(data: Any, rng: Any, trials: Any) -> Any:
        return np.stack([np.full(trials, 0.5), data.sum() - 0.9 + rng.laplace(0.0, 3.0, trials)], axis=1)

    def product(data: Any, rng: Any) -> Any:
        return (1 + data.sum()) * rng.laplace()

    assert watch(black(one), PAIR, 1) == [(0, [Additive(2.3456789, 2.3456789 + 1, 0.123456789)])]
    (first, none), (second, (noise,)) = watch(black(many), PAIR, 1)
    assert (first, none, second) == (0, [], 1)
    assert (noise.centre, noise.scale) == (-0.9, 3.0)
    assert noise.other == pytest.approx(0.1, rel=1e-14)  # far smaller than most outputs: its own last bits are lost in them
    assert watch(black(product), PAIR, 1) == [(0, [])]


def test_scales_that_change_from_run_to_run_match_nothing() -> None:
    def varying(data: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace(scale=rng.random())

    assert watch(black(varying), PAIR, 1) == [(0, [])]


def test_whole_numbers_texts_and_none_leave_nothing_to_watch() -> None:
    def whole(data: Any, rng: Any) -> Any:
        return int(rng.integers(9)), "word", None

    assert watch(black(whole), PAIR, 1) == []


def test_rows_of_different_lengths_end_in_nan() -> None:
    def ragged(data: Any, rng: Any) -> Any:
        return rng.random(rng.integers(1, 4))

    table = output_table(black(ragged), PAIR[0], 200, np.random.default_rng(1))
    assert table.shape == (200, 3)
    assert set(np.isfinite(table).sum(axis=1)) == {1, 2, 3}


def test_the_pair_with_outputs_closest_to_zero_is_chosen() -> None:
    def noisy(data: Any, rng: Any) -> Any:
        return float(data.sum() + rng.laplace())

    pairs = [(np.array([100.0]), np.array([101.0])), PAIR, (np.array([-9.0]), np.array([-10.0]))]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        assert most_central(black(noisy), [pairs[place] for place in order], 1) is PAIR
    assert most_central(black(noisy), pairs[:1], 1) is pairs[0]
