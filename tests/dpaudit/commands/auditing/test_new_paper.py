"""A new paper's skeleton works as it is written: its test passes, its claim is decided, and nothing is overwritten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.cli import main


def test_the_skeleton_s_own_test_passes_and_fails_where_its_claim_is_changed(tmp_path: Path) -> None:
    assert main(["new-paper", "my-paper", "--folder", str(tmp_path)]) == 0
    folder = tmp_path / "my-paper"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]

    def tested() -> int:  # without bytecode, which an edit within the same second and of the same length would not renew
        environment = {"PYTHONPATH": str(folder), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False).returncode

    assert tested() == 0
    claims = folder / "my_paper" / "claims.py"
    claims.write_text(claims.read_text(encoding="utf-8").replace("moved > 1", "moved > 2"), encoding="utf-8")
    assert tested() == 1


def test_an_installed_skeleton_is_decided_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-paper", "my-paper", "--folder", str(tmp_path)]) == 0
    folder = tmp_path / "my-paper"
    installed = folder / "my_paper-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: my-paper\nVersion: 0\n", encoding="utf-8")
    (installed / "entry_points.txt").write_text("[dpaudit.claims]\nmy-paper = my_paper.claims:checks\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "dpaudit", "claims", "--paper", "my-paper", "--format", "json"],
        env={"PYTHONPATH": str(folder), "PATH": ""}, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"my-paper.sensitivity"' in done.stdout
    assert '"thm1.privacy"' not in done.stdout


@pytest.mark.parametrize("name", ["My Paper", "../x", "a--b", ""])
def test_other_names_and_taken_folders_are_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-paper", name, "--folder", str(tmp_path)]) == 2
    (tmp_path / "taken").mkdir()
    assert main(["new-paper", "taken", "--folder", str(tmp_path)]) == 2
    assert list((tmp_path / "taken").iterdir()) == []


def test_a_paper_that_is_not_installed_is_refused_and_the_others_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--paper", "nothing"]) == 2
    assert "sparse-vector" in capsys.readouterr().err
