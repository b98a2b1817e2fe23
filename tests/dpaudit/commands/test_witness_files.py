"""``dpaudit audit --witness FILE`` and ``--replay FILE``: written when refuted, checked again without search, never believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpaudit.cli import main

SUBJECTS = """
import numpy as np
import dpaudit as dp

ten = dp.replace_one(n=10, low=-1, high=1)

@dp.subject(claim=dp.Claim("1"), neighbours=ten)
def half(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=2)

@dp.subject(claim=dp.Claim("1"), neighbours=ten)
def honest(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=2)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "subjects.py").write_text(SUBJECTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def audit(name: str, *more: str) -> int:
    return main(["audit", f"subjects.py:{name}", "--seed", "1", *more])


def test_a_witness_is_written_and_refutes_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("half", "--witness", "w.json") == 1
    assert "--replay FILE" in capsys.readouterr().out
    witness = json.loads((folder / "w.json").read_text(encoding="utf-8"))
    assert witness["kind"] == "transcript"
    assert audit("half", "--replay", "w.json") == 1
    assert "replayed witness" in capsys.readouterr().out
    assert audit("honest", "--replay", "w.json") == 3
    assert "which the claim allows; nothing else was looked at" in " ".join(capsys.readouterr().out.split())
    assert sorted(path.name for path in folder.iterdir() if path.suffix) == ["subjects.py", "w.json"]


def test_the_json_of_an_audit_is_a_witness_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("half", "--format", "json", "--output", "audit.json") == 1
    assert audit("half", "--replay", "audit.json") == 1
    assert audit("honest", "--format", "json", "--output", "fine.json") == 0
    assert audit("half", "--replay", "fine.json") == 2
    assert "found no witness" in capsys.readouterr().err


def test_what_is_not_refuted_writes_no_witness(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("honest", "--witness", "w.json") == 0
    assert "w.json was not written" in capsys.readouterr().err
    assert not (folder / "w.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "17",
        '{"kind": "transcript"}',
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"kind": "event", "observer": "server", "pair": {}}',
    ],
)
def test_a_file_that_is_no_witness_exits_2_in_one_line(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "w.json").write_text(text, encoding="utf-8")
    assert audit("half", "--replay", "w.json") == 2
    error = capsys.readouterr().err
    assert error.startswith("dpaudit: ")
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("subjects.py:half", "--witness", "nowhere/w.json"), "existing folder"),
        (("subjects.py:half", "--witness", "subjects.py"), "would overwrite"),
        (("subjects.py:half", "--witness", "w.json", "--replay", "w.json"), "would overwrite"),
        (("subjects.py", "--witness", "w.json"), "name one of the 2 subjects"),
        (("subjects.py:half", "--replay", "missing.json"), "missing.json"),
    ],
)
def test_files_that_cannot_be_used_are_refused_first(
    arguments: Any, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--replay" in arguments and "w.json" in arguments:
        (folder / "w.json").write_text("{}", encoding="utf-8")
    assert main(["audit", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert (folder / "subjects.py").read_text(encoding="utf-8") == SUBJECTS
