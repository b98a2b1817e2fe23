"""Regret claims: the verdict as printed, and another one for a planted formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpaudit as dp
from proofs_checks.laplace_tails import MP
from proofs_checks.regret_central import expectation, near_parallel, optimality, regret
from proofs_checks.regret_chain import chain
from proofs_checks.regret_reports import (
    CORRECT,
    DELTA,
    first_batch,
    intro,
    local_expectation,
    local_regret,
    remark_order,
    shuffled_epsilon0,
    shuffled_order,
    shuffled_regret,
)
from proofs_checks.table1_peers import QUOTED, peers

AS_PRINTED = [
    (regret, "refuted"),
    (expectation, "conditional"),
    (optimality, "conditional"),
    (local_regret, "refuted"),
    (local_expectation, "conditional"),
    (remark_order, "refuted"),
    (shuffled_regret, "refuted"),
    (intro, "refuted"),
    (peers, "conditional"),
]


def often(horizon):
    return horizon**-0.25


PLANTED = [
    (regret, {"maximum": "active"}, "verified"),
    (regret, {"maximum": "active", "width": lambda n, level: (n + level) ** 5}, "conditional"),
    (expectation, {"failure": often}, "refuted"),
    (optimality, {"factor": lambda horizon: MP.sqrt(MP.log(horizon))}, "refuted"),
    (optimality, {"least_epsilon": lambda horizon: MP.log(horizon) / horizon}, "verified"),
    (local_regret, CORRECT, "verified"),
    (local_regret, {**CORRECT, "order": lambda horizon, epsilon0: MP.sqrt(horizon) / epsilon0}, "conditional"),
    (local_expectation, {"failure": often}, "refuted"),
    (remark_order, {"term": lambda horizon, epsilon0: MP.sqrt(horizon * MP.log(horizon)) / epsilon0}, "verified"),
    (shuffled_regret, CORRECT, "verified"),
    (intro, CORRECT, "conditional"),
    (intro, {**CORRECT, "order": shuffled_order}, "verified"),
    (peers, {"quoted": {**QUOTED, "Zheng et al. 2020": lambda horizon, epsilon: horizon**0.5 / epsilon}}, "refuted"),
    (peers, {"quoted": {name: lambda h, e: h * (1 + 1 / e) for name in QUOTED}}, "verified"),
]


@pytest.mark.parametrize(("check", "verdict"), AS_PRINTED)
def test_the_claim_as_printed(check, verdict):
    assert check(True).verdict == verdict


@pytest.mark.parametrize(("check", "planted", "verdict"), PLANTED)
def test_a_planted_formula_turns_the_verdict(check, planted, verdict):
    assert check(True, **planted).verdict == verdict


@pytest.mark.parametrize(
    "check", [(expectation, regret(True, maximum="active")), (local_expectation, local_regret(True, **CORRECT))]
)
def test_the_expectation_follows_from_a_bound_that_holds(check):
    assert check[0](True, premise=check[1]).verdict == "verified"


def test_batch_one_loses_the_optimum_as_often_as_the_tail_says():
    """10^6 draws of batch 1 at ε0 = 10^-6 with a planted width of 2/ε0, not rare; five standard errors, error rate 10^-6."""
    chance, n, gamma = first_batch(MP.mpf(100), MP.mpf("1e-6"), lambda d, power, n, level: MP.mpf(2), 1)
    rng = np.random.default_rng(3)
    estimates = 0.5 + rng.laplace(scale=1e6, size=(10**6, n)).mean(axis=1)
    seen, expected = np.mean(estimates < -float(gamma)), float(chance)
    assert abs(seen - expected) < 5 * math.sqrt(expected / 10**6)
    assert seen > 50 / 10**6


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


def test_the_inverse_of_f_is_that_of_the_accountant():
    sizes = np.array([3.0, 1000.0, 297170.0])
    exact = [float(dp.invert("1/100", int(n), DELTA, method="closed", digits=20).lower) for n in sizes]
    assert shuffled_epsilon0(0.01, sizes, printed=True) == pytest.approx(exact, rel=1e-9)


def test_near_parallel_actions_keep_their_optimum_when_only_active_ones_compete():
    assert near_parallel("active", 10**10, 1000)["regret > gap·T/2"] == 0
    assert near_parallel("all", 10**10, 1000)["regret > gap·T/2"] > 10
