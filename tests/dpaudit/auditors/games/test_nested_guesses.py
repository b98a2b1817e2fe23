"""Bounds from nested rules: exact coverage by enumeration, never below the union bound, and a twin that shares nothing."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.auditors.games import nested_guesses
from dpaudit.auditors.games.guess_bounds import DISCOUNTED_EVENLY, PURE, Guesses, bound
from dpaudit.auditors.games.nested_guesses import chance_of_any, nested_bound

RINGS = (4, 3, 6)  # guesses that each rule adds to those before it
SHARES = (0.2, 0.5, 0.3)
N = sum(RINGS)


def guesses(wrong: tuple[int, ...]) -> list[Guesses]:
    """Of the three rules, with so many wrong ones in each ring."""
    answered, mistakes = np.cumsum(RINGS), np.cumsum(wrong)
    return [Guesses(int(r - w), int(w), N, 2) for r, w in zip(answered, mistakes, strict=True)]


def flagged(bounded: dict[tuple[int, ...], float], epsilon: float, right: float) -> float:
    """P(bound > ε), all guesses right with this probability."""
    chance = [binom.pmf(np.arange(size + 1), size, 1 - right) for size in RINGS]
    return sum(
        math.prod(chance[ring][count] for ring, count in enumerate(wrong)) for wrong, told in bounded.items() if told > epsilon
    )


EVERY = list(product(*(range(size + 1) for size in RINGS)))


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_mechanism_on_the_boundary_is_flagged_with_probability_alpha_at_most(alpha: float) -> None:
    """Every outcome enumerated. The twin takes the largest of three bounds without sharing α, and errs more often."""
    together = {wrong: nested_bound(guesses(wrong), SHARES, alpha, 0.0, PURE) for wrong in EVERY}
    alone = {wrong: max(bound(g, alpha, 0.0, PURE) for g in guesses(wrong)) for wrong in EVERY}
    chances = [(epsilon, 1 / (1 + math.exp(-epsilon))) for epsilon in np.linspace(0.05, 3.0, 60)]
    errors = [flagged(together, *both) for both in chances]
    assert max(errors) <= alpha * (1 + 1e-12)
    assert max(errors) > 0.9 * alpha
    assert max(flagged(alone, *both) for both in chances) > 1.15 * alpha


@pytest.mark.parametrize("delta", [0.02, 0.2])
def test_what_delta_gives_away_is_not_flagged_either(delta: float) -> None:
    """Bits are spelt out with probability δ, else told by randomised response. The twin knows of no δ."""
    together = {wrong: nested_bound(guesses(wrong), SHARES, 0.2, delta, DISCOUNTED_EVENLY) for wrong in EVERY}
    pure = {wrong: nested_bound(guesses(wrong), SHARES, 0.2, 0.0, PURE) for wrong in EVERY}
    chances = [(epsilon, delta + (1 - delta) / (1 + math.exp(-epsilon))) for epsilon in np.linspace(0.05, 3.0, 60)]
    assert max(flagged(together, *both) for both in chances) <= 0.2
    assert max(flagged(pure, *both) for both in chances) > 0.2


def test_it_is_never_below_the_largest_of_the_bounds_that_share_alpha() -> None:
    gains = []
    for wrong in EVERY:
        union = max(bound(g, 0.05 * share, 0.0, PURE) for g, share in zip(guesses(wrong), SHARES, strict=True))
        gains.append(nested_bound(guesses(wrong), SHARES, 0.05, 0.0, PURE) - union)
    assert min(gains) >= 0
    assert max(gains) > 0.1


def test_the_chance_of_any_is_that_of_all_outcomes_that_hold_one() -> None:
    """And an upper bound of it where counts are large."""
    answered, most = np.cumsum(RINGS), np.array([0, 1, 4])
    chance = [binom.pmf(np.arange(size + 1), size, 1 / (1 + math.e)) for size in RINGS]
    exact = sum(
        math.prod(chance[ring][count] for ring, count in enumerate(wrong)) for wrong in EVERY if (np.cumsum(wrong) <= most).any()
    )
    assert chance_of_any(answered, most, 1.0) == pytest.approx(exact, rel=1e-12)


def test_rules_with_many_wrong_guesses_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Guesses(300, 20, 2000, 2), Guesses(800, 90, 2000, 2), Guesses(1300, 350, 2000, 2)]
    together = nested_bound(many, SHARES, 0.05, 0.0, PURE)
    monkeypatch.setattr(nested_guesses, "MOST_WRONG", 50)
    added = nested_bound(many, SHARES, 0.05, 0.0, PURE)
    union = max(bound(g, 0.05 * share, 0.0, PURE) for g, share in zip(many, SHARES, strict=True))
    assert union <= added < together < union + 0.2


def test_one_rule_alone_is_as_it_was_and_nothing_is_shown_by_nothing() -> None:
    g = Guesses(500, 7, 2000, 1)
    assert nested_bound([g], [1.0], 0.05, 0.0, PURE) == pytest.approx(bound(g, 0.05, 0.0, PURE), abs=1e-7)
    assert nested_bound([Guesses(0, 0, 0, 1)] * 2, [0.5, 0.5], 0.05, 0.0, PURE) == 0
    assert nested_bound([Guesses(5, 5, 10, 2), Guesses(9, 9, 20, 2)], [0.5, 0.5], 0.05, 0.01, DISCOUNTED_EVENLY) == 0
