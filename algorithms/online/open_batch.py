"""One open batch of the online face: what has arrived stays in closures, and only the privacy step's result leaves.

No attribute, repr, copy, pickle or message holds a reward, a running sum or the shuffler's order. (Code in the
same process can read all of its memory; this keeps private data out of what is looked at, logged or stored.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

import dpaudit as dp
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.shuffled import Shuffled, Shuffler
from algorithms.online.client import Report, as_reward
from algorithms.rewards import Rounds, SealedRewards, Sequence, bounds
from dpaudit.channel import Channel, sum_by_tag
from dpaudit.claims import InvalidValue, Leak
from dpaudit.noise import Noise, from_units, to_units
from dpaudit.sealed import snap


@dataclass(frozen=True, eq=False)
class Batch:
    """Slots 0 … size−1 are the rounds of one batch. ``put`` keeps the first value of a slot."""

    number: int
    start: int
    size: int
    action: Callable[[int], int] = field(repr=False)
    arrived: Callable[[int], bool] = field(repr=False)
    waiting: Callable[[], int] = field(repr=False)
    put: Callable[[int, Any], None] = field(repr=False)
    fill: Callable[[int], None] = field(repr=False)  # the declared default stands in for a slot
    statistic: Callable[[Channel], np.ndarray] = field(repr=False)

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Leak("pickling or copying an open batch")


@dataclass(frozen=True)
class Layout:
    """The public facts of one batch."""

    pulls: Pulls
    number: int
    scale: Any  # of Laplace noise, or the mechanism itself

    @property
    def noise(self) -> Noise:
        return noise_of(self.scale)

    @property
    def start(self) -> int:
        return int(self.pulls.start[0])

    @property
    def ordered(self) -> np.ndarray:
        """Rounds go to the arms in turn: the place among the arms, per slot."""
        return np.repeat(np.arange(self.pulls.counts.shape[1]), self.pulls.counts[0])


def noise_of(scale: Any) -> Noise:
    """A plan names a scale of Laplace noise, or a mechanism."""
    return scale if isinstance(scale, dp.Laplace | dp.RandomizedResponse) else dp.Laplace(scale)


def hold_rewards(step: Any, layout: Layout, low: float, high: float, missing: float, door: Channel) -> Batch:
    """Central and shuffled: a trusted party keeps the rewards until the batch is complete.

    A shuffler draws its secret order now, through ``door``, as the actions are handed out in that order.
    """
    places = layout.ordered
    order = door.secret_permutation(len(places)) if isinstance(step, Shuffled) else None
    places = places if order is None else places[order]
    values = np.full(len(places), missing)

    def put(slot: int, reward: Any) -> None:
        values[slot] = snap(as_reward(reward), low, high)

    def statistic(channel: Channel) -> np.ndarray:
        rewards = SealedRewards(_BatchRewards(Sequence(values, low, high), layout.start))
        if order is None:
            noisy: np.ndarray = step.statistic(channel, rewards, layout.pulls, layout.number, layout.scale)
            return noisy
        shuffler = _Ordered(channel, order)
        records = shuffler.assign(rewards, layout.pulls)
        noise = layout.noise
        shuffled: np.ndarray = step.server(shuffler.collect(records, layout.number, noise, step.sensitivity))
        return shuffled

    return _batch(layout, places, put, lambda slot: missing, statistic)


def receive_reports(
    server: Callable[[np.ndarray], np.ndarray],
    layout: Layout,
    stand_in: Callable[[int], Report],
    record: Callable[[int, int, int], int],
    known: Mapping[int, int],
) -> Batch:
    """Local: the server keeps reports alone. ``record`` (slot, place, units) makes one durable before it counts.

    ``server``: what it makes of sums of reports; ``known``: reports that the ledger holds already, in units by slot.
    """
    places, grid, bits = layout.ordered, layout.noise.grid, isinstance(layout.noise, dp.RandomizedResponse)
    units = np.zeros(len(places), np.int64)

    def put(slot: int, report: Any) -> None:
        if not isinstance(report, Report):
            raise InvalidValue("reward", type(report).__name__, "a report: the client calls client_report(ticket, reward)")
        if not np.isfinite(report.value):
            raise InvalidValue("report", report.value, "finite")
        if bits and report.value not in (0, 1):
            raise InvalidValue("report", report.value, "a bit, 0 or 1")
        units[slot] = record(slot, int(places[slot]), int(to_units(report.value, grid)))

    def statistic(_: Channel) -> np.ndarray:
        sums = sum_by_tag(units, places, layout.pulls.counts.shape[1])
        return server(from_units(sums, grid))

    batch = _batch(layout, places, put, stand_in, statistic, frozenset(known))
    for slot, number in known.items():
        units[slot] = number
    return batch


def _batch(
    layout: Layout,
    places: np.ndarray,
    put: Callable[[int, Any], None],
    stand_in: Callable[[int], Any],
    statistic: Callable[[Channel], np.ndarray],
    known: frozenset[int] = frozenset(),
) -> Batch:
    here = np.zeros(len(places), bool)
    here[list(known)] = True
    waiting = len(places) - len(known)
    arms = layout.pulls.arms[0]

    def arrive(slot: int, value: Any) -> None:
        nonlocal waiting
        if here[slot]:
            return
        put(slot, value)
        here[slot] = True
        waiting -= 1

    return Batch(
        layout.number,
        layout.start,
        len(places),
        action=lambda slot: int(arms[places[slot]]),
        arrived=lambda slot: bool(here[slot]),
        waiting=lambda: waiting,
        put=arrive,
        fill=lambda slot: None if here[slot] else arrive(slot, stand_in(slot)),
        statistic=statistic,
    )


@dataclass(frozen=True, repr=False, eq=False)
class _Ordered(Shuffler):
    """A shuffler that has handed out its actions already: it undoes the order that it drew then."""

    order: np.ndarray

    def permutation(self, n: int) -> np.ndarray:
        return self.order


@dataclass(frozen=True, repr=False, eq=False)
class _BatchRewards:
    """The rewards of rounds ``start``, ``start`` + 1, … alone."""

    sequence: Sequence
    start: int
    exchangeable = False

    @property
    def low(self) -> float:
        return self.sequence.low

    @property
    def high(self) -> float:
        return self.sequence.high

    def _own(self, rounds: Rounds) -> tuple[Any, Any]:
        first, last = bounds(rounds)
        return first - self.start, last - self.start

    def sum(self, rounds: Rounds, action: Any) -> Any:
        return self.sequence.sum(self._own(rounds), action)

    def each(self, rounds: Rounds, action: np.ndarray) -> np.ndarray:
        return self.sequence.each(self._own(rounds), action)


@dataclass(frozen=True, eq=False)
class Received:
    """Reports of a batch, summed per action: what the server's side of the local model adds up."""

    sums: np.ndarray

    def sum(self) -> np.ndarray:
        return self.sums
