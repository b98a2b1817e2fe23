"""What a client of the online face holds: its ticket, and in the local model the noise that it adds by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.claims import InvalidValue, Number


@dataclass(frozen=True)
class Terms:
    """How a client of the local model randomises its reward. Public, and the same for all clients of a batch."""

    low: float
    high: float
    scale: Fraction
    sensitivity: Fraction
    epsilon: Fraction


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


def client_report(ticket: Ticket, reward: float, *, budget: Number | None = None, channel: dp.Channel | None = None) -> Report:
    """Client side of the local model: clip the reward, add noise here, hand out the sum.

    ``budget`` is the client's own limit on ε, by default what the ticket states; a server that asks for less
    noise than that gets BudgetExceeded and nothing else. ``channel``: a simulated door, for tests.
    """
    terms = ticket.terms
    if terms is None:
        raise InvalidValue("ticket", "one that asks for no report", "a ticket of a batch of the local model")
    sealed = dp.seal([as_reward(reward)], terms.low, terms.high, first=ticket.round)

    def release(door: dp.Channel) -> Report:
        noise = dp.Laplace(terms.scale)
        noisy = door.release(f"batch {ticket.batch}", sealed[0], noise, sensitivity=terms.sensitivity)
        return Report(ticket.id, float(noisy))

    if channel is not None:
        return release(channel)
    with dp.live(dp.MemoryLedger(kind="deployment"), budget=budget or terms.epsilon) as door:
        return release(door)


def as_reward(reward: Any) -> float:
    """Any real number as a float, NaN and infinities too; only a wrong type is refused, by its name."""
    if not isinstance(reward, Real | np.bool_):
        raise InvalidValue("reward", type(reward).__name__, "a real number")
    try:
        return float(reward)
    except OverflowError:
        return math.inf if reward > 0 else -math.inf  # type: ignore[operator]
