"""What a client of the online face holds: its ticket, and in the local model the noise that it adds by itself."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.channel import Channel
from dpaudit.claims import InvalidValue, Number
from dpaudit.ledger import Ledger, MemoryLedger
from dpaudit.noise import GRID
from dpaudit.sealed.array import seal_declared


@dataclass(frozen=True)
class Terms:
    """How a client of the local model randomises its reward. Public, and the same for all clients of a batch."""

    low: float
    high: float
    scale: Fraction  # of Laplace noise; for bits, their ε
    sensitivity: Fraction
    epsilon: Fraction
    bits: bool = False  # a report is one randomised bit of the reward, not the reward with noise


@dataclass(frozen=True)
class Ticket:
    """One round: which action to play. ``id`` goes back with the reward; it says nothing about other rounds.

    ``batch`` is None once nothing is learnt any more; ``terms`` are given in the local model's batches only.
    """

    id: str
    round: int
    action: int
    vector: tuple[float, ...]
    batch: int | None = None
    terms: Terms | None = None


@dataclass(frozen=True)
class Report:
    """All that a client of the local model sends: its ticket's id and its reward with noise."""

    ticket: str
    value: float


class Client:
    """The client side of the local model: one report per ticket, for good.

    Asked again for a ticket, whatever the reward or the terms are now, it sends the report that it sent first: a server that
    could make it draw again would average the noise away. ``ledger``: the client's own, in which its reports outlive a restart
    (without one, they live as long as this object). ``budget``: its limit on ε for the reward of one round, by default what the
    first ticket states; a server that asks for less noise, or twice for one round, gets BudgetExceeded and nothing else.
    """

    def __init__(self, *, budget: Number | None = None, ledger: Ledger | None = None) -> None:
        self._budget = budget
        self._ledger = MemoryLedger(kind="deployment") if ledger is None else ledger
        self._lock, self._sent = threading.Lock(), _Sent()

    def report(self, ticket: Ticket, reward: float) -> Report:
        """Clip the reward, add noise here, hand out the sum. Raises InvalidValue for a ticket that asks for no report."""
        with self._lock:
            return self._sent.first(ticket, lambda: self._draw(ticket, reward))

    def _draw(self, ticket: Ticket, reward: float) -> float:
        stated = _terms(ticket).epsilon if self._ledger.budget is None else None
        with dp.live(self._ledger, budget=stated if self._budget is None else self._budget) as door:
            return _randomised(ticket, reward, door)


def client_report(ticket: Ticket, reward: float, *, budget: Number | None = None, channel: Channel | None = None) -> Report:
    """``Client.report`` for a client who is asked once: each ticket is a client of its own, and this process remembers its
    report. ``channel``: a simulated door that draws and remembers instead, for tests.
    """
    if channel is not None:
        return Report(ticket.id, _randomised(ticket, reward, channel))
    with _here:
        return _sent_here.first(ticket, lambda: Client(budget=budget)._draw(ticket, reward))


class _Sent:
    """What was sent for each ticket. Never forgotten: whoever could make it forget could make it draw again."""

    def __init__(self) -> None:
        self._values: dict[str, float] = {}

    def first(self, ticket: Ticket, draw: Callable[[], float]) -> Report:
        if ticket.id not in self._values:
            self._values[ticket.id] = draw()
        return Report(ticket.id, self._values[ticket.id])


_here, _sent_here = threading.Lock(), _Sent()


def _terms(ticket: Ticket) -> Terms:
    if ticket.terms is None:
        raise InvalidValue(
            "ticket",
            "one that asks for no report",
            "a ticket of a batch of the local model (ticket.terms is None where none is asked for)",
        )
    return ticket.terms


def _randomised(ticket: Ticket, reward: float, door: Channel) -> float:
    terms = _terms(ticket)
    sealed = seal_declared([as_reward(reward)], terms.low, terms.high, first=ticket.round)
    noise: Any = dp.RandomizedResponse(terms.epsilon) if terms.bits else dp.Laplace(terms.scale)
    value = np.where(sealed >= _threshold(terms, door), 1.0, 0.0)[0] if terms.bits else sealed[0]
    key = f"ticket {ticket.id}"
    return float(door.release(f"batch {ticket.batch}", value, noise, sensitivity=terms.sensitivity, key=key))


def _threshold(terms: Terms, door: Channel) -> np.ndarray:
    """low + j·g, j uniform on 1, …, (high − low)/g: a reward r is at least this with probability (r − low)/(high − low)."""
    low, high = (int(Fraction(end) / GRID) for end in (terms.low, terms.high))
    threshold: np.ndarray = door.rng.integers(low + 1, high + 1, 1) * float(GRID)
    return threshold


def as_reward(reward: Any) -> float:
    """Any real number as a float, NaN and infinities too; only a wrong type is refused, by its name."""
    if not isinstance(reward, Real | np.bool_):
        raise InvalidValue("reward", type(reward).__name__, "a real number")
    try:
        return float(reward)
    except OverflowError:
        return math.inf if reward > 0 else -math.inf  # type: ignore[operator]
