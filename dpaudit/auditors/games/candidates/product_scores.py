"""Linear log-odds in a few features and their products: where one feature says how much another tells, as the number of answers
before a stop says how much the last answer does."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpaudit.auditors.games.candidates.scores import MOST, Scorer, fit_logistic

FEATURES = 5  # that are multiplied
ALIKE = 0.999  # correlation beyond which two features are one
STEEP = 2.0  # of the bend of a feature: half of its spread
FARTHEST = 30.0  # spreads from the median, beyond which a value is not followed


def multiplied(table: np.ndarray, codes: np.ndarray, order: list[int]) -> tuple[int, ...]:
    """The first few columns of this order that are numbers in most runs, no two of them alike."""
    chosen: list[int] = []
    known: list[np.ndarray] = []
    for column in order:
        x = table[:MOST, column]
        there = ~np.isnan(x)
        if column in codes or there.mean() < 0.5:
            continue
        x = np.where(there, x, np.median(x[there]))
        z = (x - x.mean()) / (x.std() or 1.0)
        if all(abs((z * other).mean()) < ALIKE for other in known):
            chosen.append(column)
            known.append(z)
        if len(chosen) == FEATURES:
            break
    return tuple(chosen)


@dataclass(frozen=True)
class ProductsOf:
    """Learns the weights of these columns and of their products two by two."""

    columns: tuple[int, ...]

    def __call__(self, table: np.ndarray, coins: np.ndarray) -> Scorer:
        x, coins = table[:MOST, list(self.columns)], coins[:MOST]
        values = [column[~np.isnan(column)] for column in x.T]
        centre = np.array([np.median(v) if len(v) else 0.0 for v in values])
        spread = np.array([(v.std() if len(v) else 0.0) or 1.0 for v in values])
        blank = Products(self.columns, centre, spread, np.zeros(0))
        return Products(
            self.columns, centre, spread, fit_logistic(blank.features(table[:MOST]), coins * 1.0, np.ones(len(coins)))
        )


@dataclass(frozen=True)
class Products:
    """Linear log-odds, as ProductsOf learns them."""

    columns: tuple[int, ...]
    centre: np.ndarray
    spread: np.ndarray
    weights: np.ndarray

    def features(self, table: np.ndarray) -> np.ndarray:
        z = (table[:, list(self.columns)] - self.centre) / self.spread
        there = ~np.isnan(z)
        z = np.clip(np.where(there, z, 0.0), -FARTHEST, FARTHEST)
        bent = np.tanh(STEEP * z)
        blocks = [np.ones((len(table), 1)), z, bent, there * 1.0]
        for one, other in combinations(range(z.shape[1]), 2):
            pairs = [a[:, one] * b[:, other] for a in (z, bent) for b in (z, bent)]
            blocks.append(np.stack(pairs, axis=1))
        return np.concatenate(blocks, axis=1)

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return np.asarray(self.features(table) @ self.weights)
