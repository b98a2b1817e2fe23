"""``dpaudit migrate``: a ledger moves to another store."""

from __future__ import annotations

import argparse

from dpaudit.commands import HOLDS, Answer, Command, as_json


def migrate_command(options: argparse.Namespace) -> Answer:
    """Close OLD, copy its entries to NEW, and say where both stand."""
    from dpaudit.ledger.migration import move
    from dpaudit.ledger.opening import shown_place

    head = move(options.old, options.new)
    old, new = shown_place(options.old), shown_place(options.new)
    if options.format == "json":
        return HOLDS, as_json({"schema": "dpaudit.migrate/1", "from": old, "to": new, "size": head.size, "root": head.root})
    return (
        HOLDS,
        f"{new}: {head.size} entries, root {head.root[:16]}…\n{old}: closed; it can be read, and nothing is granted there",
    )


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("old", metavar="OLD", help="a ledger file, its export, or postgresql://…")
    command.add_argument("new", metavar="NEW", help="a new file, or postgresql://user@host/database?ledger=NAME")


COMMANDS = (
    Command(
        "migrate", "move a ledger to another store, such as postgresql://…, and close the old one", migrate_command, _add_options
    ),
)
