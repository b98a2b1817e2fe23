"""Scores for transcripts of unknown law: estimates of log P(data set 1 | x)/P(data set 0 | x), learned from training runs.

A score affects the power of an audit, never its validity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpaudit.auditors.games.candidates.ramps import fit_ramp

Scorer = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Scorer]

FEWEST = 40  # runs in the outermost bin of a column
MOST = 20_000  # training runs that a regression uses
WIDE = 16  # columns that are looked at one by one
BLOCK = 200_000  # multiplications at a time for which BLAS starts no threads: beside other processes those are far slower
_STEPS = np.array([0.0003, 0.001, 0.003, 0.01, *np.linspace(0.025, 0.975, 39), 0.99, 0.997, 0.999, 0.9997])


def learners(table: np.ndarray, coins: np.ndarray) -> list[Learner]:
    """Kinds of scores that suit finite training data (runs, columns): candidates to choose from, the simplest first."""
    if table.shape[1] == 0:
        return [_nothing]
    distinct = [np.unique(column) for column in table.T]
    few = [c for c, values in enumerate(distinct) if 1 < len(values) <= max(50, len(table) // 20)]
    many = [c for c, values in enumerate(distinct) if len(values) > 2 and (c not in few or table.shape[1] == 1)]
    found: list[Learner] = []
    if many:
        likeliest = _telling(table, coins, many)
        column = max(likeliest, key=lambda c: fit_ramp(table[:MOST, c], coins[:MOST], c)[1]) if len(many) > 1 else many[0]
        found += [RampOn(column), lambda x, y: _steps(x[:, column], y, column)]
    discrete = len(few) == table.shape[1] and np.prod([float(len(values)) for values in distinct]) < 2.0**62
    if table.shape[1] > 1:
        found.append(_counted_logistic if discrete else _plain_logistic)
    if discrete:
        found.append(lambda x, y: categories(x, y, few))
    elif few:
        best = max(few, key=lambda c: _separation(table[:, c], coins))
        found.append(lambda x, y: categories(x, y, [best]))
    return found or [_nothing]


@dataclass(frozen=True)
class RampOn:
    """Learns the likeliest ramp in a column."""

    column: int

    def __call__(self, table: np.ndarray, coins: np.ndarray) -> Scorer:
        return fit_ramp(table[:, self.column], coins, self.column)[0]


def calibrate(scores: np.ndarray, coins: np.ndarray) -> tuple[float, float]:
    """Intercept and slope of the log-odds in a score: the line that fits the coins best (Platt 1999), or the score itself
    where the line is not much likelier (four nats, for two parameters); moved so that the coin is fair on the whole."""
    lines = (0.0, 1.0), _line(scores, coins)
    as_it_is, fitted = (-np.logaddexp(0, np.where(coins, -1, 1) * (a + b * scores)).sum() for a, b in lines)
    intercept, slope = lines[1] if fitted > as_it_is + 4 else lines[0]
    for _ in range(4):
        p = expit(intercept + slope * scores)
        intercept -= float((p.mean() - 0.5) / max((p * (1 - p)).mean(), 0.05))
    return intercept, slope


def fit_logistic(x: np.ndarray, ones: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Ridge logistic regression by Newton's method: ``ones`` of ``total`` runs with these features had the coin 1."""
    size = x.shape[1]
    rows = max(64, BLOCK // size**2)
    blocks = -(-len(x) // rows)
    x, ones, total = (np.pad(part, [(0, blocks * rows - len(part))] + [(0, 0)] * (part.ndim - 1)) for part in (x, ones, total))
    x, ones, total = x.reshape(blocks, rows, size), ones.reshape(blocks, rows), total.reshape(blocks, rows)
    weights = np.zeros(size)
    for _ in range(12):
        p = expit(np.clip(x @ weights, -30, 30))
        gradient = ((ones - total * p)[:, None, :] @ x).sum(axis=(0, 1)) - weights
        hessian = (np.swapaxes(x * (total * p * (1 - p))[:, :, None], 1, 2) @ x).sum(axis=0) + np.eye(size)
        step = np.linalg.solve(hessian, gradient)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    return weights


def _line(scores: np.ndarray, coins: np.ndarray) -> tuple[float, float]:
    """The same for one feature and an intercept."""
    spread = float(np.std(scores)) or 1.0
    z, a, b = scores / spread, 0.0, 0.0
    for _ in range(12):
        p = expit(np.clip(a + b * z, -30, 30))
        error, weight = coins - p, p * (1 - p)
        g0, g1 = error.sum() - a, (error * z).sum() - b  # no dot products: BLAS would start threads for them
        h00, h01, h11 = weight.sum() + 1, (weight * z).sum(), (weight * z * z).sum() + 1
        determinant = h00 * h11 - h01**2
        step = (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant
        a, b = a + step[0], b + step[1]
        if abs(step[0]) + abs(step[1]) < 1e-4:
            break
    return float(a), float(b) / spread


@dataclass(frozen=True)
class _Nothing:
    def __call__(self, table: np.ndarray) -> np.ndarray:
        return np.zeros(len(table))


def _nothing(table: np.ndarray, coins: np.ndarray) -> _Nothing:
    return _Nothing()


def _separation(column: np.ndarray, coins: np.ndarray) -> float:
    """Total variation between the two sides of one discrete column."""
    _, codes = np.unique(column, return_inverse=True)
    ones, zeros = (np.bincount(codes[side], minlength=codes.max() + 1) / max(side.sum(), 1) for side in (coins, ~coins))
    return float(np.abs(ones - zeros).sum())


def _telling(table: np.ndarray, coins: np.ndarray, columns: list[int]) -> list[int]:
    """Those columns whose mean or spread differs most between the sides, if there are many."""
    if len(columns) <= WIDE or coins.all() or not coins.any():
        return columns[:WIDE]
    chosen = table[:, columns]
    away = np.abs(chosen - chosen.mean(axis=0))
    parts = [np.abs(x[coins].mean(axis=0) - x[~coins].mean(axis=0)) / np.maximum(x.std(axis=0), 1e-300) for x in (chosen, away)]
    return sorted(columns[place] for place in np.argsort(np.maximum(*parts))[::-1][:WIDE])


def _log_ratios(codes: np.ndarray, coins: np.ndarray, size: int, prior: float) -> np.ndarray:
    ones = np.bincount(codes[coins], minlength=size) + prior
    zeros = np.bincount(codes[~coins], minlength=size) + prior
    return np.asarray(np.log(ones / max(coins.sum(), 1)) - np.log(zeros / max((~coins).sum(), 1)))


@dataclass(frozen=True)
class _Categories:
    """A log-ratio for each combination of values that training saw, shrunken by one count; 0 for others."""

    columns: list[int]
    distinct: list[np.ndarray]  # of each of these columns
    known: np.ndarray  # codes, sorted
    ratios: np.ndarray  # and one 0 for what is not known

    def __call__(self, table: np.ndarray) -> np.ndarray:
        codes = _codes(table, self.columns, self.distinct)
        place = np.minimum(np.searchsorted(self.known, codes), len(self.known) - 1)
        return self.ratios[np.where(self.known[place] == codes, place, len(self.known))]


def _codes(table: np.ndarray, columns: list[int], distinct: list[np.ndarray]) -> np.ndarray:
    """One whole number for each combination of known values; −1 with an unknown one."""
    codes, unknown = np.zeros(len(table), dtype=np.int64), np.zeros(len(table), dtype=bool)
    for column, values in zip(columns, distinct, strict=True):
        place = np.minimum(np.searchsorted(values, table[:, column]), len(values) - 1)
        unknown |= values[place] != table[:, column]
        codes = codes * len(values) + place
    return np.where(unknown, -1, codes)


def categories(table: np.ndarray, coins: np.ndarray, columns: list[int]) -> _Categories:
    distinct = [np.unique(table[:, column]) for column in columns]
    known, places = np.unique(_codes(table, columns, distinct), return_inverse=True)
    return _Categories(columns, distinct, known, np.append(_log_ratios(places, coins, len(known), 1.0), 0.0))


@dataclass(frozen=True)
class _Steps:
    """A shrunken log-ratio for each quantile bin of one column."""

    column: int
    edges: np.ndarray
    ratios: np.ndarray

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return self.ratios[np.searchsorted(self.edges, table[:, self.column], side="right")]


def _steps(values: np.ndarray, coins: np.ndarray, column: int) -> _Steps:
    edges = np.unique(np.quantile(values, _STEPS[np.minimum(_STEPS, 1 - _STEPS) * len(values) >= FEWEST]))
    codes = np.searchsorted(edges, values, side="right")
    return _Steps(column, edges, _log_ratios(codes, coins, len(edges) + 1, FEWEST / 4))


@dataclass(frozen=True)
class _Logistic:
    """Linear log-odds in clipped, standardised values; and in their magnitudes, where there are more than two of them."""

    centre: np.ndarray
    spread: np.ndarray
    many: np.ndarray  # columns with more than two values, if they tell much
    weights: np.ndarray

    def features(self, table: np.ndarray) -> np.ndarray:
        z = np.clip((table - self.centre) / self.spread, -20, 20)
        curved = z[:, self.many]
        return np.concatenate([np.ones((len(table), 1)), z, np.abs(curved), np.tanh(curved)], axis=1)

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return np.asarray(self.features(table) @ self.weights)


def _logistic(table: np.ndarray, ones: np.ndarray, total: np.ndarray, curved: list[int]) -> _Logistic:
    centre = np.median(table, axis=0)
    spread = np.quantile(np.abs(table - centre), 0.75, axis=0)
    spread = np.maximum(np.where(spread > 0, spread, table.std(axis=0)), 1e-12)
    many = np.array([c for c in curved if len(np.unique(table[:, c])) > 2], dtype=int)
    blank = _Logistic(centre, spread, many, np.zeros(0))
    return _Logistic(centre, spread, many, fit_logistic(blank.features(table), ones, total))


def _plain_logistic(table: np.ndarray, coins: np.ndarray) -> _Logistic:
    curved = _telling(table, coins, list(range(table.shape[1])))
    return _logistic(table[:MOST], coins[:MOST] * 1.0, np.ones(len(coins[:MOST])), curved)


def _counted_logistic(table: np.ndarray, coins: np.ndarray) -> _Logistic:
    """The same from the distinct rows of a discrete table and how often each was seen."""
    columns = list(range(table.shape[1]))
    _, first, places = np.unique(
        _codes(table, columns, [np.unique(column) for column in table.T]), return_index=True, return_inverse=True
    )
    curved = _telling(table, coins, columns)
    return _logistic(table[first], np.bincount(places[coins], minlength=len(first)), np.bincount(places), curved)
