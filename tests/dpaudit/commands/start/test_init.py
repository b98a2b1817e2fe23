"""First files: what exists is kept, and what is written works as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.claims import DpauditError
from dpaudit.commands.start.init import FILES, write_first_files
from dpaudit.gate.policy import read_config


def test_the_table_is_added_once_to_a_file_that_has_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'", encoding="utf-8")
    assert write_first_files(tmp_path)["pyproject.toml"].startswith("added")
    once = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert write_first_files(tmp_path)["pyproject.toml"].startswith("kept")
    assert (tmp_path / "pyproject.toml").read_text(encoding="utf-8") == once
    assert [budget.name for budget in read_config(tmp_path).budgets] == ["ratings"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_exists_is_kept(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("mine", encoding="utf-8")
    done = write_first_files(tmp_path)
    assert done[name] == "kept: it was there"
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_nothing_is_written_beside_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.dpaudit", encoding="utf-8")
    with pytest.raises(DpauditError, match="not TOML"):
        write_first_files(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["pyproject.toml"]


def test_the_test_that_is_written_passes(tmp_path: Path) -> None:
    write_first_files(tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "privacy"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
