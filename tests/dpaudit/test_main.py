"""``python -m dpaudit`` is the console script."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("arguments", [["--version"], ["explain", "DPA003"], ["no-such-command"]])
def test_the_module_and_the_script_answer_alike(arguments: list[str], tmp_path: Path) -> None:
    commands = [sys.executable, "-m", "dpaudit"], [str(Path(sys.executable).with_name("dpaudit"))]
    module, script = (
        subprocess.run([*command, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        for command in commands
    )
    assert (module.returncode, module.stdout, module.stderr) == (script.returncode, script.stdout, script.stderr)
    assert module.stdout or module.returncode == 2


def test_a_reader_who_has_had_enough_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "releases.jsonl"
    path.write_text('{"mechanism": "laplace", "scale": "1", "sensitivity": "1"}\n' * 200)
    reader, writer = os.pipe()
    os.close(reader)  # as `head` does, before anything is written
    command = [sys.executable, "-m", "dpaudit", "account", str(path)]
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
