"""Stated guarantees in an account: composed with everything else, never better than proven."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants import account, compose
from dpaudit.accountants.losses.parts import Known, Part
from dpaudit.accountants.stated_releases import StatedRead, stated_part
from dpaudit.claims import InvalidValue
from dpaudit.ledger import MemoryLedger, Release
from dpaudit.noise import written_forms

STEP = 2**20


def release(**fields: Any) -> Release:
    return Release.from_json(fields, forms=written_forms())


def test_a_law_that_is_stated_costs_what_its_mechanism_costs() -> None:
    """Randomised response as a law of the loss, in 30 digits, and as itself."""
    p = "0.622459331201854593766389785476"
    law = release(mechanism="discrete-loss", losses=[["1/2", p], ["-1/2", str(1 - Fraction(p))]], count=20)
    own = compose([Part(dp.RandomizedResponse("1/2"), 1, 20)], "1e-6")
    found = account([law], delta="1e-6", fixed=True)
    assert own.lower <= found.epsilon <= own.upper * (1 + Fraction(1, 10**9))


def test_rho_of_a_gaussian_is_never_better_than_the_gaussian() -> None:
    stated = account([{"mechanism": "zcdp", "rho": "1/32", "count": 10}], delta="1e-6", fixed=True)
    exact = compose([Part(dp.Gaussian(4), STEP, 10)], "1e-6")
    assert exact.upper < stated.epsilon < exact.upper * Fraction(11, 10)


def test_a_mixture_is_at_least_each_part_and_at_most_the_sum() -> None:
    rows: list[dict[str, Any]] = [
        {"mechanism": "gaussian", "sigma": "2", "sensitivity": "1", "sampling": "0.05", "count": 100},
        {"mechanism": "zcdp", "rho": "0.05"},
        {"mechanism": "known", "epsilon": "0.3", "delta": "1e-8", "count": 2},
        {"mechanism": "rdp", "curve": [["3", "0.1"], ["20", "0.9"]]},
    ]
    alone = [account([row], delta="1e-5", fixed=True).epsilon for row in rows]
    for fixed in (True, False):
        together = account(rows, delta="1e-5", fixed=fixed)
        assert together.delta == Fraction(1, 10**5)
        assert max(alone) < together.epsilon
    assert account(rows, delta="1e-5", fixed=True).epsilon < sum(alone)
    assert account(rows, delta="1e-5", fixed=True).epsilon <= together.epsilon


def test_without_a_delta_the_stated_ones_are_added() -> None:
    bound = account([{"mechanism": "known", "epsilon": "1", "delta": "1e-7", "count": 2}, {"mechanism": "zcdp", "rho": "0.1"}])
    assert bound.delta == Fraction(2, 10**7) + Fraction(1, 10**6)


def test_sampling_of_a_known_guarantee_is_amplified_and_everything_else_has_no_word_for_it() -> None:
    read = StatedRead.of(release(mechanism="known", epsilon="2", delta="1e-4", sampling="0.01"))
    assert read is not None
    part = read.part()
    assert isinstance(part, Known)
    assert float(part.epsilon) == pytest.approx(math.log1p(0.01 * math.expm1(2)))
    assert part.delta == Fraction(1, 10**6)


def test_a_ledger_holds_them_and_a_budget_keeps_them() -> None:
    ledger = MemoryLedger()
    ledger.limit(("2", "1e-5"), "zcdp")
    ledger.append(release(mechanism="zcdp", rho="0.05"))
    with pytest.raises(dp.BudgetExceeded):
        ledger.append(release(mechanism="zcdp", rho="0.1"))
    assert account(ledger).epsilon <= 2


def test_a_curve_has_no_rho_and_is_refused_by_a_budget_of_rho() -> None:
    ledger = MemoryLedger()
    ledger.limit(("2", "1e-5"), "zcdp")
    with pytest.raises(InvalidValue):
        ledger.append(release(mechanism="rdp", curve=[["2", "0.1"]]))


def test_a_part_keeps_its_count() -> None:
    read = StatedRead.of(release(mechanism="zcdp", rho="1", count=7))
    assert read is not None
    assert stated_part(read.guarantee, 7) == read.part()
