"""Boxes of outputs: release 1 in this interval, release 2 in that one; grown around a run, with exact edges, and tested."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.events.chosen_runs import FAR, Chooser, Runs
from dpaudit.noise import Noise

RELEASES = 6  # single-number releases that may decide an entry together
BASES = 6  # outputs of the first release that differs from which boxes are grown
OFFSETS = np.concatenate([-np.geomspace(400, 0.01, 40), [0.0], np.geomspace(0.01, 400, 40)])  # in widths of the noise


@dataclass(frozen=True)
class Box:
    """Entry ``entry`` of what is played is ``value`` exactly when release k is in [low_k, high_k], for all k.

    ``centre`` lies inside; ``below`` and ``above`` are the next outputs known to be outside. ±FAR stands for no end.
    """

    entry: int
    value: float
    centre: np.ndarray
    low: np.ndarray
    high: np.ndarray
    below: np.ndarray
    above: np.ndarray

    def holds(self, played: np.ndarray) -> np.ndarray:
        values = played[:, self.entry] if self.entry < played.shape[1] else np.full(len(played), np.nan)
        return np.isnan(values) if np.isnan(self.value) else values == self.value


def box_of(entry: int, value: float, centre: np.ndarray, low: np.ndarray, high: np.ndarray) -> Box:
    """A box whose edges are exact."""
    return Box(entry, value, centre, low, high, np.where(low > -FAR, low - 1, -FAR), np.where(high < FAR, high + 1, FAR))


def known(runs: Runs, row: int = 0) -> int:
    """How many of the first releases of a run were single numbers."""
    missing = np.flatnonzero(np.isnan(runs.width[row]))
    return int(missing[0]) if len(missing) else runs.width.shape[1]


def bases(mine: Chooser, theirs: Chooser) -> list[np.ndarray]:
    """Outputs of the first releases: without noise, but for the first release that the two data sets ask differently."""
    plain = mine(np.zeros((1, 0), np.int64), releases=RELEASES)
    count = known(plain)
    if plain.public or not count:
        return []
    mirror = theirs(plain.asked[:, :count])
    differing = np.flatnonzero(plain.asked[0, :count] != mirror.asked[0, :count])
    if known(mirror) < count or not len(differing):
        return []
    place = int(differing[0])
    line = _line(int(plain.asked[0, place]), float(plain.width[0, place]), plain.noises[place], mine.step)
    outputs = np.repeat(plain.asked[:, : place + 1], len(line), axis=0)
    outputs[:, place] = line
    swept = mine(outputs, releases=RELEASES)
    starts = np.flatnonzero(np.append(True, (swept.played[1:] != swept.played[:-1]).any(axis=1)))
    middles = (starts + np.append(starts[1:], len(line)) - 1) // 2
    nearest = sorted(middles, key=lambda row: abs(row - len(line) // 2))[:BASES]
    return [np.append(outputs[row], swept.asked[row, place + 1 : known(swept, row)]) for row in nearest]


def _line(centre: int, width: float, noise: Noise, step: int) -> np.ndarray:
    """Outputs on both sides of a query, far and near; where there are few answers, those."""
    return noise.outputs_near(centre, OFFSETS[::step] * width / float(noise.grid), FAR)


def rough_boxes(mine: Chooser, base: np.ndarray) -> Iterator[Box]:
    """For every entry of what is played: how far each output can move alone before the entry changes."""
    plain = mine(base[None, :])
    if known(plain) < len(base):
        return
    lines = [_line(int(base[k]), float(plain.width[0, k]), plain.noises[k], mine.step) for k in range(len(base))]
    sizes = [len(line) for line in lines]
    outputs = np.repeat(base[None, :], sum(sizes), axis=0)
    outputs[np.arange(len(outputs)), np.repeat(np.arange(len(base)), sizes)] = np.concatenate(lines)
    swept = mine(outputs)
    for entry in range(plain.played.shape[1]):
        ends = np.array([[-FAR], [FAR], [-FAR], [FAR]]).repeat(len(base), axis=1)
        box = Box(entry, float(plain.played[0, entry]), base, *ends)
        for k, (line, held) in enumerate(zip(lines, np.split(box.holds(swept.played), np.cumsum(sizes)[:-1]), strict=True)):
            at = int(np.argmin(np.abs(line - base[k])))
            left, right = np.flatnonzero(~held[:at]), at + np.flatnonzero(~held[at:])
            if len(left):
                box.below[k], box.low[k] = line[left[-1]], line[left[-1] + 1]
            if len(right):
                box.high[k], box.above[k] = line[right[0] - 1], line[right[0]]
        deciding = np.flatnonzero((box.low > -FAR) | (box.high < FAR))
        if len(deciding):  # what comes after the last release that decides is left open
            yield Box(entry, box.value, *(part[: deciding[-1] + 1] for part in (base, box.low, box.high, box.below, box.above)))


def sharpened(mine: Chooser, box: Box) -> Box:
    """The same box with exact edges: on each side the last output at which the entry still holds."""
    edges = [(k, side) for side in (0, 1) for k in range(len(box.centre)) if abs((box.low, box.high)[side][k]) < FAR]
    place = np.array([k for k, _ in edges], dtype=np.int64)
    inner = np.array([(box.low, box.high)[side][k] for k, side in edges], dtype=np.int64)
    outer = np.array([(box.below, box.above)[side][k] for k, side in edges], dtype=np.int64)
    rows, points = np.arange(len(edges)), mine.points
    while (np.abs(outer - inner) > 1).any():
        share = np.arange(1, points + 1) / (points + 1)
        tried = inner[:, None] + np.trunc((outer - inner)[:, None] * share).astype(np.int64)
        outputs = np.repeat(box.centre[None, :], tried.size, axis=0)
        outputs[np.arange(tried.size), np.repeat(place, points)] = tried.ravel()
        held = box.holds(mine(outputs).played).reshape(tried.shape)
        first = np.where(held.all(axis=1), points, held.argmin(axis=1))
        path = np.concatenate([inner[:, None], tried, outer[:, None]], axis=1)
        inner, outer = path[rows, first], path[rows, first + 1]
    low, high = box.low.copy(), box.high.copy()
    for (k, side), value in zip(edges, inner, strict=True):
        (low, high)[side][k] = value
    return box_of(box.entry, box.value, box.centre, low, high)


def points_inside(box: Box, answers: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Edges, the centre, and numbers of every size; ``answers``: how many outputs a release has, 0 for all whole numbers."""
    shape = count, len(box.centre)
    wild = np.clip(box.centre + _wild(shape, rng), box.low, box.high)
    finite = [np.where(np.abs(end) < FAR, end, box.centre) for end in (box.low, box.high)]
    kind = rng.integers(0, 4, shape)
    free = np.select([kind == 0, kind == 1, kind == 2], [*finite, box.centre], wild)
    fair = np.clip(_fair(answers, shape, rng), box.low, box.high)
    return np.where(answers, fair, free)


def points_outside(box: Box, answers: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """One output at least beyond an edge, just or far; the others inside, or anywhere."""
    points = points_inside(box, answers, count, rng)
    anywhere = np.where(answers, _fair(answers, points.shape, rng), box.centre + _wild(points.shape, rng))
    points = np.where(rng.random((count, 1)) < 0.3, anywhere, points)
    edges = [(k, end) for k in range(len(box.centre)) for end in (box.below[k], box.above[k]) if abs(end) < FAR]
    for row, choice in enumerate(rng.integers(0, len(edges), count)):
        k, end = edges[choice]
        away = int(np.sign(end - box.centre[k])) * int(2 ** rng.uniform(0, 49)) * (rng.random() < 0.5)
        points[row, k] = end if answers[k] else np.clip(end + away, -FAR, FAR)
    return points


def _fair(answers: np.ndarray, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Any of the answers, each as likely."""
    return rng.integers(0, 2 if answers.max(initial=0) <= 2 else np.maximum(answers, 1), shape)


def _wild(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    size = 2.0 ** rng.uniform(0, 49, shape)
    return np.where(rng.random(shape) < 0.5, -size, size).astype(np.int64)
