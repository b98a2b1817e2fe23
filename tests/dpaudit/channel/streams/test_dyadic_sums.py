"""Running sums by a binary tree, without noise: exact sums, and how many of them hold one value."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.channel.streams.dyadic_sums import DyadicSums, levels, sums_with


def nodes(values: list[int]) -> tuple[list[int], list[int]]:
    """The sums that noise would be added to, and the running sums."""
    drawn: list[int] = []

    def draw(node: np.ndarray) -> np.ndarray:
        drawn.append(int(node))
        return node

    sums = DyadicSums()
    return drawn, [int(sums.add(np.asarray(value), draw)) for value in values]


def test_without_noise_the_running_sums_are_exact() -> None:
    values = [int(value) for value in np.random.default_rng(1).integers(-9, 9, 100)]
    assert nodes(values)[1] == np.cumsum(values).tolist()


@pytest.mark.parametrize("steps", range(1, 34))
def test_a_value_lies_in_as_many_noisy_sums_as_is_stated(steps: int) -> None:
    changed = [np.count_nonzero(nodes([int(k == leaf) for k in range(steps)])[0]) for leaf in range(steps)]
    assert changed == [sums_with(leaf, steps) for leaf in range(steps)]
    assert max(changed) == changed[0] == levels(steps)


def test_every_step_draws_once() -> None:
    assert len(nodes([1] * 37)[0]) == 37


def test_a_draw_that_fails_leaves_the_sums_as_they_were() -> None:
    sums = DyadicSums()
    sums.add(np.asarray(1), lambda node: node)

    def fail(_: np.ndarray) -> np.ndarray:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        sums.add(np.asarray(1), fail)
    assert sums.add(np.asarray(1), lambda node: node) == 2
