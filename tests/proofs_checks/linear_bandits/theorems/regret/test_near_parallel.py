"""Near-parallel actions: exact sums against enumeration, floats, the closed form and the loop itself."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from proofs_checks.linear_bandits.lemmas.central import printed_width
from proofs_checks.linear_bandits.theorems.regret.near_parallel import (
    GAP_A,
    GAP_E2,
    MEANS,
    THETA,
    C,
    S,
    Window,
    _ceiling,
    batch,
    chance,
    chance_at_most,
    departure,
    error_tail,
    loss,
    loss_at_most,
    pulls,
    reach_for,
)
from proofs_checks.linear_bandits.theorems.regret.near_parallel_runs import against_exact, interval, runs
from proofs_checks.linear_bandits.theorems.regret.near_parallel_tail import rate
from proofs_checks.shared.laplace_tails import MP

HUNDRED, ONE, MILLION = Fraction(100), Fraction(1), MP.mpf(10) ** 6


def kept(x: int, y: int, n: int, gamma: Fraction, noises: tuple[Fraction, Fraction], maximum: str) -> set[str]:
    """The printed line, with least squares written out: V = n·diag(2c², 2s²)."""
    total_a, total_b = 2 * x - n + noises[0], 2 * y - n + noises[1]
    estimate = (total_a + total_b) * C / (2 * C**2 * n), (total_a - total_b) * S / (2 * S**2 * n)
    values = {"a": C * estimate[0] + S * estimate[1], "b": C * estimate[0] - S * estimate[1], "e_2": estimate[1]}
    rivals = values if maximum == "all" else {name: values[name] for name in "ab"}
    return {name for name in "ab" if values[name] >= max(rivals.values()) - 2 * gamma}


@pytest.mark.parametrize(("maximum", "apart"), [("all", range(-2, 12)), ("active", range(74, 90))])
def test_the_window_is_what_the_printed_line_keeps_for_every_small_noise(maximum, apart):
    n, gamma, reach = 201, Fraction(2, 5), Fraction(1, 100)
    corners = list(product((-reach, reach), repeat=2))
    inner = Window(n, gamma, gamma, reach, maximum).lines()
    outer = Window(n, gamma, gamma, -reach, maximum).lines()
    found = 0
    for x, y in ((x, x - k) for x in range(n + 1) for k in apart if 0 <= x - k <= n):
        always = all(kept(x, y, n, gamma, noises, maximum) == {"a"} for noises in corners)  # conditions are linear in the noises
        ever = any(kept(x, y, n, gamma, noises, maximum) == {"a"} for noises in corners)
        assert always == (_ceiling(inner[0], x) <= y < _ceiling(inner[1], x))
        if ever:
            assert _ceiling(outer[0], x) <= y < _ceiling(outer[1], x)
        found += always
    assert found > 10


def test_the_exact_sum_agrees_with_floats():
    low, n = chance(MILLION, HUNDRED, 8, "all", printed_width)
    gamma, z, s = float(batch(MILLION, HUNDRED, 8, 2, printed_width).gamma), float(reach_for(HUNDRED)), float(S)
    x = np.arange(n + 1)
    big = 2 * x - n
    last = np.ceil(((big / (2 * s) - 2 * gamma * n - z * (1 + 1 / s)) / (1 + 1 / (2 * s)) + n) / 2) - 1
    first = np.ceil((big * (1 - 2 * s) - 2 * s * (2 * gamma * n - z * (1 / s - 1)) + n) / 2)
    p, r = (float((1 + mean) / 2) for mean in MEANS[:2])
    inside = np.where(last >= first, binom.cdf(last, n, r) - binom.cdf(first - 1, n, r), 0.0)
    whole = float((binom.pmf(x, n, p) * inside).sum()) * (1 - math.exp(-10)) ** 2
    assert float(low) == pytest.approx(whole, rel=1e-9)
    assert float(low) <= whole * (1 + 1e-12)
    assert low < chance_at_most(MILLION, HUNDRED, 8, "all", printed_width)


def test_the_bound_refutes_one_over_t_as_printed_and_not_with_the_other_maximum():
    for decade in (6, 12, 60):
        horizon = MP.mpf(10) ** decade
        for epsilon in (HUNDRED, ONE):
            printed, active = (loss(horizon, epsilon, maximum, printed_width) for maximum in ("all", "active"))
            assert printed.least * horizon > 1
            assert active.least * horizon < 1
        assert loss_at_most(horizon, printed_width) * horizon < 1


def test_the_closed_form_is_below_the_exact_bound_from_its_first_horizon_on():
    for epsilon in (HUNDRED, ONE):
        found = rate(epsilon, "all", printed_width)
        assert found.kappa < 1
        for decade in (found.decade, found.decade + 1, 50, 137):
            log = decade * MP.log(10)
            exact = loss(MP.mpf(10) ** decade, epsilon, "all", printed_width).least
            assert -log < found.log_least(log) < MP.log(exact)


def test_twin_no_closed_form_for_the_maximum_over_the_good_set():
    assert rate(HUNDRED, "active", printed_width) is None


def test_a_binomial_coefficient_is_at_least_what_the_closed_form_takes():
    for n in range(2, 80):
        for k in range(1, n):
            share = k / n
            entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
            assert math.comb(n, k) >= math.exp(n * entropy) / math.sqrt(8 * k * (1 - share)) * (1 - 1e-12)


def test_errors_exceed_a_share_of_the_width_no_more_often_than_bounded():
    """2·10^5 draws of batch 5 at T = 10^6, ε = 100, C = {a, e_2}; Clopper–Pearson, error rate 10^-6."""
    rng, trials, share = np.random.default_rng(11), 200_000, 0.28
    now, actions = batch(MILLION, HUNDRED, 5, 3, printed_width), np.array([[C, S], [C, -S], [0, 1]], dtype=float)
    n, theta = pulls(now.power), np.array([0.1, -0.8])
    core = actions[[0, 2]]
    sums = 2 * rng.binomial(n, (1 + core @ theta) / 2, (trials, 2)) - n + rng.laplace(scale=0.01, size=(trials, 2))
    errors = np.abs(sums @ core @ np.linalg.inv(n * core.T @ core) @ actions.T - actions @ theta).max(axis=1)
    seen = int((errors > share * float(now.gamma)).sum())
    bound = float(error_tail(MP.mpf(share), now.level, printed_width))
    assert interval(seen, trials)[0] <= bound < 1
    assert interval(seen, trials)[0] > float(error_tail(MP.mpf(2 * share), now.level, printed_width))  # a planted bound fails


def test_e_2_leaves_the_loop_in_the_batches_stated():
    """20,000 runs at T = 10^6, ε = 100: {a, b} begins in batch 7, 8 or 9, but for P(else) < 1/5000; error rate 10^-6, seed 5."""
    leaving, risk = departure(MILLION, HUNDRED, printed_width)
    begun = runs(10**6, HUNDRED, "active", 20_000)
    first = {index: int(outcome.sum()) for index, outcome in begun.items()}
    assert min(first) >= leaving[0] + 1
    outside = 20_000 - first[leaving[-1] + 1]
    assert interval(outside, 20_000)[0] <= float(risk) < 1 / 5000


def test_the_loop_loses_the_optimum_as_often_as_the_exact_sums_say():
    """Error rate 10^-6 for each interval, seed 5; the share of one batch does not fit the sums of the next."""
    rows = against_exact(10**6, HUNDRED, "all", printed_width, 50_000)
    assert [row["agree"] for row in rows] == ["yes"] * 4
    assert rows[-1]["share of {a} from"] > rows[-1]["exact from"]
    assert rows[0]["share of {a} from"] > rows[1]["exact to"]
    assert all(row["then {a}"] == 0 for row in against_exact(10**6, HUNDRED, "active", printed_width, 20_000))


def test_short_horizons_and_huge_widths_give_no_bound_instead_of_a_wrong_one():
    assert loss(MP.mpf(100), HUNDRED, "all", printed_width) is None
    assert loss(MILLION, ONE, "all", lambda n, level: (n + level) ** 5) is None
    assert loss(MP.mpf(10) ** 40, ONE, "all", lambda n, level: (n + level) ** 5) is None


def test_the_instance_meets_the_assumptions():
    assert C**2 + S**2 == 1
    assert THETA[0] ** 2 + THETA[1] ** 2 < 1
    assert Fraction(8, 5) * S == GAP_A
    assert GAP_E2 > GAP_A > 0
