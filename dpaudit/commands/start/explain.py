"""``dpaudit explain``."""

from __future__ import annotations

import argparse

from dpaudit.claims.rules import rule
from dpaudit.commands import HOLDS, Answer, Command, as_json


def explain_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.text import wrapped

    found = rule(options.rule)
    if options.format == "json":
        return HOLDS, as_json({"schema": "dpaudit.explain/1", **vars(found)})
    return HOLDS, "\n".join([f"{found.id}: {found.title}", *wrapped("why", found.why), *wrapped("do", found.remedy)])


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("rule", metavar="RULE", help="DPA001 … DPA008")


COMMANDS = (Command("explain", "what a rule says, why it matters, what to do", explain_command, _add_options),)
