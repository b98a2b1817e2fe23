"""``dpaudit check``: the gate reads ``[tool.dpaudit]`` in pyproject.toml and fails closed."""

from __future__ import annotations

import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., subprocess.CompletedProcess[str]]
Parse = Callable[[str], Any]
Validate = Callable[[Any, str], None]


def budget(name: str, **entries: str) -> str:
    lines = [f"[tool.dpaudit.budgets.{name}]", *(f'{key} = "{value}"' for key, value in entries.items())]
    return "\n".join(lines) + "\n"


def subject(name: str, example: str, epsilon: str = "1", **more: str) -> str:
    return budget(name, subject=f"examples.py:{example}", epsilon=epsilon, delta="0", **more)


@pytest.fixture
def gate(workspace: Path, dpaudit_cli: Cli) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``check`` under this configuration."""

    def check(configuration: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (workspace / "pyproject.toml").write_text(configuration, encoding="utf-8")
        return dpaudit_cli("check", *arguments)

    return check


@pytest.mark.parametrize(
    ("code", "verdict", "configuration"),
    [
        (0, "certified", subject("recommender", "noisy_sum")),
        (0, "certified", subject("recommender", "noisy_sum", require="certified")),
        (0, "unproven", subject("recommender", "black_box", require="not-refuted")),
        (1, "refuted", subject("recommender", "half_noise")),
        (1, "refuted", subject("recommender", "noisy_sum", epsilon="1/2")),
        (1, "refuted", subject("recommender", "black_box_half_noise", require="not-refuted")),
        (3, "unproven", subject("recommender", "black_box")),
        (0, "certified", subject("recommender", "adaptive")),
    ],
)
def test_a_budget_is_judged(code: int, verdict: str, configuration: str, gate: Cli, parse: Parse, validate: Validate) -> None:
    done = gate(configuration, "--format", "json")
    assert done.returncode == code, done.stdout + done.stderr
    document = parse(done.stdout)
    validate(document, "check")
    assert document["exit"] == code
    assert [(entry["name"], entry["verdict"]) for entry in document["budgets"]] == [("recommender", verdict)]


@pytest.mark.parametrize(
    "configuration",
    [
        budget("recommender", subject="missing.py:rank", epsilon="1", delta="0"),
        budget("recommender", subject="examples.py:missing", epsilon="1", delta="0"),
        budget("recommender", ledger="missing.ledger", epsilon="1", delta="0"),
        budget("recommender", subject="examples.py:noisy_sum", delta="0"),
        budget("recommender", subject="examples.py:noisy_sum", epsilon="1"),
        budget("recommender", epsilon="1", delta="0"),
        subject("recommender", "noisy_sum", epsilon="nan"),
        subject("recommender", "noisy_sum", require="maybe"),
        subject("recommender", "breaks"),
    ],
)
def test_what_cannot_be_checked_fails_closed_and_names_its_budget(configuration: str, gate: Cli) -> None:
    done = gate(configuration)
    assert done.returncode == 2
    assert "recommender" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("configuration", ["", '[project]\nname = "service"\nversion = "1"\n', "[tool.dpaudit]\n"])
def test_nothing_configured_is_nothing_to_check(configuration: str, gate: Cli) -> None:
    assert gate(configuration).returncode == 5


def test_several_budgets_give_the_worst_code(gate: Cli, parse: Parse) -> None:
    honest, unproven, refuted = (
        subject("honest", "noisy_sum"),
        subject("opaque", "black_box"),
        subject("thin", "half_noise"),
    )
    missing = budget("gone", subject="missing.py:rank", epsilon="1", delta="0")
    assert gate(honest + unproven).returncode == 3
    assert gate(honest + unproven + refuted).returncode == 1
    done = gate(honest + unproven + refuted + missing, "--format", "json")
    assert done.returncode == 2
    assert {"honest", "opaque", "thin"} <= {entry["name"] for entry in parse(done.stdout)["budgets"]}


@pytest.mark.parametrize(("epsilon", "code"), [("1", 0), ("1/2", 1)])
def test_a_ledger_is_held_to_its_budget(
    epsilon: str, code: int, gate: Cli, dpaudit_cli: Cli, parse: Parse, validate: Validate
) -> None:
    run = ("run", "central", "--epsilon", "1", "--horizon", "10000", "--calibration", "corrected")
    assert dpaudit_cli(*run, "--ledger", "today.ledger").returncode == 0
    configuration = budget("recommender", ledger="today.ledger", epsilon=epsilon, delta="0")
    done = gate(configuration, "--format", "json")
    assert done.returncode == code, done.stdout + done.stderr
    document = parse(done.stdout)
    validate(document, "check")
    assert document["budgets"][0]["epsilon"] == "1"
    found = {finding["rule"] for finding in document["budgets"][0]["findings"]}
    assert ("DPA001" in found) is (code == 1)


@pytest.mark.parametrize(("example", "failures"), [("noisy_sum", 0), ("half_noise", 1)])
def test_junit_counts_a_failure_per_budget(example: str, failures: int, gate: Cli) -> None:
    root = ElementTree.fromstring(gate(subject("recommender", example), "--format", "junit").stdout)
    assert root.tag in {"testsuites", "testsuite"}
    assert len(list(root.iter("testcase"))) == 1
    assert len(list(root.iter("failure"))) == failures


@pytest.mark.parametrize(("example", "results"), [("noisy_sum", False), ("half_noise", True)])
def test_sarif_has_results_for_what_failed(example: str, results: bool, gate: Cli, parse: Parse) -> None:
    document = parse(gate(subject("recommender", example), "--format", "sarif").stdout)
    assert document["version"] == "2.1.0"
    assert document["runs"][0]["tool"]["driver"]["name"] == "dpaudit"
    assert bool(document["runs"][0]["results"]) is results


@pytest.mark.parametrize(("example", "annotated"), [("noisy_sum", False), ("half_noise", True)])
def test_github_annotates_what_failed(example: str, annotated: bool, gate: Cli) -> None:
    done = gate(subject("recommender", example), "--format", "github")
    assert done.returncode == (1 if annotated else 0)
    assert ("::error" in done.stdout) is annotated


def test_html_and_markdown_name_the_budget(gate: Cli) -> None:
    page = gate(subject("recommender", "noisy_sum"), "--format", "html").stdout
    assert page.lstrip().lower().startswith("<!doctype html")
    assert "recommender" in page
    assert "recommender" in gate(subject("recommender", "noisy_sum"), "--format", "markdown").stdout


def commit(folder: Path) -> None:
    """Everything in the folder, as the base branch."""
    identity = ["-c", "user.name=base", "-c", "user.email=base@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*identity, "commit", "-qm", "base"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, timeout=60)


def test_a_policy_that_asks_no_less_than_the_base_branch_holds(workspace: Path, gate: Cli, parse: Parse) -> None:
    (workspace / "pyproject.toml").write_text(subject("recommender", "noisy_sum", epsilon="2"), encoding="utf-8")
    commit(workspace)
    done = gate(subject("recommender", "noisy_sum", epsilon="1"), "--against", "main", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert parse(done.stdout)["exit"] == 0


def test_a_policy_that_was_loosened_against_the_base_branch_is_dpa009(
    workspace: Path, gate: Cli, parse: Parse, validate: Validate
) -> None:
    (workspace / "pyproject.toml").write_text(subject("recommender", "noisy_sum", epsilon="1"), encoding="utf-8")
    commit(workspace)
    done = gate(subject("recommender", "noisy_sum", epsilon="2"), "--against", "main", "--format", "json")
    assert done.returncode == 1, done.stdout + done.stderr
    document = parse(done.stdout)
    validate(document, "check")
    assert [finding["rule"] for finding in document["budgets"][0]["findings"]] == ["DPA009"]
    removed = gate("", "--against", "main", "--format", "json")
    assert removed.returncode == 1
    assert [finding["rule"] for finding in parse(removed.stdout)["findings"]] == ["DPA009"]


def test_a_base_that_is_not_there_is_a_usage_error(workspace: Path, gate: Cli) -> None:
    done = gate(subject("recommender", "noisy_sum"), "--against", "no-such-branch")
    assert done.returncode == 2
    assert "no-such-branch" in done.stderr or "git" in done.stderr
