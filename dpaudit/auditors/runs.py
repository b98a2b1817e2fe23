"""Runs of a subject for the game: transcripts of both data sets as tables of numbers, or as exact log-likelihood ratios."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.replayed import play
from dpaudit.channel import simulate
from dpaudit.claims import DpauditError
from dpaudit.subject import Subject, fresh

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

    @property
    def largest(self) -> int:
        return CHUNK if self.subject.vectorised else SINGLE

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
        heads = int(coins.sum())
        if self.by_likelihood:
            ones = likelihood_scores(self.subject, self.pair[0], self.pair[1], heads, child(seed, 1))
            zeros = -likelihood_scores(self.subject, self.pair[1], self.pair[0], size - heads, child(seed, 0))
        else:
            ones = returned_values(self.subject, self.pair[0], heads, child(seed, 1))
            zeros = returned_values(self.subject, self.pair[1], size - heads, child(seed, 0))
            width = max(ones.shape[1], zeros.shape[1])
            ones, zeros = padded(ones, width), padded(zeros, width)
        return coins, (ones, zeros)

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


@dataclass(frozen=True)
class Columns:
    """Tables as they were in training: columns that say something, and flags for numbers that are not finite."""

    width: int
    odd: np.ndarray
    kept: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> Columns:
        odd = np.flatnonzero((~np.isfinite(table)).any(axis=0))
        full = finite(table, odd)
        return cls(table.shape[1], odd, np.flatnonzero((full != full[:1]).any(axis=0)))

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return finite(padded(table, self.width), self.odd)[:, self.kept]


def likelihood_scores(subject: Subject, data: Any, other: Any, count: int, seed: int) -> np.ndarray:
    """log p(o|data) − log p(o|other) for ``count`` runs on ``data``: the best score there is, by replay."""
    if count == 0:
        return np.zeros(0)
    if not subject.vectorised:
        return np.array([play(subject, data, other, child(seed, k), None).losses()[0] for k in range(count)])
    sizes = [min(CHUNK, count - done) for done in range(0, count, CHUNK)]
    return np.concatenate([play(subject, data, other, child(seed, k), size).losses() for k, size in enumerate(sizes)])


def returned_values(subject: Subject, data: Any, count: int, seed: int) -> np.ndarray:
    """What the subject returned in ``count`` runs on ``data``, one row of numbers each."""
    if count == 0:
        return np.zeros((0, 0))
    if subject.grey:
        return _grey_returns(subject, data, count, seed)
    rng = np.random.default_rng(seed)
    if subject.vectorised:
        return as_rows(subject.public(subject.run_black(fresh(data), rng, count)), count)
    return _stack([as_row(subject.public(subject.run_black(fresh(data), rng, None))) for _ in range(count)])


def _grey_returns(subject: Subject, data: Any, count: int, seed: int) -> np.ndarray:
    if subject.vectorised:
        parts = []
        for k, done in enumerate(range(0, count, CHUNK)):
            size = min(CHUNK, count - done)
            with simulate(child(seed, k), trials=size) as channel:
                parts.append(as_rows(subject.public(subject.run(fresh(data), channel)), size))
        return np.concatenate(parts)
    rows = []
    for k in range(count):
        with simulate(child(seed, k)) as channel:
            rows.append(as_row(subject.public(subject.run(fresh(data), channel))))
    return _stack(rows)


def as_rows(returned: Any, count: int) -> np.ndarray:
    """An array, or a tuple of arrays, with trials first: one row per trial."""
    parts = returned if isinstance(returned, tuple) else (returned,)
    columns = []
    for part in parts:
        array = np.asarray(part)
        if array.ndim == 0 or len(array) != count:
            raise DpauditError(f"a subject with `trials` must return arrays whose first axis is the trials ({count})")
        columns.append(_numbers(array).reshape(count, -1))
    return np.concatenate(columns, axis=1)


def as_row(returned: Any) -> np.ndarray:
    """A number, text, array, None or a tuple of them as numbers; texts by a checksum, None as NaN-free flags."""
    parts = returned if isinstance(returned, tuple | list) else (returned,)
    return np.concatenate([_part(part) for part in parts]) if parts else np.zeros(0)


def _part(value: Any) -> np.ndarray:
    if value is None:
        return np.array([0.0, 1.0])
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return np.array([float(zlib.crc32(data)), 2.0])
    if isinstance(value, tuple | list) and any(v is None or isinstance(v, str | bytes | tuple | list) for v in value):
        return np.concatenate([_part(v) for v in value])
    if np.ndim(value) == 0 and not isinstance(value, np.ndarray):
        return np.array([float(_numbers(np.asarray(value)).ravel()[0]), 0.0])
    return _numbers(np.asarray(value)).ravel()


def _numbers(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "biuf":
        return array.astype(float)
    if array.dtype.kind in "US":
        return np.array([float(zlib.crc32(str(v).encode())) for v in array.ravel()]).reshape(array.shape)
    raise DpauditError(f"a subject returned {array.dtype}; it may return numbers, texts, arrays, None or tuples of them")


def finite(table: np.ndarray, flagged: Sequence[int] | np.ndarray) -> np.ndarray:
    """NaN and infinities as 0, with a column of its own for each flagged one that says which; −0 as 0."""
    if not len(flagged) and np.isfinite(table).all():
        return table + 0.0
    which = np.select([np.isnan(table), np.isposinf(table), np.isneginf(table)], [1.0, 2.0, 3.0], 0.0)
    return np.concatenate([np.where(which > 0, 0.0, table) + 0.0, which[:, flagged]], axis=1)


def _stack(rows: list[np.ndarray]) -> np.ndarray:
    """Rows of different lengths are padded; their length comes first. Every column stays: what is left out here would
    be left out for one data set alone, and the columns of the two would no longer be the same things."""
    width = max((len(row) for row in rows), default=0)
    table = np.zeros((len(rows), 1 + width))
    for place, row in enumerate(rows):
        table[place, 0] = len(row)
        table[place, 1 : 1 + len(row)] = row
    return table
