"""The gate end to end: every budget in a process of its own, failing closed."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Claim
from dpaudit.cli import main
from dpaudit.gate import policy as config
from dpaudit.gate.budget_facts import BudgetFacts
from dpaudit.gate.check import believe

Gate = Callable[..., Any]
Budget = Callable[..., str]


def states(document: Any) -> dict[str, tuple[str, str]]:
    return {entry["name"]: (entry["verdict"], entry["state"]) for entry in document["budgets"]}


def test_the_worst_code_counts_and_the_others_are_judged_all_the_same(gate: Gate, budget: Budget) -> None:
    code, document = gate(
        budget("honest", subject="mine.py:honest")
        + budget("thin", subject="mine.py:thin")
        + budget("opaque", subject="mine.py:opaque", require="not-refuted", samples=1000)
        + budget("gone", subject="gone.py:f")
    )
    assert code == 2
    assert states(document) == {
        "honest": ("certified", "holds"),
        "thin": ("refuted", "fails"),
        "opaque": ("unproven", "holds"),
        "gone": ("not checked", "not checked"),
    }
    schema = json.loads((importlib.resources.files("dpaudit") / "schemas" / "check.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("never_ends", "not finished within its 3 s"),
        ("ends_everything", "ended with code 0 before it came to a verdict"),
        ("tells_its_data", "raised ValueError at mine.py"),
        ("quotes_its_data", "raised ValueError at mine.py"),
    ],
)
def test_a_subject_that_breaks_or_never_ends_is_not_checked(name: str, told: str, gate: Gate, budget: Budget) -> None:
    code, document = gate(budget("service", subject=f"mine.py:{name}", timeout=3 if name == "never_ends" else 100))
    assert code == 2
    assert told in document["budgets"][0]["reason"]
    assert ("canary" in json.dumps(document)) == (name == "quotes_its_data")  # which sees nothing but made-up data


def test_what_a_subject_prints_does_not_reach_the_report(gate: Gate, budget: Budget) -> None:
    assert gate(budget("service", subject="mine.py:talks"))[0] == 0


def test_certified_means_the_same_as_in_an_audit_and_the_key_door_of_old_changes_nothing(gate: Gate, budget: Budget) -> None:
    doors = {"none": {}, "yes": {"door": True}, "no": {"door": False}}
    code, document = gate("".join(budget(name, subject="mine.py:adaptive", **door) for name, door in doors.items()))
    assert code == 0
    assert set(states(document).values()) == {("certified", "holds")}
    for entry in document["budgets"]:
        assert entry["reason"].startswith("certified behind its door: budget ε=1, proven releases only")


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (
            {"subject": "mine.py:honest", "neighbours": "add_remove"},
            "is about replace_one neighbours, the budget about add_remove",
        ),
        ({"subject": "mine.py"}, "a budget is about one"),
        ({"subject": "mine.py:honest", "calibration": "tight"}, "calibration is for registered algorithms"),
        ({"subject": "central"}, "needs a horizon"),
        ({"subject": "central", "horizon": 1000, "calibration": "best"}, "calibration"),
        ({"subject": "empty.py"}, "holds no subject"),
        ({"subject": "broken.py:f"}, "cannot be loaded"),
    ],
)
def test_a_target_that_is_not_what_the_budget_says_is_not_checked(
    entries: dict[str, Any], told: str, folder: Path, gate: Gate, budget: Budget
) -> None:
    (folder / "empty.py").write_text("", encoding="utf-8")
    (folder / "broken.py").write_text("raise SystemExit(0)", encoding="utf-8")
    code, document = gate(budget("service", **entries))
    assert code == 2
    assert told in document["budgets"][0]["reason"]


@pytest.mark.parametrize(("calibration", "code"), [("corrected", 0), ("printed", 1)])
def test_a_registered_algorithm_is_judged_with_its_parameters(calibration: str, code: int, gate: Gate, budget: Budget) -> None:
    configuration = budget("bandit", subject="central", horizon=1000, actions=5, dim=2, calibration=calibration)
    found, document = gate(configuration)
    assert found == code
    assert document["budgets"][0]["horizon"] == "1000"
    assert document["budgets"][0]["file"] == "pyproject.toml"  # the algorithm's own file is not part of this repository


def test_the_same_configuration_gives_the_same_result(gate: Gate, budget: Budget) -> None:
    configuration = budget("opaque", subject="mine.py:opaque", samples=1000)
    first, second = gate(configuration)[1], gate(configuration)[1]
    for document in (first, second):
        del document["seconds"], document["budgets"][0]["seconds"]
    assert first == second


def test_the_configuration_is_found_from_a_folder_inside(folder: Path, budget: Budget, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").write_text(budget("service", subject="mine.py:honest"), encoding="utf-8")
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    assert main(["check", "--format", "json", "--output", "out.json"]) == 0
    assert json.loads((folder / "inner" / "out.json").read_text(encoding="utf-8"))["budgets"][0]["file"] == "mine.py"


def test_two_files_of_one_name_do_not_mix(folder: Path, gate: Gate, budget: Budget) -> None:
    (folder / "other").mkdir()
    swapped = (folder / "mine.py").read_text(encoding="utf-8").replace("scale=2", "scale=1")
    (folder / "other" / "mine.py").write_text(swapped, encoding="utf-8")
    configuration = budget("first", subject="mine.py:honest") + budget("second", subject="other/mine.py:honest")
    assert states(gate(configuration)[1]) == {"first": ("certified", "holds"), "second": ("refuted", "fails")}


def test_under_github_actions_annotations_and_the_summary_come_by_themselves(
    folder: Path, budget: Budget, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text(budget("service", subject="mine.py:thin"), encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    (folder / "summary.md").write_text("before\n", encoding="utf-8")
    assert main(["check"]) == 1
    out = capsys.readouterr().out
    assert "::error file=mine.py,line=" in out
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("before\n## Privacy budgets: a budget is violated")
    assert main(["check", "--format", "json"]) == 1
    assert "::error" not in capsys.readouterr().out


def test_a_mistake_in_the_configuration_is_annotated_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text("[tool.dpaudit]\nbudget = 1\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["check"]) == 2
    caught = capsys.readouterr()
    assert "::error file=pyproject.toml,line=1" in caught.out
    assert "did you mean budgets?" in caught.err


def test_the_gate_concludes_by_itself_from_what_was_found() -> None:
    """A ledger above its budget is not believed to hold, nor a verdict on a subject without what it is made from."""
    ledger = config.GateBudget("b", Claim("1"), ledger="a.ledger")
    for upper, code in (("1", 0), ("2", 2), (None, 2)):
        assert believe(BudgetFacts("certified", "", upper=upper), ledger, 1e-6).exit_code("certified") == code
    subject = config.GateBudget("b", Claim("1"), subject="a.py:f")
    for verdict in ("certified", "unproven", "refuted"):
        assert believe(BudgetFacts(verdict, "", upper="1"), subject, 1e-6).exit_code("not-refuted") == 2


def test_a_result_that_a_subject_wrote_is_not_taken_for_the_worker_s(folder: Path, gate: Gate, budget: Budget) -> None:
    forged = 'import os, sys\nfor place in [*sys.argv[1:], "result.json"]:\n    open(place, "w").write("{}")\nos._exit(0)\n'
    (folder / "forger.py").write_text(forged, encoding="utf-8")
    assert gate(budget("forged", subject="forger.py:f"))[0] == 2


def test_a_ledger_about_more_clients_than_the_budget_is_not_checked(folder: Path, gate: Gate, budget: Budget) -> None:
    with dp.open_ledger(folder / "a.ledger") as ledger, dp.live(ledger, ("1", 0), proven=True) as channel:
        channel.release("sum", dp.seal(np.zeros(9), low=-1, high=1).sum(), dp.Laplace(2), sensitivity=2)
    held = [gate(budget("b", ledger="a.ledger", horizon=horizon)) for horizon in (9, 3)]
    assert [code for code, _ in held] == [0, 2]
    known = [gate(budget("b", ledger="a.ledger", neighbours=relation))[0] for relation in ("replace_one", "add_remove")]
    assert known == [0, 2]
