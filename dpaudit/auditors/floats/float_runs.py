"""Runs of a black box for the porosity test: its outputs to the last bit, and what its generator was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditors.floats.preimage import Additive
from dpaudit.auditors.runs.engine import Engine, split
from dpaudit.auditors.runs.returned_values import as_row, as_rows
from dpaudit.subjects.subject import Subject, fresh

PILOT = 32  # runs per side that choose the pair and the columns, and are used for nothing else
PAIRS = 12
_DRAWS = 32  # draws of one run that are compared with its outputs

CHUNK, SINGLE = 20_000, 500  # runs in one call, and in a chunk of those that are called one by one

Draws = list[tuple[float, np.ndarray]]


class Recording(np.random.Generator):
    """A generator that remembers scale and outcome of each Laplace and normal draw; the draws are numpy's own."""

    def __init__(self, bits: np.random.BitGenerator) -> None:
        super().__init__(bits)
        self.draws: Draws = []

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._keep(loc, scale, super().laplace(0.0, scale, _shape(loc, scale, size)))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._keep(loc, scale, super().normal(0.0, scale, _shape(loc, scale, size)))

    def _keep(self, loc: Any, scale: Any, noise: Any) -> Any:
        if np.ndim(scale) == 0 and len(self.draws) < _DRAWS:
            self.draws.append((float(scale), np.array(noise, dtype=float)))
        return loc + noise


def _shape(loc: Any, scale: Any, size: Any) -> Any:
    """The size of a draw that numpy would find itself, had it been given the location too."""
    if size is not None or np.ndim(loc) == np.ndim(scale) == 0:
        return size
    return np.broadcast_shapes(np.shape(loc), np.shape(scale))


@dataclass(frozen=True)
class FloatRuns:
    """Runs on both data sets for chosen columns: a fair coin each says on which. Chunk k is the same whoever computes it."""

    subject: Subject
    pair: tuple[Any, Any]
    seed: int
    columns: tuple[int, ...] = ()

    def tables(self, runs: int, engine: Engine) -> tuple[np.ndarray, np.ndarray]:
        """One row per run, one table per data set."""
        sizes = split(runs, CHUNK if self.subject.vectorised else SINGLE)
        sides = list(zip(*engine.map(draw_columns, self, sizes), strict=True))
        return np.concatenate(sides[0]), np.concatenate(sides[1])

    def repeatable(self) -> bool:
        """Is all randomness that of the seed?"""
        first, second = (draw_columns(self, 0, PILOT) for _ in range(2))
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))


