"""The chain of the regret proofs: the sum, its closed form, and the good event for every T."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import dpaudit as dp
from proofs_checks.linear_bandits.lemmas.central import printed_width
from proofs_checks.linear_bandits.lemmas.local import printed_width as printed_local
from proofs_checks.linear_bandits.repairs.widths import central_width, local_width
from proofs_checks.linear_bandits.theorems.regret.chain import STEPS, Budget, Shape, chain, closed, proven
from proofs_checks.linear_bandits.theorems.regret.first_batch import first_batch, for_all
from proofs_checks.linear_bandits.theorems.regret.good_event import exponents, from_horizon, slack
from proofs_checks.linear_bandits.theorems.regret.models import (
    DELTA,
    LOG_SQUARED,
    central_model,
    local_model,
    local_order,
    shuffled_epsilon0,
    shuffled_model,
    shuffled_order,
)
from proofs_checks.shared.laplace_tails import MP, log_tail

LINES = [Budget(0.01, 0.0), Budget(1.0, 0.5), Budget(1e6, 0.0)]
SHUFFLED = [Budget(x * math.sqrt(-math.log(float(DELTA))), 0.5) for x in (0.01, 8.0)]
MODELS = [
    (central_model(printed_width), LINES),
    (central_model(central_width), LINES),
    (local_model(printed_local, 1, local_order), LINES),
    (local_model(local_width, 2, local_order), LINES),
    (shuffled_model(local_width, 2, shuffled_order), SHUFFLED),
]


def test_the_chain_is_the_sum_written_out():
    horizon, d = 1e6, 2
    q = (2 * horizon) ** (1 / math.log(horizon))
    deep = math.log(4 * ((3 * horizon) ** d + d) * horizon**2)
    total, used, i, gamma = 1.0, 0.0, 1, math.inf
    while True:
        total += (q**i + 8) * min(2, 4 * gamma)
        used += q**i
        if used > horizon:
            break
        gamma, i = math.sqrt(8 * deep / q**i) + 3 / q**i, i + 1
    assert chain(horizon, d, lambda d, power, n, level: 3 / power) == pytest.approx(min(total, 2 * horizon), rel=1e-9)
    assert chain(horizon, d, lambda d, power, n, level: 3 / power) <= closed(horizon, d, Shape(v=3))


@pytest.mark.parametrize(("model", "lines"), MODELS)
def test_every_step_of_the_closed_form_holds_on_the_grid(model, lines):
    largest, fails = proven(model, lines, (1, 3, 20))
    assert fails == []
    assert tuple(largest) == STEPS


@pytest.mark.parametrize(("model", "lines"), MODELS)
def test_twin_a_planted_constant_or_shape_is_noticed(model, lines):
    smaller = dataclasses.replace(model, constant=lambda d: model.constant(d) / 4)
    assert proven(smaller, lines, (1,))[1] == ["closed form ≤ C(d)·order"]
    thinner = dataclasses.replace(model, shape=lambda *at: Shape(v=model.shape(*at).v / 100))
    assert "noise ≤ u, v, w" in proven(thinner, lines, (1,))[1]


def test_log_squared_is_below_its_multiple_of_the_root():
    logs = np.linspace(1, 60, 10_000)
    assert (logs**2 <= LOG_SQUARED * np.sqrt(np.exp(logs) * logs)).all()


@pytest.mark.parametrize("epsilon", ["1/100", "5"])
def test_the_inverse_of_f_is_that_of_the_accountant(epsilon):
    sizes = np.array([3.0, 1000.0, 297170.0])
    exact = [float(dp.invert(epsilon, int(n), DELTA, method="closed", digits=20).lower) for n in sizes]
    value = 5.0 if epsilon == "5" else 0.01
    assert shuffled_epsilon0(value, sizes, printed=True) == pytest.approx(exact, rel=1e-9)


def test_the_slack_of_the_good_event_is_the_least_there_is():
    found = minimize_scalar(lambda v: 1 - float(sum(exponents(v))), bounds=(0.2, 20), method="bounded")
    eta, where = slack()
    assert found.fun - 1e-3 < eta <= found.fun
    assert where == pytest.approx(found.x, rel=0.05)
    assert 5 * float(exponents(0.2)[0]) < -1 / 2  # the hand-made end: ψ(1/5)/5 < −1/10
    assert float(sum(exponents(20.0))) < 0.31


@pytest.mark.parametrize("n", [1, 5, 40])
def test_the_union_exponent_bounds_the_exact_tail(n):
    for level in (30.0, 100.0):
        assert float(log_tail(n, n + level)[0]) <= -level + level * float(exponents(level / n)[0])


def test_the_good_event_is_proven_for_the_printed_width_and_not_for_less():
    assert from_horizon(printed_width)[0]
    assert not from_horizon(lambda n, level: level)[0]


def test_batch_one_is_lost_at_least_as_often_as_the_closed_form_says():
    tenth = MP.mpf(1) / 10
    found = for_all(local_order, lambda horizon: (tenth, tenth), printed_local, 1)
    slope, rest = (MP.mpf(x) for x in ("4.18703", "0.843147"))
    assert found["log(P·T) ≥"] == f"log T − {slope}·√log(8T²) − {rest}"
    for decade in (17, 30, 100):
        horizon = MP.mpf(10) ** decade
        exact = MP.log(first_batch(horizon, tenth, printed_local, 1)[0] * horizon)
        assert exact >= MP.log(horizon) - slope * MP.sqrt(MP.log(8 * horizon**2)) - rest > 0
    assert for_all(local_order, lambda horizon: (tenth, tenth), local_width, 2) is None


def test_batch_one_loses_the_optimum_as_often_as_the_tail_says():
    """10^6 draws of batch 1 at ε0 = 10^-6 with a planted width of 2/ε0, not rare; five standard errors, error rate 10^-6."""
    chance, n, gamma = first_batch(MP.mpf(100), MP.mpf("1e-6"), lambda d, power, n, level: MP.mpf(2), 1)
    rng = np.random.default_rng(3)
    estimates = 0.5 + rng.laplace(scale=1e6, size=(10**6, n)).mean(axis=1)
    seen, expected = np.mean(estimates < -float(gamma)), float(chance)
    assert abs(seen - expected) < 5 * math.sqrt(expected / 10**6)
    assert seen > 50 / 10**6
