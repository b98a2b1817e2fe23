"""Scores of both data sets, counted chunk by chunk: exactly in both tails, in bins between, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TAIL = 10_000  # runs with the most extreme scores, on each side, that are kept one by one
BINS = 2000  # between them, with edges from training


@dataclass(frozen=True)
class Groups:
    """Runs by their score, ascending: how many of each data set have it. Equal scores are one group, and so is a bin."""

    ones: np.ndarray
    zeros: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, coins: np.ndarray) -> Groups:
        values, places = np.unique(scores, return_inverse=True)
        return cls(*(np.bincount(places[side], minlength=len(values)) for side in (coins, ~coins)))

    @property
    def runs(self) -> int:
        return int(self.ones.sum() + self.zeros.sum())


def bin_edges(scores: np.ndarray) -> np.ndarray:
    """Between the scores of training: all of them if they are few, else quantiles."""
    distinct = np.unique(scores)
    if len(distinct) > BINS:
        distinct = np.unique(np.quantile(scores, np.linspace(0, 1, BINS)))
    return np.asarray((distinct[1:] + distinct[:-1]) / 2)


@dataclass(frozen=True)
class Tally:
    """Scores and coins of the extremes, ascending by score, and counts in bins of all."""

    edges: np.ndarray
    counts: np.ndarray  # (2, bins): ones, zeros
    low: tuple[np.ndarray, np.ndarray]
    high: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, ones: np.ndarray, zeros: np.ndarray, edges: np.ndarray) -> Tally:
        counts = [np.bincount(np.searchsorted(edges, side, "right"), minlength=len(edges) + 1) for side in (ones, zeros)]
        scores, coins = _ranked(np.concatenate([ones, zeros]), np.arange(len(ones) + len(zeros)) < len(ones))
        return cls(edges, np.stack(counts), (scores[:TAIL], coins[:TAIL]), (scores[-TAIL:], coins[-TAIL:]))

    def plus(self, other: Tally) -> Tally:
        low, high = (
            _ranked(*(np.concatenate(both) for both in zip(mine, theirs, strict=True)))
            for mine, theirs in ((self.low, other.low), (self.high, other.high))
        )
        low, high = (low[0][:TAIL], low[1][:TAIL]), (high[0][-TAIL:], high[1][-TAIL:])
        return Tally(self.edges, self.counts + other.counts, low, high)

    def groups(self) -> Groups:
        """Whole bins at both ends are taken apart, as far as every run in them was kept. No coin plays a part in that."""
        total = self.counts.sum(axis=0)
        first = int(np.searchsorted(np.cumsum(total), len(self.low[0]), "right"))  # bins below this one are kept whole
        after = len(total) - int(np.searchsorted(np.cumsum(total[::-1]), len(self.high[0]), "right"))
        after = max(after, first)
        below, above = int(total[:first].sum()), int(total[after:].sum())
        low = Groups.of(self.low[0][:below], self.low[1][:below])
        high = Groups.of(self.high[0][len(self.high[0]) - above :], self.high[1][len(self.high[0]) - above :])
        middle = self.counts[:, first:after]
        middle = middle[:, middle.sum(axis=0) > 0]
        return Groups(np.concatenate([low.ones, middle[0], high.ones]), np.concatenate([low.zeros, middle[1], high.zeros]))


def _ranked(scores: np.ndarray, coins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(scores, kind="stable")
    return scores[order], coins[order]
