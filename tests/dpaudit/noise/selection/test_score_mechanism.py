"""Mechanisms on scores: laws by enumeration, draws against them, and their cost over all small score vectors."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import exp, log
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.noise import Exponential, NoisyMax, PermuteAndFlip, SecureSource, noise_from, python_code
from dpaudit.noise.selection.score_mechanism import ScoreMechanism

KINDS = (Exponential, PermuteAndFlip, NoisyMax)
SCORES = (0, 1, 3, 1)
each = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def law(noise: ScoreMechanism, scores: tuple[int, ...]) -> np.ndarray:
    """P(index), by sums over what the mechanism does, in floats: none of the formulas of the package."""
    if isinstance(noise, Exponential):
        weights = np.exp(np.array(scores) * float(noise.weight))
        return weights / weights.sum()
    return _flipped(noise, scores) if isinstance(noise, PermuteAndFlip) else _noisy(noise, scores)


@lru_cache(maxsize=4096)
def _held(noise: ScoreMechanism, scores: tuple[int, ...]) -> np.ndarray:
    return noise.log_law(scores)


def _flipped(noise: ScoreMechanism, scores: tuple[int, ...]) -> np.ndarray:
    heads = [exp((score - max(scores)) * float(noise.weight)) for score in scores]
    found, orders = np.zeros(len(scores)), list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for index in order:
            found[index] += left * heads[index] / len(orders)
            left *= 1 - heads[index]
    return found


def _noisy(noise: ScoreMechanism, scores: tuple[int, ...]) -> np.ndarray:
    """Level by level: the largest noisy score is z, and candidate i is the first to have it."""
    rate = float(noise.weight)
    reach = 40 + int(45 / rate)
    levels = np.arange(-reach, reach + 1)
    at = np.array([np.exp(-rate * np.abs(levels - score)) for score in scores]) * np.tanh(rate / 2)
    below = np.array([np.cumsum(row) for row in at]) - at  # P(noisy score < z), but for the far tail
    found = np.zeros(len(scores))
    for index in range(len(scores)):
        terms = at[index].copy()
        for other in range(len(scores)):
            if other != index:
                terms *= below[other] + (at[other] if other > index else 0)
        found[index] = terms.sum()
    return found


@each
@pytest.mark.parametrize("scores", [SCORES, (5,), (2, 2), (-7, 0, 4, -1, 3)])
def test_the_law_is_that_of_an_enumeration(kind: Any, scores: tuple[int, ...]) -> None:
    for scale in (1, 3):
        noise = kind(scale, 1)
        assert np.exp(noise.log_law(scores)) == pytest.approx(law(noise, scores), rel=1e-9)


@each
def test_draws_and_simulations_have_the_law(kind: Any) -> None:
    """Counts within 5.5 standard deviations: one seed in 10^6 fails in 8 comparisons; the twin at twice the scale must fail."""
    noise, runs = kind(2, 1), 20_000
    units = np.broadcast_to(np.array(SCORES), (runs, len(SCORES)))
    drawn = np.bincount(noise.draw(units[:1500], SecureSource()), minlength=4)
    simulated = np.bincount(noise.simulate(units, np.random.default_rng(7)), minlength=4)
    for counts, size in ((drawn, 1500), (simulated, runs)):
        assert _agrees(counts, size, law(noise, SCORES))
    assert not _agrees(simulated, runs, law(kind(4, 1), SCORES))


def _agrees(counts: np.ndarray, size: int, probabilities: np.ndarray) -> bool:
    spread = np.sqrt(size * probabilities * (1 - probabilities))
    return bool((np.abs(counts - size * probabilities) <= 5.5 * spread + 1).all())


@each
@pytest.mark.parametrize("monotone", [False, True])
def test_no_loss_on_a_small_lattice_exceeds_its_epsilon(kind: Any, monotone: bool) -> None:
    """All scores in {0, 1}³ and all moves by at most one step, up or down; or all up, or all down."""
    noise = kind(2, 1, monotone)
    moves = [move for move in product((-1, 0, 1), repeat=3) if not monotone or min(move) >= 0 or max(move) <= 0]
    losses = [
        np.abs(_held(noise, scores) - _held(noise, tuple(a + b for a, b in zip(scores, move, strict=True)))).max()
        for scores in product((0, 1), repeat=3)
        for move in moves
    ]
    epsilon = float(noise.epsilon(1))
    assert epsilon == (0.5 if monotone else 1.0)
    assert max(losses) <= epsilon + 1e-12
    assert max(losses) > 0.6 * epsilon


@pytest.mark.parametrize("kind", [PermuteAndFlip, NoisyMax], ids=lambda kind: kind.name)
def test_moves_of_both_signs_break_what_monotone_promises(kind: Any) -> None:
    noise = kind(2, 1, True)
    loss = np.abs(noise.log_law((0, 4, 4)) - noise.log_law((1, 3, 3))).max()
    assert loss > float(noise.epsilon(1)) * 1.2


def test_the_losses_of_an_exponential_mechanism_lie_in_an_interval_of_length_epsilon_and_others_do_not() -> None:
    rng = np.random.default_rng(3)
    noise = Exponential(2, 1)
    for _ in range(200):
        scores = rng.integers(-5, 6, 4)
        losses = noise.log_law(tuple(scores)) - noise.log_law(tuple(scores + rng.integers(-1, 2, 4)))
        assert np.ptp(losses) <= float(noise.epsilon(1)) + 1e-12
    flip = PermuteAndFlip(2, 1)  # scores (0, 0) against (Δ, −Δ): ε + log(2 − e^-ε)
    assert np.ptp(flip.log_law((0, 0)) - flip.log_law((1, -1))) == pytest.approx(1 + log(2 - exp(-1)))


@each
def test_the_ends_of_a_loss_enclose_it_tightly(kind: Any) -> None:
    noise = kind(3, 1)
    for index in range(3):
        low, high = noise.loss_bounds(np.array(index), np.array([0, 2, 1]), np.array([1, 1, 1]))
        exact = noise.log_law((0, 2, 1))[index] - noise.log_law((1, 1, 1))[index]
        assert low <= high <= low + Fraction(1, 10**18)
        assert float(low) == pytest.approx(exact, rel=1e-12)


@each
def test_many_runs_at_once_have_the_loss_of_each(kind: Any) -> None:
    noise, rng = kind(2, 1), np.random.default_rng(1)
    queries, others, outputs = rng.integers(0, 3, (40, 3)), rng.integers(0, 3, (40, 3)), rng.integers(0, 3, 40)
    alone = [noise.log_ratio(o, q, p) for o, q, p in zip(outputs, queries, others, strict=True)]
    assert noise.log_ratio(outputs, queries, others) == pytest.approx(np.array(alone))
    assert noise.log_ratio(outputs, queries, queries).tolist() == [0.0] * 40


@each
def test_a_mechanism_is_written_and_read_again(kind: Any) -> None:
    for noise in (kind("0.3"), kind(2, "1/4", True)):
        assert noise_from(noise.name, noise.parameters()) == noise
        assert eval(python_code(noise), {"dp": dp}) == noise
    assert kind(2) != kind(2, monotone=True)


@each
def test_scores_far_apart_are_drawn_exactly_too(kind: Any) -> None:
    noise = kind("1/1000")
    assert noise.draw(np.array([-(2**52), 2**52]), SecureSource()) == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"scale": 0}, "scale"),
        ({"monotone": "perhaps"}, "monotone"),
        ({"grid": 0}, "grid"),
    ],
)
def test_wrong_parameters_are_refused(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidValue, match=problem):
        Exponential(**{"scale": 1, **change})


def test_an_index_is_no_number_to_ask_tails_of() -> None:
    with pytest.raises(InvalidValue, match="asked for the index"):
        Exponential(1).tail(3)
    with pytest.raises(InvalidValue, match="one score per candidate"):
        Exponential(1).draw(np.zeros((2, 0), dtype=int), SecureSource())
