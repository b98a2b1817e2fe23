"""The sparse vector technique: probabilities of all answers by sums over a small grid, and its cost."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpaudit.claims import InvalidValue
from dpaudit.noise import SparseVector, noise_from
from dpaudit.noise.selection.sparse_vector import NO, NOT_ASKED, YES

REACH = 250


def probability(noise: SparseVector, answers: tuple[int, ...], margins: tuple[int, ...]) -> float:
    """Σ over the noise of the threshold, in floats, straight from the definition."""
    shared, own = float(noise.weight), float(noise.answer_weight)
    z = np.arange(-REACH, REACH + 1)
    total = np.tanh(shared / 2) * np.exp(-shared * np.abs(z))
    wide = np.arange(-8 * REACH, 8 * REACH + 1)
    law = np.tanh(own / 2) * np.exp(-own * np.abs(wide))
    upper = law[::-1].cumsum()[::-1]  # P(noise ≥ wide)
    for answer, margin in zip(answers, margins, strict=True):
        above = upper[z - margin + 8 * REACH]
        total = total * (above if answer == YES else 1 - above)
    return float(total.sum())


def sequences(queries: int, positives: int) -> list[tuple[int, ...]]:
    """All that can be answered: nothing after the last "yes"."""
    found = set()
    for answers in product((NO, YES), repeat=queries):
        run: list[int] = []
        for answer in answers:
            run.append(answer if sum(one == YES for one in run) < positives else NOT_ASKED)
        found.add(tuple(run))
    return sorted(found)


@pytest.mark.parametrize("positives", [1, 2])
def test_probabilities_of_answers_are_those_of_a_sum_over_the_threshold(positives: int) -> None:
    noise, margins = SparseVector(3, positives, 1), (0, -2, 3)
    total = 0.0
    for answers in sequences(3, positives):
        asked = [(a, m) for a, m in zip(answers, margins, strict=True) if a != NOT_ASKED]
        expected = probability(noise, *map(tuple, zip(*asked, strict=True)))
        found = float(np.exp(float(noise.log_answers(answers, margins).mid())))
        assert found == pytest.approx(expected, rel=1e-9)
        total += found
    assert total == pytest.approx(1)


@pytest.mark.parametrize("positives", [1, 2])
def test_no_answers_on_a_tiny_grid_lose_more_than_epsilon(positives: int) -> None:
    """Three numbers that each move by one step, up or down: all answers and all moves from two places."""
    noise = SparseVector(2, positives, 1)
    epsilon, worst = float(noise.epsilon(1)), 0.0
    for margins in ((0, 0, 0), (3, -3, 0)):
        for move in product((-1, 0, 1), repeat=3):
            other = tuple(a + b for a, b in zip(margins, move, strict=True))
            for answers in sequences(3, positives):
                worst = max(worst, abs(float(noise.log_ratio([answers], [margins], [other])[0])))
    assert epsilon == 1.0
    assert 0.3 * epsilon < worst <= epsilon + 1e-12


def test_more_answers_than_were_paid_for_lose_more_than_epsilon() -> None:
    """Noise for one "yes", and twelve of them beside as many "no": what a limit is for."""
    noise = SparseVector(2, 1, 1)
    answers, here, there = [YES] * 12 + [NO] * 12, [0] * 24, [-1] * 12 + [1] * 12
    assert float(noise.log_ratio([answers], [here], [there])[0]) > float(noise.epsilon(1))


def test_what_is_not_asked_does_not_count() -> None:
    noise = SparseVector(2, 1, 1)
    assert noise.log_ratio([[YES, NOT_ASKED]], [[0, 5]], [[0, -5]]).tolist() == [0.0]


def test_it_is_written_and_read_again() -> None:
    noise = SparseVector("1/3", 4)
    assert noise_from(noise.name, noise.parameters()) == noise
    assert noise != SparseVector("1/3", 3)
    with pytest.raises(InvalidValue, match="positives"):
        SparseVector(1, 0)
