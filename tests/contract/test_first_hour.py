"""The first hour: `dpaudit` alone, `init`, `doctor`, completion, and what is said to a word that is nearly right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]


def test_dpaudit_alone_says_what_to_do_next(dpaudit_cli: Cli, tmp_path: Path) -> None:
    done = dpaudit_cli()
    assert done.returncode == 0
    assert "dpaudit init" in done.stdout
    table = '[tool.dpaudit.budgets.mine]\nsubject = "mine.py:f"\nepsilon = "1"\ndelta = "0"\n'
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    assert "dpaudit check" in dpaudit_cli().stdout


def test_init_writes_checks_and_overwrites_nothing(dpaudit_cli: Cli, tmp_path: Path, parse: Any, validate: Any) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"', encoding="utf-8")
    done = dpaudit_cli("init", "--format", "json")
    assert done.returncode == 0, done.stdout + done.stderr
    document = parse(done.stdout)
    validate(document, "init")
    assert [budget["verdict"] for budget in document["check"]["budgets"]] == ["certified"]
    assert set(document["files"]) == {
        "pyproject.toml", "privacy/ratings.py", "privacy/test_ratings.py", ".github/workflows/privacy.yml",
    }  # fmt: skip
    assert (tmp_path / "pyproject.toml").read_text(encoding="utf-8").startswith('[project]\nname = "mine"\n\n')
    subject = tmp_path / "privacy" / "ratings.py"
    changed = subject.read_text(encoding="utf-8").replace("dp.Laplace(scale=4 / PEOPLE)", "dp.Laplace(scale=2 / PEOPLE)")
    subject.write_text(changed, encoding="utf-8")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.*") if file.suffix in (".py", ".toml", ".yml")}
    again = dpaudit_cli("init")
    assert again.returncode == 1, "the changed example is refuted: the gate ran on what is there"
    assert again.stdout.count("kept: ") == 4
    assert before == {file: file.read_bytes() for file in before}


def test_doctor_says_what_this_machine_has(dpaudit_cli: Cli, parse: Any, validate: Any) -> None:
    done = dpaudit_cli("doctor", "--format", "json")
    assert done.returncode == 0, done.stdout
    document = parse(done.stdout)
    validate(document, "doctor")
    assert document["fit"] is True
    assert {"python", "dpaudit", "entropy", "locks", "numpy", "[peers]", "Chromium"} <= {
        part["part"] for part in document["parts"]
    }


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("adit", "mine.py"), "did you mean audit?"),
        (("audit", "mine.py", "--epsilno", "1"), "did you mean --epsilon?"),
        (("audit", "mine.py", "--sede=1"), "did you mean --seed?"),
        (("explain", "DPA03"), "did you mean DPA003?"),
        (("explain", "certifid"), "did you mean certified?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(
    arguments: tuple[str, ...], meant: str, dpaudit_cli: Cli
) -> None:
    done = dpaudit_cli(*arguments)
    assert done.returncode == 2
    assert meant in done.stderr


def test_explain_without_a_rule_lists_them_all(dpaudit_cli: Cli) -> None:
    done = dpaudit_cli("explain")
    assert done.returncode == 0
    assert all(f"DPA00{number}" in done.stdout for number in range(1, 9))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_written_for_three_shells(shell: str, dpaudit_cli: Cli) -> None:
    done = dpaudit_cli("completion", shell)
    assert done.returncode == 0
    assert "dpaudit" in done.stdout
    assert dpaudit_cli("completion", "tcsh").returncode == 2
