"""Predictions that learn as they go: log-odds of the coin, from the runs seen so far. Any predictor is valid for an e-process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from dpaudit.auditors.games.candidates.scores import Learner, Scorer, calibrate, categories, learners
from dpaudit.auditors.games.output_columns import Columns
from dpaudit.auditors.runs.transcripts import gather

KEPT = 20_000  # runs that are learned from; later ones are bet on
ENOUGH = 400  # runs from which regressions are learned as well
GROWTH = 1.05, 1.25  # everything is learned again when there are so many times as many runs: at first, and later
_KNOTS = np.linspace(0, 1, 8)[1:-1]
_BINS, _COLUMNS = 200, 4


class Online:
    """A mixture of experts, each trusted as far as its past predictions were right."""

    def __init__(self, claim: float, *, of_cells: bool = False) -> None:
        self.claim, self.of_cells = claim, of_cells
        self.runs: tuple[np.ndarray, np.ndarray] | None = None
        self.seen = self.learned = 0
        self.columns: Columns | None = None
        self.experts: dict[str, Scorer] = {}
        self.fits: dict[str, float] = {}  # log-likelihood of what each predicted so far

    def odds(self, values: np.ndarray) -> np.ndarray:
        """Log-odds of the coin for runs whose coin nobody has looked at."""
        predicted = self._predicted(values)
        if not predicted:
            return np.zeros(len(values))
        best = max(self.fits.get(name, -np.inf) for name in predicted)
        trust = {name: np.exp(self.fits.get(name, best) - best) if np.isfinite(best) else 1.0 for name in predicted}
        p = sum(trust[name] * expit(odds) for name, odds in predicted.items()) / sum(trust.values())
        return np.asarray(logit(np.clip(p, 1e-12, 1 - 1e-12)))

    def learn(self, values: np.ndarray, coins: np.ndarray) -> None:
        """The runs that were just predicted, now with their coins."""
        for name, odds in self._predicted(values).items():
            self.fits[name] = self.fits.get(name, self._newcomer()) + _likelihood(odds, coins)
        self.seen += len(coins)
        if self.runs is None or len(self.runs[0]) < KEPT:
            self.runs = gather([*([self.runs] if self.runs else []), (coins, values)])
            if self.seen >= GROWTH[self.seen > ENOUGH] * self.learned:
                self._refit(*self.runs)

    def _predicted(self, values: np.ndarray) -> dict[str, np.ndarray]:
        if self.columns is None:
            return {}
        table = self.columns(values)
        return {name: expert(table) for name, expert in self.experts.items()}

    def _newcomer(self) -> float:
        """One that was not there from the start is trusted like the best one, less a nat."""
        return max(self.fits.values(), default=1.0) - 1.0

    def _refit(self, coins: np.ndarray, values: np.ndarray) -> None:
        self.learned, self.columns = self.seen, Columns.of(values, self.of_cells)
        table = self.columns(values)
        if table.shape[1] == 0:
            self.experts = {}
            return
        self.experts = {"ramps": ramps(table, coins, self.claim)}
        if len(np.unique(table[:1000], axis=0)) <= max(8, len(table[:1000]) // 10):
            self.experts["categories"] = categories(table, coins, list(range(table.shape[1])))
        if len(table) >= ENOUGH:
            for place, learn in enumerate(learners(table, coins)):
                self.experts[f"learner {place}"] = _trusted(learn, table, coins)


def _likelihood(odds: np.ndarray, coins: np.ndarray) -> float:
    return -float(np.logaddexp(0, np.where(coins, -odds, odds)).sum())


@dataclass(frozen=True)
class _Line:
    """A score as log-odds, by a line."""

    scorer: Scorer
    intercept: float
    slope: float

    def __call__(self, table: np.ndarray) -> np.ndarray:
        return self.intercept + self.slope * self.scorer(table)


def _trusted(learn: Learner, table: np.ndarray, coins: np.ndarray) -> _Line:
    """Learned from all runs, and trusted as far as what one half learned was right about the other."""
    half = len(coins) // 2
    intercept, slope = calibrate(learn(table[:half], coins[:half])(table[half:]), coins[half:])
    return _Line(learn(table, coins), intercept, slope)


@dataclass(frozen=True)
class _Ramps:
    """The posterior mean of ramps: log-odds that rise from one end of a stretch of a column to the other, constant outside."""

    column: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ends: tuple[np.ndarray, np.ndarray]  # log-odds below and above
    weights: np.ndarray

    def each(self, table: np.ndarray) -> np.ndarray:
        """(rows, ramps)"""
        share = np.clip((table[:, self.column] - self.low) / (self.high - self.low), 0, 1)
        return np.asarray(self.ends[0] + share * (self.ends[1] - self.ends[0]))

    def __call__(self, table: np.ndarray) -> np.ndarray:
        step = max(1, 2 * 10**6 // len(self.weights))
        parts = [expit(self.each(table[k : k + step])) @ self.weights for k in range(0, len(table), step)]
        return np.asarray(logit(np.concatenate(parts))) if parts else np.zeros(0)


def ramps(table: np.ndarray, coins: np.ndarray, claim: float) -> _Ramps:
    """All ramps between quantiles of a few columns, up and down, of sizes around the claim; the likelier the heavier."""
    sizes = max(claim, 0.05) * np.array([0.5, 1, 2, 4, 8])
    ends = [(-s, s) for s in sizes] + [(s, -s) for s in sizes]
    pieces = []
    spread = np.maximum(table.std(axis=0), 1e-300)
    apart = np.abs(table[coins].mean(axis=0) - table[~coins].mean(axis=0)) / spread if 0 < coins.sum() < len(coins) else spread
    for column in np.argsort(apart, kind="stable")[::-1][:_COLUMNS]:
        values = table[:, column]
        knots = np.unique([values.min(), values.max()] if len(np.unique(values)) < 4 else np.quantile(values, _KNOTS))
        low, high = (knots[side] for side in np.triu_indices(len(knots), 1))
        pieces += [(column, a, b, *end) for a, b in zip(low, high, strict=True) for end in ends]
    if not pieces:
        return _Ramps(np.zeros(1, int), np.zeros(1), np.ones(1), (np.zeros(1), np.zeros(1)), np.ones(1))
    columns = np.array([one[0] for one in pieces])
    low, high, first, last = np.array([one[1:] for one in pieces]).T
    flat = _Ramps(columns, low, high, (first, last), np.ones(len(pieces)))
    fits = np.zeros(len(pieces))
    for k in range(0, len(table), 500):
        odds = flat.each(table[k : k + 500])
        fits -= np.logaddexp(0, np.where(coins[k : k + 500, None], -odds, odds)).sum(axis=0)
    weights = np.exp(fits - fits.max())
    return _Ramps(columns, low, high, (first, last), weights / weights.sum())
