"""What a live door says of its releases, to Python's ``logging`` under the name ``dpaudit`` and to whoever listens: what its
ledger holds, never a value."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from dpaudit.claims import show
from dpaudit.ledger import Ledger, Release

LOGGER = logging.getLogger("dpaudit")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Passage:
    """What is public of a release before it is charged."""

    name: str
    to: str
    mechanism: str
    epsilon: Fraction | None
    delta: Fraction


# Each gets the passage, its ledger and the work, and must do the work: charge, draw, store.
Listener = Callable[[Passage, Ledger, Callable[[], Any]], Any]
LISTENERS: list[Listener] = []


def heard(record: Release, ledger: Ledger, work: Callable[[], Result]) -> Callable[[], Result]:
    """The same work, in the presence of whoever listens."""
    if not LISTENERS:
        return work
    passage = Passage(record.name, record.to, record.mechanism, record.epsilon, record.delta)
    for listener in tuple(LISTENERS):
        work = partial(listener, passage, ledger, work)
    return work


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
