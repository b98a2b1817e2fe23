"""Runs of a subject for the game: transcripts of both data sets as tables of numbers, or as exact log-likelihood ratios."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from dpaudit.auditors.replayed import play
from dpaudit.channel import simulate
from dpaudit.claims import DpauditError
from dpaudit.subject import Subject, fresh

CHUNK = 20_000  # trials in one call


def child(seed: int, *path: int) -> int:
    """A seed for one run or stage. Seeds that are counted up instead would share runs between stages and audits."""
    return int(np.random.SeedSequence([seed, *path]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def likelihood_scores(subject: Subject, data: Any, other: Any, count: int, seed: int) -> np.ndarray:
    """log p(o|data) − log p(o|other) for ``count`` runs on ``data``: the best score there is, by replay."""
    if not subject.vectorised:
        return np.array([play(subject, data, other, child(seed, k), None).losses()[0] for k in range(count)])
    sizes = [min(CHUNK, count - done) for done in range(0, count, CHUNK)]
    return np.concatenate([play(subject, data, other, child(seed, k), size).losses() for k, size in enumerate(sizes)])


def returned_values(subject: Subject, data: Any, count: int, seed: int) -> np.ndarray:
    """What the subject returned in ``count`` runs on ``data``, one row of numbers each."""
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


def finite(table: np.ndarray) -> np.ndarray:
    """NaN and infinities as 0, with a column of their own that says which; −0 as 0."""
    odd = ~np.isfinite(table)
    columns = np.flatnonzero(odd.any(axis=0))
    which = np.select([np.isnan(table), np.isposinf(table), np.isneginf(table)], [1.0, 2.0, 3.0], 0.0)
    return np.concatenate([np.where(odd, 0.0, table) + 0.0, which[:, columns]], axis=1)


def _stack(rows: list[np.ndarray]) -> np.ndarray:
    """Rows of different lengths are padded; their length comes first. Every column stays: what is left out here would
    be left out for one data set alone, and the columns of the two would no longer be the same things."""
    width = max((len(row) for row in rows), default=0)
    table = np.zeros((len(rows), 1 + width))
    for place, row in enumerate(rows):
        table[place, 0] = len(row)
        table[place, 1 : 1 + len(row)] = row
    return table
