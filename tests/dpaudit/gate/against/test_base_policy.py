"""A pull request in a real repository: what it edits is compared with its base, and only the base can allow it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.claims import DpauditError
from dpaudit.gate.against.base_branch import base_folder
from dpaudit.gate.against.base_policy import base_policy
from dpaudit.gate.against.loosening import budget_loosenings
from dpaudit.gate.check import check
from dpaudit.gate.policy import Config, read_config

SUBJECT = """
import dpaudit as dp
import bounds

@dp.subject(claim=dp.Claim(epsilon="1", observer="{observer}"), neighbours=dp.replace_one(n=9, low=bounds.LOW, high=1))
def noisy(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)
"""
BUDGET = '[tool.dpaudit.budgets.sum]\nsubject = "mine.py:noisy"\nepsilon = "{epsilon}"\ndelta = "0"\nsamples = 100\n'
SOON = (date.today() + timedelta(days=9)).isoformat()


def write(folder: Path, *, epsilon: str = "1", observer: str = "server", low: str = "-1", more: str = "") -> None:
    (folder / "mine.py").write_text(SUBJECT.format(observer=observer), encoding="utf-8")
    (folder / "bounds.py").write_text(f"LOW = {low}\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text(BUDGET.format(epsilon=epsilon) + more, encoding="utf-8")


def commit(folder: Path) -> None:
    identity = ["-c", "user.name=base", "-c", "user.email=base@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["add", "-A"], [*identity, "commit", "-qm", "base"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, timeout=60)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose branch main holds the policy that a pull request starts from; the project is a folder of it."""
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=tmp_path, check=True, timeout=60)
    folder = tmp_path / "service"
    folder.mkdir()
    write(folder)
    commit(tmp_path)
    monkeypatch.chdir(folder)
    return folder


def gate(folder: Path) -> dict[str, Any]:
    return json.loads(json.dumps(check(read_config(folder), against="main").to_dict()))


def test_an_unchanged_policy_holds(project: Path) -> None:
    assert gate(project)["exit"] == 0


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"low": "0"}, "bounds of a record: [-1.0, 1.0] → [0.0, 1.0]"),
        ({"observer": "actions"}, "observer of the claim: server → actions"),
        ({"epsilon": "3"}, "ε: 1 → 3"),
    ],
)
def test_an_edit_of_what_the_code_is_held_to_fails(project: Path, edit: dict[str, str], message: str) -> None:
    write(project, **edit)
    document = gate(project)
    (budget,) = document["budgets"]
    assert document["exit"] == 1
    assert [(found["rule"], found["message"], found["fails"]) for found in budget["findings"]] == [("DPA009", message, True)]
    assert message in budget["reason"]


def test_only_the_base_branch_can_allow_it(project: Path) -> None:
    write(project, epsilon="3")
    mark = gate(project)["budgets"][0]["findings"][0]["fingerprint"]
    waiver = f'[[tool.dpaudit.waive]]\nrule = "DPA009"\nfingerprint = "{mark}"\nreason = "r"\nowner = "ann"\nexpires = {SOON}\n'
    write(project, epsilon="3", more=waiver)
    assert gate(project)["exit"] == 1, "a waiver in the pull request itself has no effect"
    write(project, more=waiver)
    commit(project)
    write(project, epsilon="3", more=waiver)
    document = gate(project)
    assert document["exit"] == 0
    assert document["budgets"][0]["findings"][0]["waived"]["owner"] == "ann"
    write(project, epsilon="4", more=waiver)
    assert gate(project)["exit"] == 1, "another change is not the one that was allowed"


def test_a_policy_that_is_gone_fails(project: Path) -> None:
    (project / "pyproject.toml").unlink()
    document = json.loads(json.dumps(check(Config(project), against="main").to_dict()))
    assert document["exit"] == 1
    assert [found["message"] for found in document["findings"]] == ["budget sum: mine.py:noisy, ε=1 → removed"]


@pytest.mark.parametrize("where", ["above", "below"])
def test_a_policy_that_moved_to_another_folder_is_compared_all_the_same(project: Path, where: str) -> None:
    """The gate is started in the same folder as ever; the base's policy is the one that is found from there."""
    started = project / "deep"
    started.mkdir()
    (started / "kept").write_text("", encoding="utf-8")
    commit(project)
    subject = "service/mine.py:noisy" if where == "above" else "../mine.py:noisy"
    moved = BUDGET.format(epsilon="3").replace("mine.py:noisy", subject)
    if where == "above":
        (project / "pyproject.toml").unlink()
    ((project.parent if where == "above" else started) / "pyproject.toml").write_text(moved, encoding="utf-8")
    with base_policy(read_config(started), "main", date.today()) as base:
        assert base is not None
        assert [budget.claim.epsilon for budget in base.base.budgets] == [1]
        (found,) = budget_loosenings(base.base.budgets[0], replace(base.now.budgets[0], subject="mine.py:noisy"))
    assert found.message == "ε: 1 → 3"


def test_a_ledger_that_was_swapped_fails(project: Path) -> None:
    """Its path, its budget and its figure are as before; what it had spent is gone."""

    def spend(name: str) -> None:
        with dp.open_ledger(project / "run.book") as ledger, dp.live(ledger, "2", proven=True) as channel:
            channel.release(name, dp.seal([1.0], -1, 1).sum(), dp.Laplace(scale=2), sensitivity=2)

    (project / "pyproject.toml").write_text(BUDGET.format(epsilon="2").replace("samples = 100\n", "").replace(
        'subject = "mine.py:noisy"', 'ledger = "run.book"'), encoding="utf-8")  # fmt: skip
    spend("first")
    spend("second")
    commit(project)
    assert gate(project)["exit"] == 0
    for file in project.glob("run.book*"):
        file.unlink()
    spend("first")
    document = gate(project)
    assert document["exit"] == 1
    (found,) = document["budgets"][0]["findings"]
    assert found["rule"] == "DPA009"
    assert "run.book" in found["message"]


def test_a_subject_that_cannot_be_read_at_the_base_is_no_excuse(project: Path) -> None:
    (project / "bounds.py").write_text("LOW = missing\n", encoding="utf-8")
    commit(project)
    write(project)
    assert "cannot be read" in gate(project)["budgets"][0]["findings"][0]["message"]


def test_the_base_is_a_copy_without_history_and_leaves_nothing(project: Path) -> None:
    before = sorted(file.name for file in project.iterdir())
    with base_folder(project, "main") as folder:
        assert folder.name == "service"
        assert (folder / "mine.py").read_bytes() == (project / "mine.py").read_bytes()
        assert not (folder.parent / ".git" / "HEAD").exists()
    assert not folder.exists()
    assert sorted(file.name for file in project.iterdir()) == before


@pytest.mark.parametrize("reference", ["nowhere", "--output=here", "main:mine.py", ""])
def test_what_is_no_commit_is_refused(project: Path, reference: str) -> None:
    with pytest.raises(DpauditError, match=r"no such commit|not the name of a commit"), base_folder(project, reference):
        pass


def test_a_sitecustomize_of_the_project_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "sitecustomize.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(project))
    with (
        pytest.raises(DpauditError, match="runs before the gate"),
        base_policy(read_config(project), "main", date.today()),
    ):
        pass
