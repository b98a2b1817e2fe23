"""Games with subjects: learned and exact scores, pairs chosen on runs of their own, odd outputs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.games.play import PAIRS, best_pair, play_game, undirected
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.transcripts import Trials, gather

pytestmark = pytest.mark.slow

ONE, ZERO = np.ones(1), np.zeros(1)
HERE = Engine(workers=1)


def declare(function: Any, delta: str = "0", neighbours: Any = None) -> Any:
    return dp.subject(claim=dp.Claim("1", delta), neighbours=neighbours or [(ONE, ZERO)])(function)


def black(data: Any, rng: Any, trials: Any) -> Any:
    return data.sum() + rng.laplace(size=trials)


def grey(data: Any, channel: Any, trials: Any) -> Any:
    return channel.release("v", data.sum(), dp.Laplace(1), sensitivity=1)


def one_by_one(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace())


def shown(function: Any, samples: int, seed: int = 1, delta: float = 0.0) -> float:
    subject = declare(function)
    return play_game(Trials(subject, (ONE, ZERO), seed, subject.grey), samples, delta, 0.05, HERE).epsilon


@pytest.mark.parametrize(("function", "least"), [(grey, 0.97), (black, 0.97), (one_by_one, 0.7)])
def test_laplace_noise_is_bounded_close_to_its_epsilon(function: Any, least: float) -> None:
    """Five seeds each; a bound above 1 has probability .05, so two of five has .023 and is not expected of these seeds."""
    bounds = [shown(function, 3000 if function is one_by_one else 100_000, seed) for seed in range(5)]
    assert min(bounds) > least
    assert sum(bound > 1 for bound in bounds) <= 1


def test_gaussian_noise_is_bounded_in_its_tails() -> None:
    """σ = 3.7303 is (1, 1e-5)-DP. Chosen without tails, the bound would be below .3."""

    def gaussian(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + rng.normal(scale=3.7303, size=trials)

    bounds = [shown(gaussian, 100_000, seed, 1e-5) for seed in range(5)]
    assert 0.5 < np.mean(bounds) <= 1


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_less_noise_never_shows_less(delta: float) -> None:
    """Gaussian noise that shrinks to none, the same draws each time: a bound is never below one of more noise by more than .1,
    and without noise it is what right guesses alone give, log(n/ln 20) for about n = 1,600 of 2,000 runs. In the other order the
    bounds fall."""

    def gaussian(sigma: float) -> Any:
        return lambda data, rng, trials: data.sum() + rng.normal(scale=sigma, size=trials)

    bounds = [shown(gaussian(sigma), 1000, 1, delta) for sigma in (2.0, 1.0, 0.5, 0.1, 0.0)]
    assert all(after >= before - 0.1 for before, after in pairwise(bounds))
    assert not all(after >= before - 0.1 for before, after in pairwise(bounds[::-1]))
    assert bounds[-1] == pytest.approx(np.log(1600 / np.log(20)), abs=0.1)


def test_the_same_game_gives_the_same_counts_and_another_seed_others() -> None:
    games = [play_game(Trials(declare(black), (ONE, ZERO), seed, False), 2000, 0.0, 0.05, HERE) for seed in (1, 1, 2)]
    assert games[0] == games[1]
    assert games[0].guesses != games[2].guesses


ODD: list[Any] = [
    lambda data, rng: "yes" if rng.random() < 0.2 + 0.6 * data[0] else "no",
    lambda data, rng: (None, 1.0) if rng.random() < 0.2 + 0.6 * data[0] else (0.5, 1.0),
    lambda data, rng: float("nan") if rng.random() < 0.2 + 0.6 * data[0] else float("inf"),
    lambda data, rng: [0.0] * int(1 + rng.integers(0, 3) + 2 * (rng.random() < 0.6 * data[0])),
    lambda data, rng: rng.normal(size=300) + data[0],
    lambda data, rng: {"a": 1.0, "b": float("nan")} if rng.random() < 0.2 + 0.6 * data[0] else {"a": 1.0},
    lambda data, rng: {"x", "y"} if rng.random() < 0.2 + 0.6 * data[0] else {"x"},
    lambda data, rng: f"{data[0] + rng.laplace():.2f}",
    lambda data, rng: (0,) * int(rng.integers(0, 3)) + (float(data[0] + rng.laplace()),),
    lambda data, rng: None if rng.random() < 0.5 else -1000.0 if rng.random() < 0.2 + 0.6 * data[0] else float(rng.normal()),
]


@pytest.mark.parametrize("function", ODD)
def test_outputs_of_every_kind_are_told_apart(function: Any) -> None:
    assert shown(function, 1000) > 0.5
    assert shown(lambda data, rng: function(np.full(1, 0.5), rng), 1000) < 0.3  # the twin does not look at its data


def test_chunks_of_different_widths_become_one_table() -> None:
    coins, table = gather([(np.array([True]), np.ones((1, 2))), (np.array([False]), np.full((1, 3), 2.0))])
    assert coins.tolist() == [True, False]
    assert table.tolist() == [[1, 1, 0], [2, 2, 2]]


def test_a_pair_is_tried_in_one_direction() -> None:
    a, b = np.zeros(2), np.ones(2)
    assert undirected([(a, b), (b, a), (a, a), (a, b.copy())]) == [(a, b)]
    assert undirected([(a, a), (b, b)]) == [(a, a)]
    assert len(undirected([(-a, b), (a, b)])) == 2  # −0 is not 0
    assert len(undirected([(a, b), (b.copy(), a.copy())])) == 1
    assert len(undirected([("x", "y"), ("y", "x"), (1, 2)])) == 2


@pytest.mark.parametrize("by_likelihood", [True, False])
def test_the_pair_that_shows_most_is_found(by_likelihood: bool) -> None:
    """Six of eight pairs show nothing, one half as much. Over ten seeds, since a single choice may be luck."""
    pairs = [(np.full(1, k * 1.0), np.full(1, k * 1.0)) for k in range(6)]
    pairs += [(ZERO, np.full(1, 0.5)), (ZERO, ONE)]
    subject = declare(grey if by_likelihood else black, neighbours=pairs)
    found = [best_pair(subject, subject.claim, pairs, 10_000, seed, by_likelihood, HERE).pair[1] for seed in range(10)]
    assert all(pair is ONE for pair in found)


@pytest.mark.parametrize("many", [True, False])
def test_every_listed_pair_is_tried_and_their_number_is_told(many: bool) -> None:
    """One of sixty pairs shows ε = 10. Its twin has it last of more than are tried, so nobody can say what would be found."""
    pairs = [(ZERO, np.full(1, k * 1e-4)) for k in range(1, 60)] + [(ZERO, ONE)]

    def one(data: Any, rng: Any) -> Any:
        return float(data.sum() + rng.laplace(scale=0.1))

    def trials(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + rng.laplace(scale=0.1, size=trials)

    subject = declare(trials if many else one, neighbours=pairs)
    found = dp.audit(subject, samples=2000, seed=1, workers=1)
    assert str(found.verdict) == "refuted"
    assert found.lower.method.endswith("best of 60 pairs")
    assert found.detectable is not None
    crowded = [(ZERO, np.full(1, k * 1e-9)) for k in range(1, PAIRS + 1)] + pairs[-1:]
    missed = dp.audit(declare(trials if many else one, neighbours=crowded), samples=100, seed=1, workers=1)
    assert str(missed.verdict) == "unproven"
    assert missed.detectable is None
    assert missed.lower.method.endswith(f"best of {PAIRS} pairs (of {PAIRS + 1})")


SYMMETRIC = dp.replace_one(n=10, low=-1, high=1)
UNMOVED: list[Any] = [  # by a record that goes from one end of its range to the other
    (lambda data: (data**2).sum(), SYMMETRIC),
    (lambda data: float((data == 0).any()), SYMMETRIC),
    (np.median, SYMMETRIC),
    (lambda data: (np.abs(data) < 0.1).sum(), dp.add_remove(n=10, low=-1, high=1)),
    (lambda data: (data**2).sum(), dp.replace_one(n=4, low=[-1, -1], high=[1, 1])),
]


@pytest.mark.parametrize(("query", "neighbours"), UNMOVED)
def test_black_boxes_are_tried_on_values_between_the_ends_and_among_mixed_others(query: Any, neighbours: Any) -> None:
    """Twin: enough noise for a sensitivity of 2; error 10^-6. Ideal arithmetic, as numpy's noise is porous."""
    subject = dp.subject(claim=dp.Claim("1", arithmetic="ideal"), neighbours=neighbours)

    def box(scale: float) -> Any:
        return subject(lambda data, rng: float(query(data)) + rng.laplace(scale=scale))

    assert [str(dp.audit(box(scale), samples=1000, seed=1).verdict) for scale in (0.05, 2.5)] == ["refuted", "unproven"]


def test_a_witness_of_such_a_pair_names_it() -> None:
    for neighbours in (SYMMETRIC, UNMOVED[-1][1]):
        subject = declare(lambda data, rng: float((data**2).sum() + rng.laplace(scale=0.05)), neighbours=neighbours)
        found = dp.audit(subject, samples=500, seed=2)
        again = dp.audit(subject, witness=found.witness)
        assert str(again.verdict) == "refuted"
