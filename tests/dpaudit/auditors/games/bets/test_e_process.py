"""E-processes: exact expectations by enumeration, products written out, false flags under peeking, a twin that peeks wrongly."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditors.games.bets.e_process import MixedBets, PureBets, epsilon_grid, lower_bound


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@given(odds=st.floats(-20, 20), p=st.floats(0, 1), epsilon=st.floats(0.01, 5))
def test_one_bet_gains_nothing_on_average_under_the_claim(odds: float, p: float, epsilon: float) -> None:
    """Σ_b P(b|x)·E(b) ≤ 1 for every prediction, if P(1|x) is within the claim; above 1 only if it is not."""
    low, high = sigmoid(-epsilon), sigmoid(epsilon)
    truth = low + p * (high - low)
    mean = 0.0
    for coin, probability in ((True, truth), (False, 1 - truth)):
        process = PureBets(epsilon)
        process.bet(np.array([odds]), np.array([coin]), math.inf)
        mean += probability * math.exp(process.evidence[np.searchsorted(process.grid, epsilon)])
    assert mean <= 1 + 1e-9


def test_a_mechanism_beyond_the_claim_gains_on_average() -> None:
    """The twin: P(1|x) = σ(2) against a claim of 1, predicted as it is."""
    mean = 0.0
    for coin, probability in ((True, sigmoid(2)), (False, sigmoid(-2))):
        process = PureBets(1.0)
        process.bet(np.array([2.0]), np.array([coin]), math.inf)
        mean += probability * process.evidence[np.searchsorted(process.grid, 1.0)]
    assert mean > 0.05


def test_the_evidence_is_the_product_as_written() -> None:
    """E_t = Π r_b/clip(r_b, 1−L, L), factor by factor, for every ε of the grid, and in pieces as at once."""
    rng = np.random.default_rng(1)
    odds, coins = rng.normal(scale=2, size=50), rng.random(50) < 0.5
    process, whole = PureBets(1.0), PureBets(1.0)
    whole.bet(odds, coins, math.inf)
    for k in range(0, 50, 7):
        process.bet(odds[k : k + 7], coins[k : k + 7], math.inf)
    for place, epsilon in enumerate(process.grid):
        expected = 1.0
        for s, b in zip(odds, coins, strict=True):
            r = sigmoid(s if b else -s)
            expected *= r / min(max(r, sigmoid(-epsilon)), sigmoid(epsilon))
        assert process.evidence[place] == pytest.approx(math.log(expected), abs=1e-9)
        assert whole.evidence[place] == pytest.approx(math.log(expected), abs=1e-9)


def test_mixed_bets_have_expectation_one_at_most_under_the_claim() -> None:
    """All outcomes of four runs of a mechanism on the boundary of (.5, .1): right guesses, wrong ones, abstentions."""
    epsilon, delta = 0.5, 0.1
    for wrong in (0.02, 0.1, 0.25):
        right = math.exp(epsilon) * wrong + delta
        outcomes = [(5.0, True, right), (5.0, False, wrong), (0.0, True, 1 - right - wrong)]
        mean = beyond = 0.0
        for sequence in product(outcomes, repeat=4):
            process = MixedBets(epsilon, delta)
            process.bet(np.array([o for o, _, _ in sequence]), np.array([b for _, b, _ in sequence]), math.inf)
            e = np.exp(process.evidence[np.searchsorted(process.grid, epsilon)])
            mean += e * math.prod(p for _, _, p in sequence)
            twin = [right + 0.1, wrong, 1 - right - wrong - 0.1]
            beyond += e * math.prod(twin[outcomes.index(one)] for one in sequence)
        assert mean <= 1 + 1e-9 < beyond


def test_mixed_bets_are_the_mean_of_their_products() -> None:
    rng = np.random.default_rng(2)
    odds, coins = rng.normal(scale=2, size=30), rng.random(30) < 0.5
    process, delta = MixedBets(0.7, 0.01), 0.01
    process.bet(odds[:11], coins[:11], math.inf)
    process.bet(odds[11:], coins[11:], math.inf)
    for place, epsilon in list(enumerate(process.grid))[::25]:
        products = []
        for threshold, stake in product(process.thresholds, process.STAKES):
            wealth, share = 1.0, stake / (math.exp(epsilon) + delta)
            for s, b in zip(odds, coins, strict=True):
                guessed, hit = abs(s) >= threshold, (s > 0) == b
                wealth *= 1 + share * ((guessed and hit) - math.exp(epsilon) * (guessed and not hit) - delta)
            products.append(wealth)
        assert process.evidence[place] == pytest.approx(math.log(np.mean(products)), abs=1e-9)


@pytest.mark.parametrize("make", [lambda: PureBets(1.0), lambda: MixedBets(1.0, 1e-3)])
def test_it_stops_at_the_first_run_that_reaches_the_limit(make: Callable[[], PureBets | MixedBets]) -> None:
    rng = np.random.default_rng(3)
    coins = rng.random(3000) < 0.5
    odds = np.where(coins == (rng.random(3000) < 0.95), 3.0, -3.0)
    limit, process = math.log(100), make()
    stop = process.bet(odds, coins, limit)
    assert stop is not None
    one_by_one = make()
    stops = [one_by_one.bet(odds[k : k + 1], coins[k : k + 1], limit) for k in range(stop)]
    assert stops == [None] * (stop - 1) + [1]
    assert process.evidence == pytest.approx(one_by_one.evidence)


def test_the_bound_is_the_last_point_before_the_first_that_is_not_out() -> None:
    """Evidence that rises again above is not followed."""

    class Given(PureBets):
        def __init__(self, evidence: list[float]) -> None:
            super().__init__(1.0)
            self.grid = np.array([0.5, 1.0, 1.5, 2.0])
            self.evidence = np.array(evidence)

    assert lower_bound(Given([9, 9, 0, 9]), 0.05) == 1.0
    assert lower_bound(Given([0, 9, 9, 9]), 0.05) == 0.0
    assert lower_bound(Given([9, 9, 9, 9]), 0.05) == 2.0


@pytest.mark.parametrize("claim", [0.0, 0.1, 1.0, 20.0])
def test_the_claim_is_on_the_grid(claim: float) -> None:
    grid = epsilon_grid(claim)
    assert claim in grid
    assert (np.diff(grid) > 0).all()
    assert grid[-1] > 2 * claim + 10


RUNS, AUDITS = 5000, 400


def test_over_5000_peeked_draws_a_boundary_mechanism_is_flagged_in_five_percent_of_the_audits(
    benchmark_module: Callable[[str], ModuleType],
) -> None:
    """400 audits at α = .05; more than the limit has probability 10^-6. The twin is a fixed-size test, looked at 200 times."""
    boundary = benchmark_module("boundary")
    by_bets, by_test = boundary.peeked(AUDITS, 0.05)
    assert by_bets <= boundary.limit(AUDITS, 0.05)
    assert by_test > boundary.limit(AUDITS, 0.05)


@pytest.mark.parametrize("delta", [0.0, 0.05])
def test_the_bound_at_any_time_exceeds_the_truth_in_five_percent_of_the_audits(delta: float) -> None:
    """400 audits, looked at 20 times each; of a true ε of 1.013, which is on no grid. The twin's truth is .8."""
    truth, over, twin = 1.013, 0, 0
    for seed in range(AUDITS):
        rng = np.random.default_rng([seed, 16])
        coins = rng.random(2000) < 0.5
        told, kept = rng.random(2000) < delta, rng.random(2000) < sigmoid(truth)
        odds = np.where(coins == (told | kept), 1.0, -1.0) * np.where(told, 6.0, 1.2)
        process = PureBets(0.7) if delta == 0 else MixedBets(0.7, delta)
        bounds = []
        for k in range(0, 2000, 100):
            process.bet(odds[k : k + 100], coins[k : k + 100], math.inf)
            bounds.append(lower_bound(process, 0.05))
        over += max(bounds) > truth
        twin += max(bounds) > 0.8
    assert over <= 51  # more: once in a million, at α = .05
    assert delta > 0 or twin > 51
