"""The doctor finds what is missing, and says so with an exit code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpaudit.cli import main
from dpaudit.commands.start import doctor


def test_a_package_that_is_needed_and_missing_is_broken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor.metadata, "requires", lambda _: ["nosuchthing>=1", 'noextra>=2; extra == "fancy"'])
    assert main(["doctor"]) == 2
    told = capsys.readouterr().out
    assert "✗ nosuchthing" in told
    assert "· [fancy]" in told
    assert "pip install 'dpaudit[fancy]'" in told
    assert list(tmp_path.iterdir()) == []


def test_a_generator_that_repeats_itself_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor._entropy().state == "fine"
    monkeypatch.setattr(os, "urandom", bytes)
    monkeypatch.setattr(os, "getrandom", lambda size, flags: bytes(size))
    assert doctor._entropy().state == "broken"


def test_a_folder_whose_locks_do_not_hold_is_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctor._locks().state == "fine"
    monkeypatch.setattr(doctor, "_SECOND_WRITER", "")  # a second writer that is not kept out
    assert doctor._locks().state == "broken"
