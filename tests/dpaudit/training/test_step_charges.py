"""Steps in blocks: few entries, charged before they are made, stopped at the very step that would exceed the budget."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.accountants.sampling.repetitions import composed
from dpaudit.ledger import MemoryLedger
from dpaudit.training.step_charges import FIRST, StepCharges
from dpaudit.training.step_facts import CannotRecord, StepFacts

STEP = StepFacts(Fraction(1), Fraction(1), Fraction(1, 10), 50)
QUIET = StepFacts(Fraction(2), Fraction(1), Fraction(1, 10), 50)
BUDGET = ("5", "1e-5")


def epsilon_of(steps: int, facts: StepFacts = STEP) -> Fraction:
    return composed(facts.repeated(steps), Fraction(1, 10**5))[0] or Fraction(0)


def make_steps(charges: StepCharges, steps: list[StepFacts]) -> None:
    for facts in steps:
        charges.step(facts)


def test_a_hundred_thousand_steps_are_all_counted_and_cost_less_than_a_megabyte(tmp_path: Path) -> None:
    file = tmp_path / "training.ledger"
    rare = StepFacts(Fraction(1), Fraction(1), Fraction(1, 1000), 50)
    with dp.open_ledger(file) as ledger:
        charges = StepCharges(ledger)
        for _ in range(100_000):
            charges.step(rare)
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 1_000_000
    with dp.open_ledger(file, readonly=True) as ledger:
        assert sum(release.count or 1 for release in ledger.releases()) == 100_000
        assert ledger.unused_charges() == []
        assert dp.account(ledger, delta="1e-5").epsilon == epsilon_of(100_000, rare)


def test_the_step_that_would_exceed_the_budget_is_the_one_that_is_refused() -> None:
    ledger = MemoryLedger(budget=BUDGET)
    charges = StepCharges(ledger)
    with pytest.raises(dp.BudgetExceeded):
        make_steps(charges, [STEP] * 1000)
    charges.close()
    assert epsilon_of(charges.steps) <= 5 < epsilon_of(charges.steps + 1)
    assert dp.account(ledger).epsilon == epsilon_of(charges.steps)
    with pytest.raises(dp.BudgetExceeded):
        charges.step(STEP)


def test_closing_stores_the_steps_that_were_made_and_a_crash_leaves_the_block_spent(tmp_path: Path) -> None:
    for name, made in (("closed", 5), ("crashed", FIRST)):
        ledger = dp.open_ledger(tmp_path / name, budget=("50", "1e-5"))
        charges = StepCharges(ledger)
        for _ in range(5):
            charges.step(STEP)
        if name == "crashed":
            ledger._closing.clear()  # as if the process had ended
        ledger.close()
        assert dp.account(str(tmp_path / name)).epsilon == epsilon_of(made)


def test_a_training_that_goes_on_later_continues_its_plan(tmp_path: Path) -> None:
    total = 0
    for steps in (10, 30, 1000):
        with dp.open_ledger(tmp_path / "training", budget=BUDGET) as ledger:
            charges = StepCharges(ledger)
            try:
                for _ in range(steps):
                    charges.step(STEP)
            except dp.BudgetExceeded:
                assert steps == 1000
            total += charges.steps
    assert epsilon_of(total) <= 5 < epsilon_of(total + 1)


def test_changed_noise_is_refused_where_epsilon_is_added_up_and_charged_by_moments_elsewhere() -> None:
    plain = StepCharges(MemoryLedger(budget=BUDGET))
    plain.step(STEP)
    with pytest.raises(CannotRecord, match="renyi"):
        plain.step(QUIET)
    moments = MemoryLedger(budget=dp.Budget(*BUDGET, filter="renyi"))
    charges = StepCharges(moments)
    with pytest.raises(dp.BudgetExceeded):
        make_steps(charges, [STEP if place % 20 < 10 else QUIET for place in range(1000)])
    charges.close()
    assert charges.steps > 20
    assert moments.spent()[0] <= 5
    assert dp.account(moments, fixed=True).epsilon <= moments.spent()[0], "one order is never tighter than the composition"


def test_steps_without_a_budget_are_one_plan_only_while_they_are_equal() -> None:
    ledger = MemoryLedger()
    charges = StepCharges(ledger)
    for facts in (STEP, STEP, QUIET):
        charges.step(facts)
    charges.close()
    assert [release.theorem is not None for release in ledger.releases()] == [True, False]


def test_a_budget_without_delta_is_refused() -> None:
    with pytest.raises(dp.DpauditError, match="δ"):
        StepCharges(MemoryLedger(budget="5")).step(STEP)


def test_what_was_checked_is_stored_after_epsilon_was_asked_for_and_after_a_refusal(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "training.ledger", budget=BUDGET) as ledger:
        charges = StepCharges(ledger)
        make_steps(charges, [STEP] * 5)
        releases, unused = charges.entries()
        assert (sum(release.count or 1 for release in releases), unused) == (5, [])
        with pytest.raises(dp.BudgetExceeded):
            make_steps(charges, [STEP] * 1000)
        charges.close("noise, clipping")
        releases = list(ledger.releases())
        assert [release.extra.get("checked") for release in releases] == [None] * (len(releases) - 1) + ["noise, clipping"]
        assert sum(release.count or 1 for release in releases) == charges.steps
        assert ledger.unused_charges() == []
