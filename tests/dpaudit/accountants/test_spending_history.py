"""The timeline of a ledger: every step is what the account of that many releases proves."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.accountants import account
from dpaudit.accountants.spending_history import COMPOSED, STEPS, spending
from dpaudit.ledger import Charge, Cohort, Release


def laplace(place: int, scale: int, cohort: object = None) -> Release:
    return Release(f"batch {place}", "laplace", Fraction(1), {"scale": str(scale)}, cohort=Cohort.of(cohort))


def gaussian(place: int, sigma: int, cohort: object = None) -> Release:
    return Release(f"batch {place}", "gaussian", Fraction(1), {"sigma": str(sigma)}, cohort=Cohort.of(cohort))


def random_releases(seed: int, count: int) -> list[Release]:
    draw = random.Random(seed)
    found = []
    for place in range(count):
        start = draw.randrange(30)
        cohort = None if draw.random() < 0.2 else range(start, start + draw.randrange(1, 12))
        found.append(draw.choice([laplace, gaussian])(place, draw.randrange(5, 40), cohort))
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("fixed", [False, True])
def test_every_step_is_the_account_of_the_releases_up_to_it(seed: int, fixed: bool) -> None:
    releases = random_releases(seed, 12)
    found = spending(releases, account(releases, delta="1e-6", fixed=fixed), delta="1e-6", fixed=fixed)
    assert [(step.first, step.last) for step in found.steps] == [(k, k) for k in range(1, 13)]
    for step in found.steps:
        bound = account(releases[: step.last], delta="1e-6", fixed=fixed)
        assert bound.epsilon <= step.after
        assert step.after == pytest.approx(float(bound.epsilon), rel=1e-12)
        assert step.most == pytest.approx(float(bound.lines[-1].epsilon), rel=1e-12)


def test_pure_steps_are_the_same_sums_as_the_account() -> None:
    releases = [laplace(k, 3 + k % 5, None if k % 4 == 0 else range(k, 2 * k)) for k in range(40)]
    found = spending(releases, account(releases))
    for step in found.steps:
        exact = account(releases[: step.last]).epsilon
        assert exact <= step.after
        assert step.after == pytest.approx(float(exact), rel=1e-12)


def test_a_long_ledger_has_few_steps_that_leave_nothing_out() -> None:
    releases = [laplace(k, 7 if k == 517 else 100) for k in range(1001)]
    pure = spending(releases, account(releases)).steps
    composed = spending(releases, account(releases, delta="1e-6"), delta="1e-6").steps
    for steps, most in ((pure, STEPS), (composed, COMPOSED)):
        assert len(steps) <= most
        assert steps[0].first == 1
        assert steps[-1].last == 1001
        assert all(before.last + 1 == after.first for before, after in pairwise(steps))
        assert [step.most > 0.1 for step in steps].count(True) == 1
    assert pure[-1].names[1] == "batch 1000"


def test_a_step_never_falls_where_a_later_bound_is_less() -> None:
    """A limit makes the account look for the last thousandth, which the steps before it were not asked for."""
    releases = [gaussian(k, 30) for k in range(6)]
    bound = account(releases, delta="1e-6")
    less = replace(bound, epsilon=account(releases[:3], delta="1e-6").epsilon)
    after = [step.after for step in spending(releases, less, delta="1e-6").steps]
    assert after == sorted(after)
    assert after[3:] == after[2:3] * 3


def test_a_charge_without_a_release_is_spent_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "crashed.ledger"
    with dp.open_ledger(path) as ledger:
        ledger.charge(Charge(Fraction(1, 2), name="lost"))
        ledger.append(laplace(1, 4))
    bound = account(path)
    step = spending(path, bound).steps[0]
    assert step.after == float(bound.epsilon) == 0.75
    assert step.most == 0.25


def test_a_ledger_without_releases_has_no_steps() -> None:
    assert spending([], account([])).steps == []
    assert spending([], account([], delta="1e-6"), delta="1e-6").steps == []
