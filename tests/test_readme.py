"""The README and the guide show what really happens: each of their commands is run, in order, in one folder that holds their
examples, and what is shown of their output is compared. `make readme` renews the outputs and the list of options."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dpaudit.cli import build_parser

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
README, OPTIONS_PAGE = ROOT / "README.md", ROOT / "docs" / "guide" / "command-line.md"
GUIDE = [
    ROOT / "docs" / name for name in ("guide/certify.md", "guide/releases.md", "guide/gate.md", "guide/review.md", "paper.md")
]
TUTORIAL = ROOT / "docs" / "tutorial.md"
# Pages of one journey are run in this order in one folder: the gate holds what the page before it deployed.
JOURNEYS = {"guide": [README, *GUIDE], "tutorial": [TUTORIAL]}
BLOCK = re.compile(r"<!-- (?P<kind>demo|output: (?P<command>.*?)) -->\n```\n(?P<body>.*?)```\n", re.DOTALL)
EXAMPLE = re.compile(r"<!-- (?P<how>example|append): (?P<file>\S+) -->\n```\w+\n(?P<code>.*?)```\n", re.DOTALL)
OPTIONS = re.compile(r"<!-- options -->\n```\n(?P<body>.*?)```\n", re.DOTALL)
STEP = re.compile(rf"{BLOCK.pattern}|{EXAMPLE.pattern}|^    \$ (?P<plain>dpaudit [^\n]*)$", re.DOTALL | re.MULTILINE)
EVERYWHERE = {"--help", "--format", "--output", "--version"}
VARIES = re.compile(r"\d+\.\d+ ?s\b|\b[0-9a-f]{16}…|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")  # seconds, key ids, times of signing


def whole_text(pages: Sequence[Path]) -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def outputs(pages: Sequence[Path], folder: Path) -> dict[str, str]:
    """What every shown command prints now, run in ``folder``: examples are written down where a page shows them."""
    made = {}
    for step in STEP.finditer(whole_text(pages)):
        if step["file"]:
            with (folder / step["file"]).open("a" if step["how"] == "append" else "w", encoding="utf-8") as file:
                file.write(("\n\n" if step["how"] == "append" else "") + step["code"])
        elif step["plain"]:
            run(step["plain"].split(), folder)
        else:
            made[step["kind"]] = run((step["command"] or "dpaudit demo").split(), folder)
    return made


def run(words: list[str], folder: Path) -> str:
    """Standard output; exit codes 0, 1 and 3 are answers."""
    program = [sys.executable] if words[0] == "python" else [str(Path(sys.executable).with_name(words[0]))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB", "PYTEST"))}
    done = subprocess.run(
        [*program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode in {0, 1, 3}, f"{' '.join(words)}: {done.stderr or done.stdout}"
    assert done.stdout or "--output" in words, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


def options() -> str:
    """Every command with the options that its parser knows, beside those that all of them have."""
    (commands,) = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    lines = []
    for name, parser in commands.choices.items():
        known = [option for action in parser._actions for option in action.option_strings[-1:]]
        words = [
            f"dpaudit {name}",
            *(option for option in known if option not in ("--help", "--format", "--output", "--version")),
        ]
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def steady(text: str) -> str:
    return VARIES.sub("…", text)


@pytest.mark.timeout(1200)  # some 90 s of CPU in dozens of commands: much longer on a loaded machine
@pytest.mark.parametrize("journey", JOURNEYS)
def test_shown_outputs_are_what_the_commands_print(journey: str, tmp_path: Path) -> None:
    pages = JOURNEYS[journey]
    shown = {block["kind"]: block["body"] for block in BLOCK.finditer(whole_text(pages))}
    made = outputs(pages, tmp_path)
    assert set(shown) == set(made)
    for kind, body in shown.items():
        assert steady(body) == steady(made[kind])


def test_the_options_listed_are_those_of_help() -> None:
    listed = OPTIONS.search(OPTIONS_PAGE.read_text(encoding="utf-8"))
    assert listed is not None
    assert listed["body"] == options()


def test_every_command_and_option_shown_exists() -> None:
    pages = [README, *sorted((ROOT / "docs").rglob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages if "reference" not in page.parts)
    known = {line.split()[1]: set(line.split()[2:]) for line in options().splitlines()}
    shown = re.findall(r"dpaudit ([a-z-]+)\b([^\n`|]*)", re.sub(r"```python.*?```", "", text, flags=re.DOTALL))
    used = [(command, option) for command, rest in shown if command in known for option in re.findall(r"--[a-z0-9-]+", rest)]
    for command, option in used:
        assert option in known[command] | EVERYWHERE, f"{command} has no {option}"
    assert {command for command, _ in used} >= {"audit", "certify", "verify", "check", "run", "account"}
    table = README.read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `dpaudit ([a-z-]+)", table, flags=re.MULTILINE)) | {"checkpoint"} == set(known)


def test_the_readme_is_what_one_needs_before_clicking() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert len(links) > 10
    assert not [link for link in links if not (ROOT / link).is_file()]


def test_every_example_of_the_guide_is_run_or_stands_in_a_file_that_is() -> None:
    for page in [README, *sorted((ROOT / "docs" / "guide").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        examples = re.findall(r"(?:<!-- (\w+): (\S+) -->\n)?```python\n(.*?)```\n", text, re.DOTALL)
        for kind, name, code in examples:
            assert kind in {"example", "from", "paper"}, (
                f"{page.name}: {code[:80]}"
            )  # a paper: tests/dpaudit/commands installs it
            if kind == "from":
                source = {line.strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()}
                assert {line.strip() for line in code.splitlines()} - {"..."} <= source, f"{page.name} and {name}"


def shown_again(text: str, made: dict[str, str]) -> str:
    return BLOCK.sub(lambda block: f"<!-- {block['kind']} -->\n```\n{made[block['kind']]}```\n", text)


def renew() -> None:
    import tempfile

    for pages in JOURNEYS.values():
        with tempfile.TemporaryDirectory() as folder:
            made = outputs(pages, Path(folder))
        for page in pages:
            page.write_text(shown_again(page.read_text(encoding="utf-8"), made), encoding="utf-8")
    text = OPTIONS_PAGE.read_text(encoding="utf-8")
    OPTIONS_PAGE.write_text(OPTIONS.sub(lambda _: f"<!-- options -->\n```\n{options()}```\n", text), encoding="utf-8")


if __name__ == "__main__":
    renew()
