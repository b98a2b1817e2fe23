"""Tallies of scores: chunk by chunk as at once, exact in the tails, bounded in memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dpaudit.auditors.games import score_tally
from dpaudit.auditors.games.score_tally import Groups, Tally, bin_edges
from dpaudit.auditors.games.threshold_grid import FractionRule, choose_plan, fraction_grid, hedged


def chunks(scores: np.ndarray, coins: np.ndarray, edges: np.ndarray, size: int) -> Tally:
    parts = [slice(k, k + size) for k in range(0, len(scores), size)]
    tallies = [Tally.of(scores[part][coins[part]], scores[part][~coins[part]], edges) for part in parts]
    total = tallies[0]
    for tally in tallies[1:]:
        total = total.plus(tally)
    return total


@pytest.mark.parametrize("digits", [6, 0])
def test_tails_are_exact_and_nothing_is_lost_between(monkeypatch: pytest.MonkeyPatch, digits: int) -> None:
    """With 300 runs kept at each end; ``digits=0`` has a few scores only, with many ties."""
    monkeypatch.setattr(score_tally, "TAIL", 300)
    rng = np.random.default_rng(1)
    coins = rng.random(20_000) < 0.5
    scores = np.round(rng.normal(size=20_000) + coins, digits)
    edges = bin_edges(np.round(rng.normal(size=3000) + 0.5, digits))
    tally = chunks(scores, coins, edges, 700)
    groups, exact = tally.groups(), Groups.of(scores, coins)
    assert groups.runs == exact.runs == 20_000
    assert (groups.ones.sum(), groups.zeros.sum()) == (exact.ones.sum(), exact.zeros.sum())
    assert len(tally.low[0]) == len(tally.high[0]) == 300
    if digits:
        assert groups.ones[:200].tolist() == exact.ones[:200].tolist()
        assert groups.zeros[-200:].tolist() == exact.zeros[-200:].tolist()
        assert len(groups.ones) < 3000
    else:
        assert groups.ones.tolist() == exact.ones.tolist()


def test_few_runs_are_all_kept() -> None:
    rng = np.random.default_rng(2)
    scores, coins = rng.normal(size=500), rng.random(500) < 0.5
    groups, exact = chunks(scores, coins, bin_edges(rng.normal(size=100)), 70).groups(), Groups.of(scores, coins)
    assert groups.ones.tolist() == exact.ones.tolist()
    assert groups.zeros.tolist() == exact.zeros.tolist()


def test_a_plan_counts_as_guessing_one_by_one_does() -> None:
    rng = np.random.default_rng(3)
    coins = rng.random(8000) < 0.5
    scores = np.round(rng.laplace(size=8000) + 2 * coins, 1)
    train = [Groups.of(scores[k : k + 1000], coins[k : k + 1000]) for k in (0, 1000)]
    plan = hedged(choose_plan(train, 0.0, 3.0))
    test, sides = scores[2000:], coins[2000:]
    rules = sorted(plan.rules, key=lambda rule: (rule.high, rule.low))
    for rule, counted in zip(rules, plan.count(Groups.of(test, sides)), strict=True):
        ranked = np.sort(test)
        high = ranked[-round(plan.fractions[rule.high] * 6000)] if rule.high else np.inf
        low = ranked[round(plan.fractions[rule.low] * 6000) - 1] if rule.low else -np.inf
        up = test >= high
        down = (test <= low) & ~up
        assert counted.guesses.right == (up & sides).sum() + (down & ~sides).sum()
        assert counted.guesses.wrong == (up & ~sides).sum() + (down & sides).sum()
    assert sum(rule.share for rule in plan.rules) == pytest.approx(1.0)


def test_a_run_among_the_highest_and_the_lowest_is_guessed_once() -> None:
    groups = Groups(np.array([3, 4]), np.array([2, 1]))
    plan = choose_plan([groups], 0.0, 1.0)
    both = plan.__class__(plan.fractions, (FractionRule(22, 22, plan.rules[0].form),), 0.0, plan.seen, plan.grid)
    guesses = both.count(groups)[0].guesses
    assert guesses.right + guesses.wrong <= groups.runs
    one = both.count(Groups(np.array([6]), np.array([4])))[0].guesses
    assert (one.right, one.wrong) == (6, 4)


def test_guesses_of_a_later_rule_hold_those_of_an_earlier_one_even_where_both_sides_meet() -> None:
    rng = np.random.default_rng(5)
    coins = rng.random(60) < 0.5
    groups = Groups.of(rng.integers(0, 6, 60) * 1.0, coins)
    plan = choose_plan([groups], 0.0, 1.0)
    rules = tuple(FractionRule(place, place, plan.rules[0].form, 0.25) for place in (22, 4, 14, 18))
    counts = [one.guesses for one in replace(plan, rules=rules).count(groups)]
    for before, after in pairwise(counts):
        assert (before.right <= after.right, before.wrong <= after.wrong) == (True, True)
    assert counts[-1].right + counts[-1].wrong == 60


def test_fractions_go_from_a_dozen_runs_to_half_of_them() -> None:
    grid = fraction_grid(160_000)
    assert (grid[0], grid[-1]) == (0.0, pytest.approx(0.5))
    assert grid[1] * 160_000 == pytest.approx(12)
    assert (np.diff(fraction_grid(10)) >= 0).all()


def test_luck_in_the_tail_of_training_is_not_promised() -> None:
    """Scores that say nothing: of 40 plans, none promises more than .15. The twin's scores say something."""
    promises = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 4])
        coins = rng.random(4000) < 0.5
        promises.append(choose_plan([Groups.of(rng.normal(size=4000), coins)], 0.0, 4.0).promise)
    assert max(promises) < 0.15
    scores = rng.normal(size=4000) + coins
    assert choose_plan([Groups.of(scores, coins)], 0.0, 4.0).promise > 1
