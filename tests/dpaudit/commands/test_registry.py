"""A command is one module and one row."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

from dpaudit.cli import build_parser, main
from dpaudit.commands import HOLDS, Answer, Command
from dpaudit.commands.registry import MODULES, command


@pytest.mark.parametrize("name", MODULES)
def test_every_row_leads_to_a_command_of_its_name(name: str) -> None:
    assert command(name).name == name
    assert command(name).help


def test_every_command_that_a_module_describes_has_a_row() -> None:
    described = [each.name for module in set(MODULES.values()) for each in import_module(module).COMMANDS]
    assert sorted(described) == sorted(MODULES)


def test_a_toy_command_needs_its_module_and_its_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(options: argparse.Namespace) -> Answer:
        return HOLDS, f"hello {options.whom} as {options.format}"

    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("whom")

    toy = ModuleType("dpaudit.commands.toy")
    toy.COMMANDS = (Command("greet", "say hello", run, add_options, ("html",)),)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, toy.__name__, toy)
    assert main(["greet", "you"]) == 2  # the twin: without the row there is no such command
    monkeypatch.setitem(MODULES, "greet", toy.__name__)
    assert main(["greet", "you", "--format", "html"]) == HOLDS
    assert capsys.readouterr().out == "hello you as html\n"
    assert "say hello" in build_parser().format_help()


def test_a_command_that_is_called_loads_no_other() -> None:
    program = "import sys; from dpaudit.cli import main; main(['explain', 'DPA001']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    loaded = done.stdout.split()
    assert "dpaudit.commands.start.explain" in loaded
    assert not {f"dpaudit.commands.{module}" for module in MODULES.values() if module != "start.explain"} & set(loaded)


def test_help_starts_without_the_libraries_that_compute() -> None:
    program = "import sys; from dpaudit.cli import main\ntry: main(['--help'])\nfinally: print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "COMMAND" in done.stdout
    assert not {"numpy", "scipy", "mpmath", "flint"} & set(done.stdout.split())
