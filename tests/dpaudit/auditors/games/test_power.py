"""What a game could have refuted: 80 % power where it says so, nothing without guesses, and how many runs would do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpaudit.auditors.games.guess_bounds import DISCOUNTED, PURE, Form, Guesses, bound
from dpaudit.auditors.games.power import detectable, times_as_many


@pytest.mark.parametrize(("delta", "form"), [(0.0, PURE), (1e-3, DISCOUNTED)])
def test_guesses_as_right_as_the_detectable_epsilon_allows_refute_in_80_percent_of_the_games(delta: float, form: Form) -> None:
    """20,000 games; 1.5 % is five standard errors. The twin is right as often as the claim allows."""
    g = Guesses(1500, 500, 4000, 2)
    least = detectable(g, 1.0, delta, 1e-3, form)
    assert least is not None
    assert 1.0 < least < 2.0

    def refuted(epsilon: float) -> float:
        right = np.random.default_rng(6).binomial(2000, 1 / (1 + math.exp(-epsilon)), size=20_000)
        values, counts = np.unique(right, return_counts=True)
        over = [bound(Guesses(int(v), 2000 - int(v), g.n, 2), 1e-3, delta, form) > 1.0 for v in values]
        return float(counts[over].sum() / 20_000)

    assert refuted(least) == pytest.approx(0.8, abs=0.03)
    assert refuted(least) >= 0.785
    assert refuted(1.0) < 0.003


def test_nothing_is_said_without_guesses() -> None:
    assert detectable(Guesses(0, 0, 1000, 2), 1.0, 0.0, 1e-6, PURE) is None
    assert detectable(Guesses(0, 0, 0, 2), 1.0, 1e-5, 1e-6, DISCOUNTED) is None


@pytest.mark.parametrize("claim", [0.0, 50.0, 1e17, 1e300])
def test_the_detectable_epsilon_ends_for_every_claim(claim: float) -> None:
    least = detectable(Guesses(500, 500, 1000, 2), claim, 0.0, 1e-6, PURE)
    assert (least is None) == (claim > 0)  # a thousand guesses refute no ε of 50, whatever the truth
    assert least is None or claim < least < 1


def test_so_many_times_the_runs_refute_and_fewer_do_not() -> None:
    g = Guesses(750, 250, 1000, 2)  # about ε = 1.1
    times = times_as_many(g, 1.0, 0.0, 1e-6, PURE)
    assert times is not None
    assert times > 1
    for factor, refutes in ((times * 1.01, True), (times * 0.9, False)):
        grown = Guesses(int(750 * factor), math.ceil(250 * factor), int(1000 * factor), 2)
        assert (bound(grown, 1e-6, 0.0, PURE) > 1.0) == refutes
    assert times_as_many(Guesses(700, 300, 1000, 2), 1.0, 0.0, 1e-6, PURE) is None  # about ε = .85: never
