"""What a live door says to Python's ``logging`` under the name ``dpaudit``: what its ledger holds of a release, never a value."""

from __future__ import annotations

import logging

from dpaudit.claims import show
from dpaudit.ledger import Release

LOGGER = logging.getLogger("dpaudit")


def log_release(record: Release, *, fresh: bool = True) -> None:
    """One line at level INFO for each release that passed; nothing is put into words where nobody listens."""
    if not LOGGER.isEnabledFor(logging.INFO):
        return
    cost = "at no finite ε by itself" if record.epsilon is None else f"at ε = {show(record.epsilon)}"
    failure = f", δ = {show(record.delta)}" if record.delta else ""
    again = "" if fresh else " (stored before, handed back again)"
    LOGGER.info("released %r to %s by %s %s%s%s", record.name, record.to, record.mechanism, cost, failure, again)


def warn_declared(name: str, where: str) -> None:
    """One line at level WARNING for a value whose sensitivity nobody proves."""
    LOGGER.warning(
        "release %r at %s is of a plain array: its sensitivity is only declared. dp.seal or subject.deploy proves it, "
        "dp.live(…, strict=True) refuses what is not sealed",
        name,
        where,
    )
