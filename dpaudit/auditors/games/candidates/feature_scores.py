"""Scores of features: single columns with their tails, tables of codes, ridge regression, products, trees; the simplest first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.games.candidates.histogram_trees import try_trees
from dpaudit.auditors.games.candidates.product_scores import ProductsOf, multiplied
from dpaudit.auditors.games.candidates.scores import MOST, Learner, Scorer, categories, fit_logistic

RAW = 4  # columns that are scores by themselves
WIDEST = 120  # features of a regression
SIZES = 12  # codes of a column that get a weight each


def feature_learners(table: np.ndarray, coins: np.ndarray, codes: np.ndarray, *, trees: bool) -> list[Learner]:
    """Candidates for a table with NaN for what is missing, of which the columns ``codes`` are codes."""
    if table.shape[1] == 0:
        return []
    order = _farthest_apart(table, coins)
    columns = order[:RAW]
    candidates: list[Learner] = [RawOn(c, folded, sign) for c in columns for folded in (False, True) for sign in (1, -1)]
    if len(codes) > 1 and table.shape[1] > len(codes):
        candidates.append(CodeTable(tuple(int(c) for c in codes)))
    if table.shape[1] > 1:
        candidates.append(RidgeOn(tuple(int(c) for c in codes)))
    together = multiplied(table, codes, order)
    if len(together) > 1:
        candidates.append(ProductsOf(together))
    return [*candidates, try_trees] if trees and table.shape[1] > 1 else candidates


@dataclass(frozen=True)
class RawColumn:
    """A column by itself, in units of its spread, or its distance from the median: what is large speaks for 1, or for 0 where the
    sign is −1. What is missing is in the middle."""

    column: int
    middle: float
    spread: float
    folded: bool
    sign: int

    def __call__(self, table: np.ndarray) -> np.ndarray:
        z = (table[:, self.column] - self.middle) / self.spread
        return np.nan_to_num(self.sign * (np.abs(z) if self.folded else z), nan=self.sign * 1.0 if self.folded else 0.0)


@dataclass(frozen=True)
class RawOn:
    """Learns where the middle of a column is, and its spread."""

    column: int
    folded: bool
    sign: int

    def __call__(self, table: np.ndarray, coins: np.ndarray) -> Scorer:
        values = table[~np.isnan(table[:, self.column]), self.column]
        if not len(values):
            return RawColumn(self.column, 0.0, 1.0, self.folded, self.sign)
        middle = float(np.median(values))
        spread = float(np.median(np.abs(values - middle))) or float(values.std()) or 1.0
        return RawColumn(self.column, middle, spread, self.folded, self.sign)


def _farthest_apart(table: np.ndarray, coins: np.ndarray) -> list[int]:
    """All columns, those first with the largest distance between the sides, by value or by distance from the median."""
    distances = []
    for column in range(table.shape[1]):
        there = ~np.isnan(table[:MOST, column])
        x, y = table[:MOST][there, column], coins[:MOST][there]
        distances.append(max(_distance(x, y), _distance(np.abs(x - np.median(x)), y)) if len(x) else 0.0)
    return [int(column) for column in np.argsort(distances, kind="stable")[::-1]]


def _distance(values: np.ndarray, coins: np.ndarray) -> float:
    """Kolmogorov and Smirnov's."""
    if coins.all() or not coins.any():
        return 0.0
    order = np.argsort(values)
    ranked, ahead = values[order], np.cumsum(np.where(coins, 1 / coins.sum(), -1 / (~coins).sum())[order])
    return float(np.abs(ahead[:-1][ranked[1:] > ranked[:-1]]).max(initial=0.0))


@dataclass(frozen=True)
class CodeTable:
    """Learns a log-ratio for each combination of codes."""

    codes: tuple[int, ...]

    def __call__(self, table: np.ndarray, coins: np.ndarray) -> Scorer:
        return categories(table, coins, list(self.codes))


@dataclass(frozen=True)
class RidgeOn:
    """Learns linear log-odds in z, |z|, tanh z and whether it is there, and a weight for each common code."""

    codes: tuple[int, ...]

    def __call__(self, table: np.ndarray, coins: np.ndarray) -> Scorer:
        table, coins = table[:MOST], coins[:MOST]
        plain = [c for c in range(table.shape[1]) if c not in self.codes][:WIDEST]
        with np.errstate(all="ignore"):
            x = table[:, plain]
            centre = np.array([np.median(v[~np.isnan(v)]) if (~np.isnan(v)).any() else 0.0 for v in x.T])
            spread = np.array([v[~np.isnan(v)].std() if (~np.isnan(v)).any() else 1.0 for v in x.T])
        values = [np.unique(table[:, c], return_counts=True) for c in self.codes[:WIDEST]]
        common = [v[np.argsort(n)[::-1][:SIZES]] for v, n in values]
        blank = Ridge(plain, centre, np.where(spread > 0, spread, 1.0), self.codes[:WIDEST], common, np.zeros(0))
        features = blank.features(table)
        weights = fit_logistic(features, coins * 1.0, np.ones(len(coins)))
        return Ridge(plain, centre, blank.spread, blank.codes, common, weights)


@dataclass(frozen=True)
class Ridge:
    """Linear log-odds, as RidgeOn learns them."""

    plain: list[int]
    centre: np.ndarray
    spread: np.ndarray
    codes: tuple[int, ...]
    common: list[np.ndarray]
    weights: np.ndarray

    def features(self, table: np.ndarray) -> np.ndarray:
        z = (table[:, self.plain] - self.centre) / self.spread
        there = ~np.isnan(z)
        z = np.clip(np.where(there, z, 0.0), -30, 30)
        flags = [table[:, [c]] == values for c, values in zip(self.codes, self.common, strict=True)]
        return np.concatenate([np.ones((len(table), 1)), z, np.abs(z), np.tanh(z), there * 1.0, *flags], axis=1)

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return np.asarray(self.features(table) @ self.weights)
