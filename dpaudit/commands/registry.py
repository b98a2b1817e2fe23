"""The commands by name, and the module that describes each. A new command is one module and one row here."""

from __future__ import annotations

from importlib import import_module

from dpaudit.commands import Command

MODULES = {  # in the order of `dpaudit --help`
    "demo": "start.run",
    "run": "start.run",
    "account": "accounting.account",
    "audit": "auditing.audit",
    "amplify": "accounting.account",
    "invert": "accounting.account",
    "peers": "accounting.peers",
    "calibrate": "accounting.calibrate",
    "compare": "accounting.compare",
    "claims": "auditing.claims",
    "check": "gate.check",
    "explain": "start.explain",
    "keygen": "ledgers.ledger_files",
    "checkpoint": "ledgers.ledger_files",
    "certify": "gate.certify",
    "verify": "ledgers.ledger_files",
    "export": "ledgers.ledger_files",
}


def command(name: str) -> Command:
    """The command of this name, as its module describes it. Nothing else is loaded."""
    described: tuple[Command, ...] = import_module(f"dpaudit.commands.{MODULES[name]}").COMMANDS
    return next(each for each in described if each.name == name)
