"""``dpaudit explain``."""

from __future__ import annotations

import argparse

from dpaudit.claims.rules import RULES, WORDS, explained
from dpaudit.commands import HOLDS, Answer, Command, write_report


def explain_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.start import rule_report, rules_report

    if options.rule is None:
        return HOLDS, write_report(options, rules_report([*RULES.values(), *WORDS.values()]))
    return HOLDS, write_report(options, rule_report(explained(options.rule)))


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "rule", metavar="RULE", nargs="?", help="DPA001 … DPA009, or certified; without it, all in one line each"
    )


COMMANDS = (Command("explain", "what a rule says, why it matters, what to do", explain_command, _add_options),)
