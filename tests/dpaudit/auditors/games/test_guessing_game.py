"""The game's bounds: exact coverage by enumeration, false alarms over many seeds, and power."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpaudit.auditors.games.guessing_game import (
    Guesses,
    Outcome,
    bound,
    choose_rule,
    detectable,
    one_interval,
    promise,
    pure_bound,
    two_intervals,
)
from dpaudit.auditors.games.scores import calibrate


def tail(right: int, n: int, p: float) -> float:
    """P(Bin(n, p) ≥ right), summed term by term."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(right, n + 1))


@pytest.mark.parametrize("alpha", [0.05, 1e-3])
def test_the_pure_bound_is_the_epsilon_whose_tail_is_alpha(alpha: float) -> None:
    """Clopper–Pearson by its definition: the least ε at which so many right guesses have probability α."""
    for n in range(1, 13):
        for right in range(n + 1):
            epsilon = pure_bound(Guesses(right, n - right, 50, 2), alpha)
            probability = tail(right, n, 1 / (1 + math.exp(-epsilon)))
            assert probability >= alpha * (1 - 1e-9)
            assert epsilon == 0 or probability <= alpha * (1 + 1e-9)


Form = Callable[[Guesses], float]


def wrong_probability(form: Form, epsilon: float, delta: float, sides: int, wrong: float, n: int) -> float:
    """P(bound > ε) for a mechanism exactly on the boundary, over all outcomes of n runs."""
    right = math.exp(epsilon) * wrong + delta * sides / 2
    none = 1 - right - wrong
    assert none >= 0
    total = 0.0
    for r, w in product(range(n + 1), repeat=2):
        if r + w <= n and form(Guesses(r, w, n, sides)) > epsilon + 1e-9:
            ways = math.comb(n, r) * math.comb(n - r, w)
            total += ways * right**r * wrong**w * none ** (n - r - w)
    return total


BOUNDARIES = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.3), (0.5, 0.2), (1.0, 0.1), (0.2, 0.05)]


@pytest.mark.parametrize(("epsilon", "delta"), BOUNDARIES)
@pytest.mark.parametrize("form", ["one interval", "two intervals"])
def test_a_mechanism_on_the_boundary_is_bounded_above_it_with_probability_alpha_at_most(
    epsilon: float, delta: float, form: str
) -> None:
    """Exact enumeration, no sampling. The twin takes the plain estimate for a bound and must fail."""
    alpha, n = 0.1, 14
    for sides, wrong in product((1, 2), (0.02, 0.1, 0.2)):
        if math.exp(epsilon) * wrong + wrong + delta * sides / 2 > 1:
            continue
        assert wrong_probability(lambda g: bound(g, alpha, delta, form), epsilon, delta, sides, wrong, n) <= alpha

    def estimate(g: Guesses) -> float:
        surplus = g.right / g.n - delta * g.sides / 2
        return 0.0 if surplus <= 0 else math.log(surplus / max(g.wrong / g.n, 1e-9))

    assert wrong_probability(estimate, epsilon, delta, 2, 0.1, n) > alpha


def test_each_form_is_zero_without_right_guesses_and_grows_with_them() -> None:
    for form in (lambda g: pure_bound(g, 0.05), lambda g: two_intervals(g, 0.05, 1e-3), lambda g: one_interval(g, 0.05, 1e-3)):
        assert form(Guesses(0, 10, 100, 2)) == 0
        values = [form(Guesses(right, 20, 1000, 2)) for right in (20, 50, 100, 400)]
        assert values == sorted(values)
        assert values[-1] > 1


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
    return Outcome(bound(guesses, alpha, delta, rule.form), guesses, rule, delta)


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

    def expected(low: float, high: float, form: str) -> float:
        guessed = ((odds >= high) & (odds > 0)) | ((odds <= low) & (odds < 0))
        r = right[guessed].sum()
        sides = int(math.isfinite(low)) + int(math.isfinite(high))
        return bound(Guesses(r, guessed.sum() - r, 3000, sides), 0.05, delta, form)

    chosen = choose_rule(odds, odds, delta, 1.0)
    lows = [-math.inf, *np.linspace(-1, -0.05, 20)]
    highs = [math.inf, *np.linspace(0.05, 1, 20)]
    forms = ("pure",) if delta == 0 else ("one interval", "two intervals")
    best = max(expected(low, high, form) for low, high in product(lows, highs) for form in forms)
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
    assert promise(g, 0.0, 100) == pytest.approx(pure_bound(large, 0.05) - 1.5 * error, abs=0.01)
    assert promise(Guesses(70, 30, 200, 2), 0.0, 1000) < promise(g, 0.0, 100) < promise(large, 0.0, 1)
    assert promise(g, 0.01, 100) < promise(g, 0.0, 100)
    assert promise(g, 0.9, 100) == -math.inf


def test_the_detectable_epsilon_is_refuted_in_about_80_percent_of_the_games_and_the_claim_hardly_ever() -> None:
    """300 games at the stated ε; within six standard errors (2.3 %) of 80 %, minus what choosing the rule costs."""
    scores, coins = randomised_response(1.0, 4000, np.random.default_rng(6))
    outcome = play(scores, coins, 0.0, 0.05, 800)
    least = detectable(outcome.guesses, 1.0, 0.0, 1e-3)

    def refuted(epsilon: float) -> float:
        games = (randomised_response(epsilon, 4000, np.random.default_rng([seed, 14])) for seed in range(300))
        return sum(play(s, c, 0.0, 1e-3, 800).epsilon > 1.0 for s, c in games) / 300

    assert 1.0 < least < 1.5
    assert 0.6 < refuted(least) < 0.95
    assert refuted(1.0) < 0.02


@pytest.mark.parametrize("claim", [0.0, 50.0, 1e17, 1e300])
def test_the_detectable_epsilon_ends_for_every_claim(claim: float) -> None:
    least = detectable(Guesses(500, 500, 1000, 2), claim, 0.0, 1e-6)
    assert (least is None) == (claim > 0)  # a thousand guesses refute no ε of 50, whatever the truth
    assert least is None or claim < least < 1
