"""The plan that is printed: only of releases that were the same, and only where declaring it would do."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.channel import Plan
from dpaudit.ledger import Release
from dpaudit.noise import GRID
from dpaudit.verdict.ready_plan import account_plan, epsilon_at, ready_plan

CLAIM = dp.Claim("1", "1e-5")


def release(name: str = "g", sigma: Any = 20, steps: int = 2**20, **more: Any) -> Release:
    noise = dp.Gaussian(sigma=sigma)
    facts = {"sensitivity": Fraction(1), "derived": Fraction(1), "steps": steps, **more}
    return Release(name=name, mechanism=noise.name, parameters=noise.parameters(), **facts)


def test_equal_releases_are_one_entry_and_cost_what_their_plan_does() -> None:
    runs = [[*[release()] * 20, release("last")]] * 3
    ready = ready_plan(runs, CLAIM)
    assert ready is not None
    assert [(entry.name, entry.count) for entry in ready.plan.entries] == [("g", 20), ("last", 1)]
    assert ready.epsilon == epsilon_at(account_plan(ready.plan, CLAIM), CLAIM) <= 1


@pytest.mark.parametrize(
    "other",
    [
        [release()] * 19,
        [release("h")] * 20,
        [release(sigma=21)] * 20,
        [replace(release(), sensitivity=Fraction(2))] * 20,
        [replace(release(), to="actions")] * 20,
    ],
)
def test_runs_that_differ_make_no_plan(other: list[Release]) -> None:
    assert ready_plan([[release()] * 20, other], CLAIM) is None
    assert ready_plan([[release()] * 20] * 2, CLAIM) is not None


@pytest.mark.parametrize("derived", [None, Fraction(2)])
def test_what_is_not_proven_as_declared_makes_no_plan(derived: Fraction | None) -> None:
    assert ready_plan([[replace(release(), derived=derived)] * 20], CLAIM) is None


def test_no_plan_is_offered_that_would_not_fit() -> None:
    assert ready_plan([[release()] * 20], dp.Claim("0.8", "1e-5")) is None  # exactly 0.8197
    assert ready_plan([[release()] * 20], dp.Claim("1")) is None  # no ε at δ = 0
    assert ready_plan([], CLAIM) is None


def test_what_rounding_adds_is_planned_for_and_the_plan_covers_it() -> None:
    ready = ready_plan([[release(steps=2**20 + 3)]], CLAIM)
    assert ready is not None
    (entry,) = ready.plan.entries
    assert (2**20 + 3) * GRID <= entry.sensitivity < 1 + Fraction(1, 10**5)


def test_cohorts_are_named_only_where_they_are_needed() -> None:
    def halves(sigma: Any) -> list[list[Release]]:
        return [[release(str(k), sigma, cohort=range(5 * k, 5 * k + 5)) for k in range(2)]]

    wide, narrow = ready_plan(halves(8), CLAIM), ready_plan(halves(5), CLAIM)
    assert wide is not None
    assert narrow is not None
    assert [entry.cohort for entry in wide.plan.entries] == [None, None]
    assert (wide.edits, "cohort=" in narrow.edits) == ("", True)
    assert "cohort=range(5, 10)" in narrow.plan.python_code()
    assert Plan.of(narrow.plan.entries) == narrow.plan
