"""Ledgers at the gate: over budget, tampered, unreadable, and what a ledger alone can certify."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Claim, DpauditError
from dpaudit.cli import main
from dpaudit.gate.budget_facts import BudgetFacts
from dpaudit.gate.ledger_budgets import judge_ledger
from dpaudit.gate.policy import GateBudget

RATINGS = np.linspace(-1, 1, 20)


def record(path: Path, *, proven: bool = True, budget: str | None = "1", sealed: bool = True) -> Path:
    """One release of ε = 1 behind a live door."""
    limit = None if budget is None else Claim(budget)
    with dp.open_ledger(path) as ledger, dp.live(ledger, limit, proven=proven) as channel:
        data = dp.seal(RATINGS, low=-1, high=1) if sealed else RATINGS
        channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)
    return path


def judged(path: Path, epsilon: str = "1", **more: Any) -> BudgetFacts:
    return judge_ledger(GateBudget("service", Claim(epsilon), ledger=path.name, **more), path.parent)


def test_a_deployment_behind_a_door_with_the_budget_is_certified(tmp_path: Path) -> None:
    found = judged(record(tmp_path / "a.ledger"))
    assert (found.verdict, found.exit_code("certified"), found.upper) == ("certified", 0, "1")


def test_a_ledger_above_its_budget_is_dpa001(tmp_path: Path) -> None:
    found = judged(record(tmp_path / "a.ledger"), "1/2")
    assert (found.verdict, found.exit_code("certified")) == ("over budget", 1)
    assert found.findings[0]["rule"] == "DPA001"
    assert (found.causes, found.complete) == ([0], True)
    assert judged(tmp_path / "a.ledger", "1/2", require="not-refuted").exit_code("not-refuted") == 1


def test_a_budget_that_came_after_a_release_promises_nothing(tmp_path: Path) -> None:
    record(tmp_path / "a.ledger", budget=None)
    with dp.open_ledger(tmp_path / "a.ledger") as ledger:
        ledger.limit(Claim("1"))
    found = judged(tmp_path / "a.ledger")
    assert (found.verdict, found.exit_code("certified")) == ("unproven", 3)
    assert "the budget was set after charge 1" in found.reason
    assert judged(tmp_path / "a.ledger", require="not-refuted").exit_code("not-refuted") == 0


def test_a_larger_budget_at_the_door_bounds_only_itself(tmp_path: Path) -> None:
    found = judged(record(tmp_path / "a.ledger", budget="2"))
    assert (found.verdict, found.exit_code("certified")) == ("unproven", 3)
    assert "ε=2" in found.reason


@pytest.mark.parametrize(("sealed", "told"), [(True, "proven=True"), (False, "only declared")])
def test_a_door_that_takes_declared_releases_is_not_enough(sealed: bool, told: str, tmp_path: Path) -> None:
    found = judged(record(tmp_path / "a.ledger", proven=False, sealed=sealed))
    assert (found.verdict, found.exit_code("certified")) == ("unproven", 3)
    assert told in found.reason


def test_a_simulated_ledger_is_not_certified(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "a.ledger", kind="simulated") as ledger, dp.simulate(1, ledger=ledger, budget="1") as channel:
        channel.release("sum", dp.seal(RATINGS, low=-1, high=1).sum(), dp.Laplace(scale=2), sensitivity=2)
    found = judged(tmp_path / "a.ledger")
    assert (found.verdict, found.exit_code("certified")) == ("unproven", 3)
    assert "simulated" in found.reason
    assert found.complete is False


def test_a_hand_written_list_is_not_certified_but_held_to_its_budget(tmp_path: Path) -> None:
    line = json.dumps({"name": "sum", "mechanism": "laplace", "scale": "2", "sensitivity": "2"})
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    assert (judged(tmp_path / "a.jsonl").verdict, judged(tmp_path / "a.jsonl", "1/2").verdict) == ("unproven", "over budget")


def test_a_tampered_ledger_is_dpa007_and_an_unreadable_one_is_not_checked(
    folder: Path, gate: Callable[..., Any], budget: Callable[..., str]
) -> None:
    record(folder / "a.ledger")
    assert main(["export", "a.ledger", "--output", "b.jsonl"]) == 0
    text = (folder / "b.jsonl").read_text(encoding="utf-8")
    (folder / "b.jsonl").write_text(text.replace('"sum"', '"mum"', 1), encoding="utf-8")
    (folder / "c.ledger").write_bytes(b"SQLite format 3\0 and then nothing")
    code, document = gate(
        budget("whole", ledger="a.ledger") + budget("tampered", ledger="b.jsonl") + budget("unreadable", ledger="c.ledger")
    )
    assert code == 2
    assert [(entry["verdict"], entry["code"]) for entry in document["budgets"]] == [
        ("certified", 0),
        ("tampered", 1),
        ("not checked", 2),
    ]
    assert document["budgets"][1]["findings"][0]["rule"] == "DPA007"


def test_an_observer_that_the_ledger_knows_nothing_about_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DpauditError, match="no figure for the observer shuffled"):
        judged(record(tmp_path / "a.ledger"), observer="shuffled")


def test_gaussian_noise_has_no_figure_at_delta_zero(tmp_path: Path) -> None:
    line = json.dumps({"name": "sum", "mechanism": "gaussian", "sigma": "2", "sensitivity": "2"})
    (tmp_path / "a.jsonl").write_text(line, encoding="utf-8")
    with pytest.raises(DpauditError, match="no finite ε at δ = 0"):
        judged(tmp_path / "a.jsonl", "1000")