def draw_columns(runs: FloatRuns, number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """A chunk. Single calls are made in the order of the coins: what a subject counts, or reads off a clock, tells nothing."""
    coins = np.random.default_rng([runs.seed, number, 2]).random(size) < 0.5
    rngs = [np.random.default_rng([runs.seed, number, side]) for side in (0, 1)]
    heads = int(coins.sum())
    if runs.subject.vectorised:
        sizes = heads, size - heads
        sides = [output_table(runs.subject, data, n, rng) for data, n, rng in zip(runs.pair, sizes, rngs, strict=True)]
    else:
        rows: tuple[list[np.ndarray], list[np.ndarray]] = [], []
        for side in (~coins).astype(int):
            rows[side].append(as_row(runs.subject.public(runs.subject.run_black(fresh(runs.pair[side]), rngs[side], None))))
        sides = [_padded(side) for side in rows]
    return _columns(sides[0], runs.columns), _columns(sides[1], runs.columns)


def _columns(table: np.ndarray, columns: Sequence[int]) -> np.ndarray:
    """These columns; NaN where the table is not that wide."""
    chosen = np.full((len(table), len(columns)), np.nan)
    for place, column in enumerate(columns):
        if column < table.shape[1]:
            chosen[:, place] = table[:, column]
    return chosen


def output_table(subject: Subject, data: Any, count: int, rng: np.random.Generator) -> np.ndarray:
    """One row of numbers per run; NaN beyond the end of a short row."""
    if not count:
        return np.zeros((0, 0))
    if subject.vectorised:
        return as_rows(subject.public(subject.run_black(fresh(data), rng, count)), count)
    return _padded([as_row(subject.public(subject.run_black(fresh(data), rng, None))) for _ in range(count)])


def _padded(rows: Sequence[np.ndarray]) -> np.ndarray:
    table = np.full((len(rows), max((len(row) for row in rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def most_central(subject: Subject, pairs: Sequence[tuple[Any, Any]], seed: int) -> tuple[Any, Any]:
    """The pair whose outputs are closest to zero, where floats have most bits to spare. Decided on runs of its own."""
    if len(pairs) == 1:
        return pairs[0]

    def size(place: int) -> float:
        tables = [
            output_table(subject, data, PILOT, np.random.default_rng([seed, 7, place, side]))
            for side, data in enumerate(pairs[place])
        ]
        medians = [np.median(np.abs(np.nan_to_num(table, posinf=0.0, neginf=0.0)), axis=0) for table in tables]
        return float(max(column.sum() for column in medians))

    return pairs[min(range(min(len(pairs), PAIRS)), key=size)]


def watch(subject: Subject, pair: tuple[Any, Any], seed: int) -> list[tuple[int, list[Additive]]]:
    """Columns that show a fraction in a few runs, each with the additive noise that the generator was seen to give it."""
    (table, draws), (other, other_draws) = (_recorded(subject, data, [seed, 8, side]) for side, data in enumerate(pair))
    columns = []
    for place in range(min(table.shape[1], other.shape[1])):
        values, others = table[:, place], other[:, place]
        if not _fractions(np.concatenate([values, others])):
            continue
        noises = []
        for (scale, noise), (other_scale, other_noise) in zip(draws, other_draws, strict=False):
            centre, its = _centre(values, noise), _centre(others, other_noise)
            if centre is not None and its is not None and scale == other_scale > 0:
                noises.append(Additive(centre, its, scale))
        columns.append((place, noises))
    return columns


def _fractions(values: np.ndarray) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite != np.rint(finite)).any())


def _recorded(subject: Subject, data: Any, seed: list[int]) -> tuple[np.ndarray, Draws]:
    """Outputs of a few runs and, draw by draw, the scale and the outcomes over those runs."""
    rng = Recording(np.random.PCG64(seed))
    if subject.vectorised:
        table = output_table(subject, data, PILOT, rng)
        wide = [(scale, noise.reshape(PILOT, -1).T) for scale, noise in rng.draws if np.shape(noise)[:1] == (PILOT,)]
        return table, [(scale, column) for scale, columns in wide for column in columns][:_DRAWS]
    rows, runs = [], []
    for _ in range(PILOT):
        rng.draws = []
        rows.append(as_row(subject.public(subject.run_black(fresh(data), rng, None))))
        runs.append([(scale, one) for scale, noise in rng.draws for one in noise.ravel()][:_DRAWS])
    return _padded(rows), [_one_draw(draw) for draw in zip(*runs, strict=False)]


def _one_draw(outcomes: Sequence[tuple[float, float]]) -> tuple[float, np.ndarray]:
    """A draw over the runs; its scale is NaN where they differ, so that it matches nothing."""
    scales = {scale for scale, _ in outcomes}
    return (scales.pop() if len(scales) == 1 else np.nan), np.array([one for _, one in outcomes])


def _centre(outputs: np.ndarray, noise: np.ndarray) -> float | None:
    """The number whose float sum with the draw is the output in most runs; None where there is none.

    Small outputs are rounded least, so what is left of them when the draw is taken away is tried first.
    """
    order = np.argsort(np.abs(outputs))
    left = (outputs - noise)[order]
    fits = (left[:, None] + noise == outputs).mean(axis=1)
    best = int(fits.argmax())
    return float(left[best]) if fits[best] > 0.5 else None
