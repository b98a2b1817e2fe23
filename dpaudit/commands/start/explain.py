"""``dpaudit explain``."""

from __future__ import annotations

import argparse

from dpaudit.claims.rules import rule
from dpaudit.commands import HOLDS, Answer, Command


def explain_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.start import rule_report
    from dpaudit.report.formats import write

    return HOLDS, write(options.format, rule_report(rule(options.rule)))


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("rule", metavar="RULE", help="DPA001 … DPA008")


COMMANDS = (Command("explain", "what a rule says, why it matters, what to do", explain_command, _add_options),)
