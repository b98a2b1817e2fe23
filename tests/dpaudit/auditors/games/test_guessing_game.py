"""Rules chosen on training runs: false alarms over many seeds, and power."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpaudit.auditors.games.candidates.scores import calibrate
from dpaudit.auditors.games.guess_bounds import DISCOUNTED, PURE, Form, Guesses, bound, forms
from dpaudit.auditors.games.guessing_game import Counted, Outcome, choose_rule, promise


def randomised_response(epsilon: float, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Bits kept with probability e^ε/(1+e^ε): on the boundary of pure ε for every run."""
    coins = rng.random(runs) < 0.5
    kept = rng.random(runs) < 1 / (1 + math.exp(-epsilon))
    return np.where(coins == kept, 1.0, -1.0), coins


def with_leak(epsilon: float, delta: float, runs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Randomised response that spells the data out with probability δ: on the boundary of (ε, δ)."""
    scores, coins = randomised_response(epsilon, runs, rng)
    told = rng.random(runs) < delta
    return np.where(told, np.where(coins, 5.0, -5.0), scores * (1 - delta)), coins


def play(scores: np.ndarray, coins: np.ndarray, delta: float, alpha: float, trained: int) -> Outcome:
    """The first ``trained`` runs choose a rule, the others count."""
    head, grow = scores[:trained], (len(scores) - trained) / trained
    intercept, slope = calibrate(head, coins[:trained])
    rule = choose_rule(head, intercept + slope * head, delta, grow, caution=2.0)
    guesses = rule.guesses(scores[trained:], coins[trained:])
    return Outcome((Counted(guesses, rule.form),), alpha, delta)


SEEDS = 400
LIMIT = int(stats.binom.isf(1e-6, SEEDS, 0.05))  # more false alarms than this: once in a million


@pytest.mark.parametrize(("true_epsilon", "alarms"), [(1.0, False), (1.2, True)])
def test_a_95_percent_bound_on_pure_noise_errs_in_five_percent_of_the_games(true_epsilon: float, alarms: bool) -> None:
    """400 independent games against a claim of 1; the twin has 20 % more ε and is caught in most of them."""
    over = 0
    for seed in range(SEEDS):
        scores, coins = randomised_response(true_epsilon, 4000, np.random.default_rng([seed, 11]))
        over += play(scores, coins, 0.0, 0.05, 800).epsilon > 1.0
    assert (over > SEEDS // 2) if alarms else (over <= LIMIT)


@pytest.mark.parametrize(("true_delta", "alarms"), [(0.05, False), (0.15, True)])
def test_a_95_percent_bound_at_a_delta_errs_in_five_percent_of_the_games(true_delta: float, alarms: bool) -> None:
    """The same on the boundary of (1, .05); the twin leaks three times as often."""
    over = 0
    for seed in range(SEEDS):
        scores, coins = with_leak(1.0, true_delta, 4000, np.random.default_rng([seed, 12]))
        over += play(scores, coins, 0.05, 0.05, 800).epsilon > 1.0
    assert (over > SEEDS // 2) if alarms else (over <= LIMIT)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_no_other_pair_of_thresholds_is_expected_to_do_much_better(delta: float) -> None:
    """Laplace log-odds are exact; every pair of 40 thresholds is tried, by counting expected guesses one by one."""
    rng = np.random.default_rng(8)
    coins = rng.random(3000) < 0.5
    outputs = coins + rng.laplace(size=3000)
    odds = np.round(np.abs(outputs) - np.abs(outputs - 1), 6)
    right = 1 / (1 + np.exp(-np.abs(odds)))

    def expected(low: float, high: float, form: Form) -> float:
        guessed = ((odds >= high) & (odds > 0)) | ((odds <= low) & (odds < 0))
        r = right[guessed].sum()
        sides = int(math.isfinite(low)) + int(math.isfinite(high))
        return bound(Guesses(r, guessed.sum() - r, 3000, sides), 0.05, delta, form)

    chosen = choose_rule(odds, odds, delta, 1.0)
    lows = [-math.inf, *np.linspace(-1, -0.05, 20)]
    highs = [math.inf, *np.linspace(0.05, 1, 20)]
    best = max(expected(low, high, form) for low, high in product(lows, highs) for form in forms(delta, fixed=True))
    assert expected(chosen.low, chosen.high, chosen.form) > best - 0.005 > 0.5


def test_a_threshold_that_was_lucky_in_training_is_not_preferred() -> None:
    """The three highest scores happen to belong to ones; nothing else tells the sides apart."""
    rng = np.random.default_rng(9)
    scores, coins = rng.normal(size=2000) / 100, rng.random(2000) < 0.5
    coins[np.argsort(scores)[-20:]] = True
    lucky = choose_rule(scores, np.where(coins, 3.0, -3.0), 0.0, 10.0)  # as if the coins were known
    intercept, slope = calibrate(scores, coins)
    chosen = choose_rule(scores, intercept + slope * scores, 0.0, 10.0)
    assert (scores >= lucky.high).sum() + (scores <= lucky.low).sum() < 40
    assert (scores >= chosen.high).sum() + (scores <= chosen.low).sum() > 200


def test_the_likelihood_game_comes_close_to_the_truth() -> None:
    rng = np.random.default_rng(3)
    coins = rng.random(200_000) < 0.5
    outputs = coins + rng.laplace(size=200_000)
    scores = np.abs(outputs) - np.abs(outputs - 1)
    assert 0.97 < play(scores, coins, 0.0, 0.05, 20_000).epsilon <= 1.0


def test_a_promise_is_about_the_bound_of_a_larger_game_and_less_sure_when_small() -> None:
    g, large = Guesses(700, 300, 2000, 2), Guesses(70_000, 30_000, 200_000, 2)
    error = math.sqrt(1 / 700 + 1 / 300)
    assert promise(g, 0.0, 100) == pytest.approx(bound(large, 0.05, 0.0, PURE) - 1.5 * error, abs=0.01)
    assert promise(Guesses(70, 30, 200, 2), 0.0, 1000) < promise(g, 0.0, 100) < promise(large, 0.0, 1)
    assert promise(g, 0.01, 100) < promise(g, 0.0, 100)
    assert promise(g, 0.9, 100) == -math.inf


def test_nested_rules_share_the_error_and_show_at_least_the_largest_bound() -> None:
    strong, weak = Guesses(90, 10, 1000, 2), Guesses(150, 50, 1000, 2)
    outcome = Outcome((Counted(strong, DISCOUNTED, 0.4), Counted(weak, DISCOUNTED, 0.6)), 0.05, 1e-3)
    assert bound(strong, 0.02, 1e-3, DISCOUNTED) < outcome.epsilon < bound(strong, 0.05, 1e-3, DISCOUNTED)
    assert outcome.guesses == outcome.strongest(0.05).guesses == strong
    assert outcome.at(1e-6) < outcome.at(0.01) < outcome.epsilon
