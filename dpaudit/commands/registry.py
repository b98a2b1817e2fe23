"""The commands by name, and the module that describes each. A new command is one module and one row here."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module

from dpaudit import __version__
from dpaudit.commands import Command

MODULES = {  # in the order of `dpaudit --help`
    "init": "dpaudit.commands.start.init",
    "demo": "dpaudit.commands.start.run",
    "run": "dpaudit.commands.start.run",
    "account": "dpaudit.commands.accounting.account",
    "audit": "dpaudit.commands.auditing.audit",
    "canaries": "dpaudit.commands.auditing.canaries",
    "amplify": "dpaudit.commands.accounting.account",
    "invert": "dpaudit.commands.accounting.account",
    "peers": "dpaudit.commands.accounting.peers",
    "calibrate": "dpaudit.commands.accounting.calibrate",
    "compare": "dpaudit.commands.accounting.compare",
    "claims": "dpaudit.commands.auditing.claims",
    "new-paper": "dpaudit.commands.auditing.new_paper",
    "check": "dpaudit.commands.gate.check",
    "explain": "dpaudit.commands.start.explain",
    "doctor": "dpaudit.commands.start.doctor",
    "completion": "dpaudit.commands.start.completion",
    "keygen": "dpaudit.commands.ledgers.ledger_files",
    "checkpoint": "dpaudit.commands.ledgers.ledger_files",
    "certify": "dpaudit.commands.gate.certify",
    "verify": "dpaudit.commands.ledgers.ledger_files",
    "export": "dpaudit.commands.ledgers.ledger_files",
    "migrate": "dpaudit.commands.ledgers.migrate",
    "serve": "dpaudit.commands.ledgers.serve",
}


def command(name: str) -> Command:
    """The command of this name, as its module describes it. Nothing else is loaded."""
    described: tuple[Command, ...] = import_module(MODULES[name]).COMMANDS
    return next(each for each in described if each.name == name)


def fill_parser(parser: ArgumentParser, described: Command) -> None:
    """The options that every command has, and its own."""
    formats = ("text", "json", *described.formats)
    parser.add_argument("--format", choices=formats, default="text", help=f"one of {', '.join(formats)} (default text)")
    parser.add_argument("--output", metavar="FILE", help="write there instead of to the terminal")
    parser.add_argument("--version", action="version", version=f"dpaudit {__version__}")
    parser.set_defaults(command=described.run, parser=parser)
    described.add_options(parser)
