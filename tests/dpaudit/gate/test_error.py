"""One error budget of 10^-6 for the whole gate, however many budgets it has."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.gate.check import share_of_error
from dpaudit.gate.results import ERROR
from dpaudit.verdict.audit import audit

PERSON = dp.replace_one(n=1, low=-1, high=1)


def respond(ratings: Any, rng: np.random.Generator, trials: int, epsilon: float) -> Any:
    """Randomised response on a person's sign: exactly ε."""
    true = rng.random(trials) < 1 / (1 + np.exp(-epsilon))
    return np.where(true, ratings.sum() > 0, ratings.sum() <= 0).astype(int)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PERSON)
def on_the_boundary(ratings: Any, rng: np.random.Generator, trials: int) -> Any:
    return respond(ratings, rng, trials, 1.0)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PERSON)
def beyond_it(ratings: Any, rng: np.random.Generator, trials: int) -> Any:
    """Its twin."""
    return respond(ratings, rng, trials, 1.5)


@pytest.mark.parametrize("budgets", [1, 2, 3, 7, 100, 12_345])
def test_the_shares_add_up_to_no_more_than_the_whole(budgets: int) -> None:
    share = Fraction(share_of_error(budgets))
    assert 0 < share * budgets <= ERROR
    assert share * budgets > ERROR * Fraction(999_999, 10**6)


def test_a_refutation_rests_on_the_share_it_was_given() -> None:
    share = share_of_error(50)
    verdict = audit(beyond_it, samples=5000, seed=3, error=share)
    assert verdict.verdict == "refuted"
    assert verdict.witness is not None
    assert verdict.witness["confidence"] == 1 - share
    whole = audit(beyond_it, samples=5000, seed=3)
    assert whole.witness is not None
    assert whole.witness["confidence"] == 1 - 1e-6
    assert whole.witness["epsilon"] > verdict.witness["epsilon"]  # the same runs, held to a higher standard


def test_an_audit_takes_no_larger_error_than_the_whole() -> None:
    for error in (0.0, 2e-6, -1.0):
        with pytest.raises(InvalidValue, match="error"):
            audit(beyond_it, samples=100, seed=1, error=error)


def test_an_honest_subject_on_the_boundary_does_not_flake() -> None:
    """100 audits at 10^-6 each: a refutation has probability at most 10^-4. At 95 % confidence, some would be refuted."""
    verdicts = [audit(on_the_boundary, samples=1000, seed=seed) for seed in range(100)]
    assert {str(verdict.verdict) for verdict in verdicts} == {"unproven"}
    assert any(verdict.lower.epsilon > 1 for verdict in verdicts)


def test_its_twin_is_refuted_every_time() -> None:
    assert {str(audit(beyond_it, samples=5000, seed=seed).verdict) for seed in range(10)} == {"refuted"}


def test_more_budgets_leave_less_for_each(gate: Callable[..., Any], budget: Callable[..., str]) -> None:
    opaque = budget("opaque", subject="mine.py:opaque", require="not-refuted", samples=1000)
    alone = gate(opaque)[1]["budgets"][0]
    among = gate(opaque + "".join(budget(f"missing{k}", ledger="missing.ledger") for k in range(3)))[1]["budgets"][0]
    assert alone["lower"] == among["lower"]
    assert among["detectable"] > alone["detectable"]
