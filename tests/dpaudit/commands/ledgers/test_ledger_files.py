"""``verify`` and ``account`` from a signed snapshot on: what they say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.ledger import open_ledger


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    release("today.ledger", 3)
    assert main(["keygen", "-o", "key"]) == 0
    return "today.ledger"


def release(path: str, count: int) -> None:
    with open_ledger(path) as opened, dp.live(opened, budget="100") as channel:
        for i in range(count):
            channel.release(f"batch {i}", 1.0, dp.Laplace(scale=2), sensitivity=2, cohort=range(i, i + 2))


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_entries_that_were_not_read_are_counted_in_the_answer(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, full, _ = answer(capsys, "account", ledger, "--snapshot", "s", "--key", "key")
    assert (code, Path("s").exists(), "not read again" in full) == (0, True, False)
    release(ledger, 2)
    for command in ("account", "verify"):
        code, told, _ = answer(capsys, command, ledger, "--snapshot", "s", "--key", "key.pub")
        assert (code, "the first 8 entries were not read again" in " ".join(told.split())) == (0, True)
        assert "not read again" not in answer(capsys, command, ledger)[1]
    told = json.loads(answer(capsys, "verify", ledger, "--snapshot", "s", "--key", "key.pub", "--format", "json")[1])
    assert (told["snapshot_size"], told["size"], told["releases"]) == (8, 12, 5)
    later, whole = (
        json.loads(answer(capsys, "account", ledger, "--format", "json", *more)[1])
        for more in (("--snapshot", "s", "--key", "key.pub"), ())
    )
    assert {**later, "notes": []} == {**whole, "notes": []}


def test_a_snapshot_needs_a_key_and_a_ledger(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = answer(capsys, "verify", ledger, "--snapshot", "s")
    assert (code, "only a signed one counts" in error) == (2, True)
    code, _, error = answer(capsys, "verify", ledger, "--snapshot", "s", "--key", "key.pub")
    assert (code, "no such snapshot" in error) == (2, True)
    Path("list.jsonl").write_text('{"mechanism": "laplace", "scale": "2", "sensitivity": "1"}\n')
    code, _, error = answer(capsys, "account", "list.jsonl", "--snapshot", "s", "--key", "key")
    assert (code, "--snapshot is for ledgers" in error) == (2, True)


def test_a_changed_snapshot_and_a_revoked_key_are_refused(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", ledger, "--snapshot", "s", "--key", "key"]) == 0
    whole = Path("s").read_bytes()
    Path("s").write_bytes(whole.replace(b'"epsilon":"1"', b'"epsilon":"0"', 1))
    assert Path("s").read_bytes() != whole
    for command in ("account", "verify"):
        code, _, error = answer(capsys, command, ledger, "--snapshot", "s", "--key", "key.pub")
        assert (code, "DPA007" in error) == (1, True)
    Path("s").write_bytes(whole)
    assert main(["account", ledger, "--snapshot", "s", "--key", "key.pub"]) == 0  # the twin
    Path("pyproject.toml").write_text('[tool.dpaudit]\nrevoked_keys = ["key.pub"]\n')
    code, _, error = answer(capsys, "account", ledger, "--snapshot", "s", "--key", "key.pub")
    assert (code, "revoked" in error) == (1, True)
