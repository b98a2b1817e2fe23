"""A training has a certificate where its budget was enforced and its checks were passed; each of these alone is too little."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants.sampling.constant_steps import FAILED
from dpaudit.certificate import LedgerEvidence, Refused, read_ledger, refuse, statement
from dpaudit.certificate.facts.training_facts import NEEDED, is_training, training_facts
from dpaudit.training.step_charges import StepCharges
from dpaudit.training.step_facts import StepFacts

STEP = StepFacts(Fraction(1), Fraction(1, 2), Fraction(1, 10), 50)
PASSED = ", ".join(NEEDED)
BUDGET = ("5", "1e-5")
Train = Callable[..., LedgerEvidence]


@pytest.fixture
def train(tmp_path: Path) -> Train:
    def make(
        checked: str = PASSED, budget: Any = BUDGET, late: Any = None, steps: int = 70, more: bool = False
    ) -> LedgerEvidence:
        with dp.open_ledger(tmp_path / "training.ledger", budget=budget) as ledger:
            charges = StepCharges(ledger)
            for _ in range(steps):
                charges.step(STEP)
            charges.close(checked)
            if late is not None:
                ledger.limit(late)
            if more:
                with dp.live(ledger) as channel:
                    channel.release("count", 3, dp.Laplace(scale=100), sensitivity=1)
        return read_ledger(tmp_path / "training.ledger")

    return make


def reasons(ledger: LedgerEvidence) -> str:
    with pytest.raises(Refused) as refused:
        refuse(ledger, None, [])
    return "; ".join(refused.value.reasons)


def test_neighbours_samples_clipping_steps_and_checks_are_stated(train: Train) -> None:
    ledger = train()
    refuse(ledger, None, [])
    predicate = statement(ledger, None, [], [])["predicate"]
    said = predicate["training"]
    assert said["checked"] == list(NEEDED)
    assert said["adjacency"] == "add or remove one record, or replace its gradient by zero"
    assert [(group["steps"], group["sampling"], group["clip"], group["sensitivity"]) for group in said["steps"]] == [
        (70, "0.1", "0.5", "0.5")
    ]
    assert (predicate["assurance"]["level"], predicate["door"]) == ("checked", None)
    assert predicate["guarantee"]["epsilon"] == "5"
    assert predicate["releases"][0]["sensitivity"]["proven"] is None, "clipping is checked, not proven"


def test_nothing_is_called_exact_or_cryptographic_that_torch_drew(train: Train) -> None:
    predicate = statement(train(), None, [], [])["predicate"]
    assert "floating point" in predicate["noise"]["arithmetic"]
    status = {hazard["id"]: hazard["status"] for hazard in predicate["hazards"]}
    assert {status[name] for name in ("floating-point", "generator", "implementation")} == {"not assessed"}
    flags = {assumption["flag"] for assumption in predicate["assumptions"]}
    assert {"opacus-as-checked", "float-noise", "torch-generator"} <= flags
    assert not flags & {"system-entropy", "written-by-the-door"}


@pytest.mark.parametrize("missing", NEEDED)
def test_a_check_that_was_not_run_stands_in_the_way(missing: str, train: Train) -> None:
    said = reasons(train(", ".join(name for name in NEEDED if name != missing)))
    assert f"not checked while the training ran: {missing};" in said


def test_a_check_that_failed_stands_in_the_way(train: Train) -> None:
    assert "a check of the training failed: clipping" in reasons(train(PASSED.replace("clipping", "clipping" + FAILED)))


def test_a_budget_from_the_start_is_needed(train: Train) -> None:
    assert "no budget" in reasons(train(budget=None))


def test_a_budget_that_came_later_promises_nothing(train: Train) -> None:
    assert "the budget was set after" in reasons(train(budget=None, late=("50", "1e-4")))


def test_a_ledger_with_other_releases_is_held_to_what_they_prove(train: Train) -> None:
    ledger = train(more=True)
    assert not is_training(ledger.releases)
    assert "sensitivity only declared" in reasons(ledger)


def test_steps_with_other_noise_are_told_apart() -> None:
    other = StepFacts(Fraction(2), Fraction(1, 2), Fraction(1, 10), 50)
    releases = [facts.release(count, constant=True) for facts, count in ((STEP, 3), (STEP, 4), (other, 5))]
    assert [(group["noise"], group["steps"]) for group in training_facts(releases)["steps"]] == [("1", 7), ("2", 5)]
