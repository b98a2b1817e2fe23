"""Every example that a command's ``--help`` shows is a command line that the parser takes."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest

from dpaudit.cli import build_parser


def commands() -> dict[str, argparse.ArgumentParser]:
    action = next(action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(action.choices)


def examples() -> list[str]:
    return [line.strip() for command in commands().values() for line in re.findall(r"^ +dpaudit .*", command.format_help(), re.M)]


def test_commands_show_examples() -> None:
    assert len(examples()) >= 10


@pytest.mark.parametrize("line", examples())
def test_an_example_can_be_typed_as_it_stands(line: str) -> None:
    words = shlex.split(line, comments=True)
    command = words[: words.index(">")] if ">" in words else words  # where its output goes is the shell's
    options = build_parser().parse_args(command[1:])
    assert options.command.__name__.endswith("_command")


@pytest.mark.parametrize("name", commands())
def test_every_option_says_what_it_does(name: str) -> None:
    silent = [action.option_strings for action in commands()[name]._actions if action.option_strings and not action.help]
    assert silent == []
