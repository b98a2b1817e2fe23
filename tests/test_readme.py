"""The README shows what really happens: its outputs are made anew and compared. `python tests/test_readme.py` renews them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"<!-- (?P<kind>demo|output: (?P<command>.*?)) -->\n```\n(?P<body>.*?)```\n", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example: (?P<file>\S+) -->\n```python\n(?P<code>.*?)```\n", re.DOTALL)


def outputs(folder: Path) -> dict[str, str]:
    """What every shown command prints now, run in ``folder`` with the README's own examples in it."""
    text = README.read_text(encoding="utf-8")
    for example in EXAMPLE.finditer(text):
        (folder / example["file"]).write_text(example["code"], encoding="utf-8")
    made = {}
    for block in BLOCK.finditer(text):
        arguments = (block["command"] or "dpaudit demo").split()[1:]
        script = Path(sys.executable).with_name("dpaudit")
        done = subprocess.run([script, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.stdout, done.stderr
        made[block["kind"]] = done.stdout
    return made


def without_times(text: str) -> str:
    return re.sub(r"; \d+\.\d\d s$", "", text, flags=re.MULTILINE)


def test_shown_outputs_are_what_the_commands_print(tmp_path: Path) -> None:
    shown = {block["kind"]: block["body"] for block in BLOCK.finditer(README.read_text(encoding="utf-8"))}
    made = outputs(tmp_path)
    assert set(shown) == set(made)
    for kind, body in shown.items():
        assert without_times(body) == without_times(made[kind])


def test_every_command_and_option_shown_exists() -> None:
    text = README.read_text(encoding="utf-8")
    script = Path(sys.executable).with_name("dpaudit")
    for command in sorted(set(re.findall(r"`dpaudit (\w+)", text))):
        done = subprocess.run([script, command, "--help"], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, command
        for line in re.findall(rf"dpaudit {command}\b[^\n`|]*", text):
            for option in re.findall(r"--[a-z0-9]+", line):
                assert option in done.stdout, f"{command} has no {option}"


def renew() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = outputs(Path(folder))
    text = README.read_text(encoding="utf-8")
    renewed = BLOCK.sub(lambda block: f"<!-- {block['kind']} -->\n```\n{made[block['kind']]}```\n", text)
    README.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    renew()
