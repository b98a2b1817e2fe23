"""Calibrated reports keep the claim of their batch, and slightly louder ones do not."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpaudit.accountants import account_releases
from dpaudit.accountants.calibration.least_report_noise import calibrate_shuffled
from dpaudit.accountants.shuffle.amplification import amplify
from dpaudit.accountants.shuffle.closed_form import domain
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Release
from dpaudit.noise import GRID

STEPS = int(2 / GRID)  # rewards in [-1, 1]
MILLIONTH = Fraction(1, 10**6)


@pytest.mark.parametrize(("epsilon", "n"), [("1", 10_000), ("0.1", 1_000_000), ("1", 300)])
def test_the_best_rule_for_laplace_reports_is_their_blanket(epsilon: str, n: int) -> None:
    claim = Fraction(epsilon)
    found = calibrate_shuffled(claim, MILLIONTH, n)
    assert found.rule.method == "laplace"
    local = found.rule.noise.epsilon(STEPS) or Fraction(0)
    assert amplify(local, n, MILLIONTH, "laplace").upper <= claim
    assert found.gives.lower <= found.gives.upper <= claim
    assert amplify(local * Fraction(101, 100), n, MILLIONTH, "laplace").upper > claim
    assert found.others[0].method == "same"
    assert [rule.value for rule in found.others] == sorted(rule.value for rule in found.others)


@pytest.mark.parametrize("method", ["clone", "closed"])
def test_a_named_theorem_is_used_inside_its_domain(method: str) -> None:
    found = calibrate_shuffled("1", MILLIONTH, 10_000, mechanism="randomized-response", method=method)
    local = found.rule.value
    assert (
        amplify(local, 10_000, MILLIONTH, method).upper
        <= 1
        < amplify(local * (1 + 10 * MILLIONTH), 10_000, MILLIONTH, method).upper
    )
    limit = domain(10_000, MILLIONTH)
    assert method == "clone" or (limit is not None and local <= limit[1])


def test_few_reports_get_no_amplification_and_the_rule_says_so() -> None:
    found = calibrate_shuffled("1", MILLIONTH, 2, method="closed")
    assert (found.rule.method, found.rule.value) == ("none", 2)
    assert found.gives.upper == 1


def test_the_claim_of_one_rule_does_not_hold_for_another() -> None:
    """The twin: ε0 of the Laplace blanket, held against the bound for any randomiser, exceeds the claim."""
    local = calibrate_shuffled("1", MILLIONTH, 10_000).rule.noise.epsilon(STEPS) or Fraction(0)
    assert amplify(local, 10_000, MILLIONTH, "clone").upper > Fraction(11, 10)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mechanism": "gaussian"}, "mechanism"),
        ({"method": "stronger-clone"}, "method"),
        ({"mechanism": "randomized-response", "method": "laplace"}, "method"),
        ({"spread": 0}, "range"),
    ],
)
def test_what_cannot_be_shuffled_is_refused_by_name(given: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        calibrate_shuffled("1", MILLIONTH, 100, **given)  # type: ignore[arg-type]
    assert caught.value.name == named
    with pytest.raises(InvalidValue, match="delta"):
        calibrate_shuffled("1", 0, 100)


@pytest.mark.parametrize("mechanism", ["laplace", "randomized-response"])
def test_the_account_of_a_batch_calibrated_by_clones_is_within_the_claim(mechanism: str) -> None:
    noise = calibrate_shuffled("1", MILLIONTH, 10_000, mechanism=mechanism, method="clone").rule.noise
    batch = Release(
        name="batch", mechanism=mechanism, parameters=noise.parameters(), sensitivity=2 if mechanism == "laplace" else 1,
        kind="shuffled", n=10_000, to="shuffled", cohort=range(10_000),
    )  # fmt: skip
    assert Fraction(1, 2) < account_releases([batch], MILLIONTH).epsilon <= 1
