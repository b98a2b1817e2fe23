"""Runs of a subject for the game: transcripts of both data sets as tables of numbers, or as exact log-likelihood ratios."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.auditors.replay.pinned_runs import play
from dpaudit.auditors.runs.fixed_queries import FixedQueries, fixed_queries
from dpaudit.auditors.runs.output_cells import cells
from dpaudit.auditors.runs.returned_values import as_rows, row_marks
from dpaudit.channel import Channel, Event, simulate
from dpaudit.subjects.subject import Subject, fresh

CHUNK = 20_000  # trials in one call
SINGLE = 500  # runs in a chunk of those that are called one by one
CELLS = 2 * 10**7  # numbers that training holds at a time
PROBED = 500  # runs that are repeated before chunks are given to other processes


def child(seed: int, *path: int) -> int:
    """A seed for one run or stage. Seeds that are counted up instead would share runs between stages and audits."""
    return int(np.random.SeedSequence([seed, *path]).generate_state(1, np.uint64)[0] >> np.uint64(1))


@dataclass(frozen=True)
class Trials:
    """The runs of one game: a fair coin each chooses the data set. Chunk k is the same whoever computes it."""

    subject: Subject
    pair: tuple[Any, Any]
    seed: int
    by_likelihood: bool
    observer: str = "server"  # who sees, beside what is returned, what was released to him
    _memory: dict[str, FixedQueries | None] = field(default_factory=dict, compare=False, repr=False)  # of all games on this pair

    @property
    def largest(self) -> int:
        return CHUNK if self.subject.vectorised or self.fixed is not None else SINGLE

    @property
    def fixed(self) -> FixedQueries | None:
        """What the two data sets ask in every run, where a call for each run would tell no more. Returned values are not looked
        at then, so the data must be of a kind that sealed runs have followed into them."""
        if "fixed" not in self._memory:
            one_by_one = self.by_likelihood and not self.subject.vectorised
            sealable = one_by_one and self.subject.neighbours.seal(self.pair[0]) is not None
            self._memory["fixed"] = fixed_queries(self.subject, self.pair, 0) if sealable else None
        return self._memory["fixed"]

    def chunk(self, number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Coins, and for each run its exact score or the row that it returned."""
        coins, (ones, zeros) = self.sides(number, size)
        mixed = np.empty((size, *ones.shape[1:]))
        mixed[coins], mixed[~coins] = ones, zeros
        return coins, mixed

    def sides(self, number: int, size: int) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """The same, runs on the first data set apart from those on the other."""
        seed = child(self.seed, number)
        coins = np.random.default_rng([seed, 5]).random(size) < 0.5
        seeds = child(seed, 1), child(seed, 0)
        if self.fixed is not None:
            heads = int(coins.sum())
            return coins, (self.fixed.losses(0, heads, seeds[0]), -self.fixed.losses(1, size - heads, seeds[1]))
        ones, zeros = self._together(coins, seeds) if self.subject.vectorised else self._in_turn(coins, seeds)
        if not self.by_likelihood:
            width = max(ones.shape[1], zeros.shape[1])
            ones, zeros = padded(ones, width), padded(zeros, width)
        return coins, (ones, zeros)

    def _together(self, coins: np.ndarray, seeds: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """A call for each data set."""
        (first, second), heads = self.pair, int(coins.sum())
        if self.by_likelihood:
            ones = likelihood_scores(self.subject, first, second, heads, seeds[0])
            return ones, -likelihood_scores(self.subject, second, first, len(coins) - heads, seeds[1])
        ones = returned_values(self.subject, first, heads, seeds[0], self.observer)
        return ones, returned_values(self.subject, second, len(coins) - heads, seeds[1], self.observer)

    def _in_turn(self, coins: np.ndarray, seeds: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        """Calls in the order of the coins: what a subject counts from call to call, or reads off a clock, is public."""
        sides: list[Iterator[Any]] = [
            single_losses(self.subject, data, other, seed)
            if self.by_likelihood
            else single_rows(self.subject, data, seed, self.observer)
            for data, other, seed in ((*self.pair, seeds[0]), (*self.pair[::-1], seeds[1]))
        ]
        rows: tuple[list[Any], list[Any]] = [], []
        for side in (~coins).astype(int):
            rows[side].append(next(sides[side]))
        return (np.array(rows[0]), -np.array(rows[1])) if self.by_likelihood else (_stack(rows[0]), _stack(rows[1]))

    def repeatable(self) -> bool:
        """Is all randomness that of the seed? What the subject draws from elsewhere must stay in one process."""
        size = min(PROBED, self.largest)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(self.chunk(0, size), self.chunk(0, size), strict=True))


def draw(trials: Trials, number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A chunk, as an engine computes it."""
    return trials.chunk(number, size)


def gather(chunks: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Chunks as one; rows are padded to the widest. Very wide rows are as many as memory is planned for."""
    parts, cells = [], 0
    for part in chunks:
        parts.append(part)
        cells += part[1].size
        if cells > CELLS:
            break
    coins, values = zip(*parts, strict=True)
    if values[0].ndim == 2:
        width = max(part.shape[1] for part in values)
        values = tuple(padded(part, width) for part in values)
    return np.concatenate(coins), np.concatenate(values)


def padded(table: np.ndarray, width: int) -> np.ndarray:
    """A table of this width: zeros are added, and columns that nobody asks for are left out."""
    if table.shape[1] == width:
        return table
    return np.pad(table[:, :width], ((0, 0), (0, max(width - table.shape[1], 0))))


def likelihood_scores(subject: Subject, data: Any, other: Any, count: int, seed: int) -> np.ndarray:
    """log p(o|data) − log p(o|other) for ``count`` runs on ``data``: the best score there is, by replay."""
    if count == 0:
        return np.zeros(0)
    if not subject.vectorised:
        return np.array(list(itertools.islice(single_losses(subject, data, other, seed), count)))
    sizes = [min(CHUNK, count - done) for done in range(0, count, CHUNK)]
    return np.concatenate(
        [play(subject, data, other, child(seed, k), size, records=False).losses() for k, size in enumerate(sizes)]
    )


def single_losses(subject: Subject, data: Any, other: Any, seed: int) -> Iterator[float]:
    """The same, a run whenever one is asked for."""
    for k in itertools.count():
        yield play(subject, data, other, child(seed, k), None, records=False).losses()[0]


def returned_values(subject: Subject, data: Any, count: int, seed: int, observer: str = "server") -> np.ndarray:
    """What the subject showed in ``count`` runs on ``data``, one row of numbers each."""
    if count == 0:
        return np.zeros((0, 0))
    if not subject.vectorised:
        return _stack(list(itertools.islice(single_rows(subject, data, seed, observer), count)))
    if not subject.grey:
        return _marked(subject.public(subject.run_black(fresh(data), np.random.default_rng(seed), count)), count)
    parts = []
    for k, done in enumerate(range(0, count, CHUNK)):
        size = min(CHUNK, count - done)
        with simulate(child(seed, k), trials=size) as channel:
            returned = subject.public(subject.run(fresh(data), channel))
        parts.append(_marked(_with_released(returned, channel, observer), size))
    width = max(part.shape[1] for part in parts)
    return np.concatenate([padded(part, width) for part in parts])


def single_rows(subject: Subject, data: Any, seed: int, observer: str) -> Iterator[np.ndarray]:
    """The same, a run whenever one is asked for; rows of cells, of any length."""
    rng = np.random.default_rng(seed)
    for k in itertools.count():
        if subject.grey:
            with simulate(child(seed, k)) as channel:
                channel.keeps_records = False
                returned = subject.public(subject.run(fresh(data), channel))
            returned = _with_released(returned, channel, observer)
        else:
            returned = subject.public(subject.run_black(fresh(data), rng, None))
        yield cells(returned)


def _with_released(returned: Any, channel: Channel, observer: str) -> Any:
    """What is returned, and what was released to this observer: outputs, and of single runs also the public facts that may
    differ from run to run. The server sees all; of many trials, only what depends on secret randomness too is shown."""
    if channel.trials is None:
        seen_all = [event for event in channel.events if observer in ("server", event.to)]
        return returned if not seen_all else (returned, *((_facts(one), one.noise.unfold(one.output)) for one in seen_all))
    released = [event for event in channel.events if event.to == observer and (observer != "server" or event.hidden)]
    if not released:
        return returned
    shown = []
    for event in released:  # of some trials: NaN for the others
        seen = event.noise.unfold(event.output)
        output = np.full((channel.trials, *seen.shape[1:]), np.nan)
        output[slice(None) if event.index is None else event.index] = seen
        shown.append(output)
    mine = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    return *mine, *shown


def _facts(event: Event) -> str:
    """What a ledger says of a release beside its values."""
    return f"{event.name} to {event.to} by {event.noise!r}, {event.sensitivity}, {event.cohort!r}"


def _marked(returned: Any, count: int) -> np.ndarray:
    """Rows with their marks as a last column; without it where there are none, as padding says the same."""
    rows, marked = as_rows(returned, count), row_marks(returned, count)
    return rows if marked is None else np.concatenate([rows, marked[:, None]], axis=1)


def finite(table: np.ndarray, flagged: Sequence[int] | np.ndarray) -> np.ndarray:
    """NaN and infinities as 0, with a column of its own for each flagged one that says which; −0 as 0."""
    if not len(flagged) and np.isfinite(table).all():
        return table + 0.0
    which = np.select([np.isnan(table), np.isposinf(table), np.isneginf(table)], [1.0, 2.0, 3.0], 0.0)
    return np.concatenate([np.where(which > 0, 0.0, table) + 0.0, which[:, flagged]], axis=1)


def _stack(rows: list[np.ndarray]) -> np.ndarray:
    """Rows of different lengths are padded. Every column stays: what is left out here would be left out for one data set
    alone, and the columns of the two would no longer be the same things."""
    table = np.zeros((len(rows), max((len(row) for row in rows), default=0)))
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table
