"""The exponential mechanism: its exact draw against a uniform number that is chosen, its forms by hand, its ρ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.noise import Exponential, noise_from, written_forms
from dpaudit.noise.loss_facts import RangeFact


class Chosen:
    """A source whose words are given."""

    simulated = True

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int, bits: int = 64) -> Any:
        return np.array([self.left.pop(0) for _ in range(count)], dtype=np.uint64)

    def permutation(self, n: int) -> Any:
        return np.arange(n)


def test_a_uniform_number_chooses_by_cumulative_probabilities() -> None:
    noise = Exponential(1, 1)  # weights 1, e^-1, e^-3
    total = 1 + np.exp(-1) + np.exp(-3)
    for place, end in enumerate(np.array([1, 1 + np.exp(-1)]) / total):
        word = int(end * 2**64)
        assert noise.draw_one(np.array([3, 2, 0]), Chosen(word - 2**20)) == place
        assert noise.draw_one(np.array([3, 2, 0]), Chosen(word + 2**20)) == place + 1


def test_equal_scores_are_told_apart_by_further_digits() -> None:
    """Two equal scores: cumulative 1/2. The word 2^63 is the second; 2^63 − 1 the first; neither needs a float."""
    noise = Exponential(1, 1)
    assert noise.draw_one(np.array([5, 5]), Chosen(2**63)) == 1
    assert noise.draw_one(np.array([5, 5]), Chosen(2**63 - 1)) == 0


def test_it_is_bounded_range_and_written_by_hand_with_its_epsilon() -> None:
    written = noise_from("exponential", {"epsilon": "1/2"})
    assert written.epsilon(1) == Fraction(1, 2)
    assert written.loss(1) == RangeFact(Fraction(1, 2))
    assert written.rho(1) == Fraction(1, 32)
    assert [form.needs for form in written_forms()["exponential"]] == [{"epsilon"}]


@pytest.mark.parametrize(("monotone", "epsilon"), [(False, 4), (True, 2)])
def test_its_cost_is_twice_the_move_unless_all_scores_move_one_way(monotone: bool, epsilon: int) -> None:
    assert Exponential("1/2", 1, monotone).epsilon(1) == epsilon
