"""What a shell completes: every command and option, asked of a real bash; the other scripts name the same words."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from dpaudit.cli import main
from dpaudit.commands.registry import MODULES
from dpaudit.commands.start.completion import _commands


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def complete(text: str, folder: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    line = " ".join(f"'{word}'" for word in words)
    asked = f'{text}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _dpaudit; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", asked], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_values_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("", encoding="utf-8")
    text = script("bash", capsys)
    assert complete(text, tmp_path, "dpaudit", "ex") == ["explain", "export"]
    assert complete(text, tmp_path, "dpaudit", "audit", "--sa") == ["--samples"]
    assert complete(text, tmp_path, "dpaudit", "audit", "--observer", "sh") == ["shuffled"]
    assert complete(text, tmp_path, "dpaudit", "audit", "mi") == ["mine.py"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_there(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for name, (_, options) in _commands().items():
        assert name in MODULES
        lines = [line for line in text.splitlines() if name in line]
        for option in options:
            assert any(option in line or f"-l {option[2:]}" in line or f"-s {option[1:]}" in line for line in lines), option
