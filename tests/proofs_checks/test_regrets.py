"""Regret claims: the verdict as printed, and another one for a planted formula."""

from __future__ import annotations

import pytest

from proofs_checks.linear_bandits.theorems.regret.central_regret import expectation, optimality, regret
from proofs_checks.linear_bandits.theorems.regret.models import shuffled_order
from proofs_checks.linear_bandits.theorems.regret.report_regret import (
    CORRECT,
    intro,
    local_expectation,
    local_regret,
    remark_order,
    shuffled_regret,
)
from proofs_checks.linear_bandits.theorems.table1_peers import QUOTED, peers
from proofs_checks.shared.laplace_tails import MP

pytestmark = pytest.mark.slow

AS_PRINTED = [
    (regret, "conditional"),
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
    (regret, {"width": lambda n, level: (n + level) ** 5}, "conditional"),
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


def test_the_refutation_of_theorem_1_is_exact_and_holds_for_every_large_horizon():
    found = regret(True).evidence
    assert found["counterexample"]["P(R_T ≥ gap·T/2) ≥"].startswith("0.00035048268706249522692")
    assert all(row["P·T"] > 1 for row in found["near-parallel actions, exactly"])
    assert [row["T0"] for row in found["for every T ≥ T0, in closed form"]] == ["1e15", "1e26"]


@pytest.mark.parametrize("check", [regret, local_regret, shuffled_regret])
def test_a_verification_says_where_it_holds_and_what_it_leaves_out(check):
    found = check(True, **({"maximum": "active"} if check is regret else CORRECT)).evidence
    assert "every T ≥ 3" in found["range"]
    assert found["not covered"]


@pytest.mark.parametrize(
    "check", [(expectation, regret(True, maximum="active")), (local_expectation, local_regret(True, **CORRECT))]
)
def test_the_expectation_follows_from_a_bound_that_holds(check):
    assert check[0](True, premise=check[1]).verdict == "verified"
