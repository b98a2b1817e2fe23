"""One set of words for what a ledger does not prove: a refused certificate and the gate say the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certificate import Refused, read_ledger, refuse
from dpaudit.certificate.facts.evidence import Opening
from dpaudit.certificate.facts.ledger_doubts import doubts_of_opening, doubts_of_releases, first_of
from dpaudit.claims import Claim
from dpaudit.gate.ledger_budgets import judge_ledger
from dpaudit.gate.policy import GateBudget
from dpaudit.ledger import Budget


@pytest.mark.parametrize(
    ("opening", "count"),
    [
        (None, 1),
        (Opening(Budget("1", "0"), "pure-sums", True, 0), 0),
        (Opening(Budget("1", "0"), "pure-sums", False, 0), 1),
        (Opening(Budget("1", "0"), "pure-sums", False, 2), 2),
    ],
)
def test_each_thing_that_a_door_did_not_keep_is_one_doubt(opening: Opening | None, count: int) -> None:
    assert len(doubts_of_opening(opening)) == count


def test_a_simulated_ledger_is_doubted_and_a_deployment_without_releases_is_not() -> None:
    assert doubts_of_releases("deployment", []) == []
    assert len(doubts_of_releases("simulated", [])) == 1


def test_many_names_are_shown_by_the_first() -> None:
    assert first_of(["a"]) == "'a'"
    assert first_of(["a", "b", "c"]) == "'a' and 2 more"


def test_the_gate_gives_the_reason_that_a_certificate_is_refused_for(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, Claim("1"), proven=False) as channel:
        channel.release("sum", np.ones(4).sum(), dp.Laplace(scale=2), sensitivity=2)
    with pytest.raises(Refused) as refused:
        refuse(read_ledger(tmp_path / "a.ledger"), None, [])
    facts = judge_ledger(GateBudget("service", Claim("1"), ledger="a.ledger"), tmp_path)
    assert facts.verdict == "unproven"
    assert facts.reason == "sensitivity only declared: release 'sum'"
    assert facts.reason in str(refused.value)
