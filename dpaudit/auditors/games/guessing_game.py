"""The guessing game: a fair coin chooses the data set, a score guesses which one, and counts of right and wrong guesses give
a lower bound on ε that holds with the stated confidence, whatever the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from dpaudit.auditors.games.guess_bounds import Form, Guesses, bound, bounds, forms
from dpaudit.auditors.games.nested_guesses import nested_bound
from dpaudit.claims import Losses

LEVEL = 0.05  # at which rules are compared on training data
WITNESSED = 1e-6 / 3  # at which a witness names the rule whose guesses it counts
_QUANTILES = np.unique([*np.geomspace(1e-5, 0.01, 25), *np.linspace(0.01, 0.99, 99), *(1 - np.geomspace(1e-5, 0.01, 25))])


def promise(g: Guesses, delta: float, scale: float) -> float:
    """About the bound that a game ``scale`` times as large would give, less one and a half standard errors of this estimate."""
    right, wrong = g.right - g.n * delta * g.sides / 2, g.wrong + 0.5
    if right <= 0:
        return -math.inf
    error = math.sqrt(1 / g.right + 1 / wrong)
    return math.log(right / wrong) - error * (1.5 + 1.645 / math.sqrt(scale))


@dataclass(frozen=True)
class Rule:
    """Guess 1 at a score of ``high`` or more, 0 at ``low`` or less, abstain between. Chosen on training data."""

    low: float
    high: float
    form: Form

    @property
    def sides(self) -> int:
        return int(math.isfinite(self.high)) + int(math.isfinite(self.low))

    def count(self, ones: np.ndarray, zeros: np.ndarray) -> tuple[int, int]:
        """Right and wrong guesses on the scores of the two data sets."""
        right = np.count_nonzero(ones >= self.high) + np.count_nonzero(zeros <= self.low)
        wrong = np.count_nonzero(zeros >= self.high) + np.count_nonzero(ones <= self.low)
        return int(right), int(wrong)

    def expected(self, scores: np.ndarray, odds: np.ndarray) -> np.ndarray:
        """Right and wrong guesses on runs with these log-odds, if those are true."""
        up, down = scores >= self.high, scores <= self.low
        right = expit(odds[up]).sum() + expit(-odds[down]).sum()
        return np.array([right, up.sum() + down.sum() - right])

    def guesses(self, scores: np.ndarray, coins: np.ndarray) -> Guesses:
        return Guesses(*self.count(scores[coins], scores[~coins]), len(scores), self.sides)


def choose_rule(scores: np.ndarray, odds: np.ndarray, delta: float, scale: float, caution: float = 0.0) -> Rule:
    """The rule with the best expected bound on training data, counts scaled up to the size of the test part.

    Each run counts as P(1|score) right guesses, by its log-odds: the score itself if that is exact, else a line fitted to the
    coins. Counting the coins instead would prefer those thresholds in the tails that were lucky.
    """
    order = np.argsort(scores)
    ranked = scores[order]
    one = np.concatenate([[0.0], np.cumsum(expit(odds[order]))])
    zero = np.concatenate([[0.0], np.cumsum(expit(-odds[order]))])
    candidates = np.unique(ranked[(_QUANTILES * (len(ranked) - 1)).round().astype(int)])
    left, right = np.searchsorted(ranked, candidates, "left"), np.searchsorted(ranked, candidates, "right")
    above = _Side(candidates, one[-1] - one[left], zero[-1] - zero[left])
    below = _Side(candidates, zero[right], one[right])
    rules: list[tuple[float, Rule]] = []
    for form in forms(delta, fixed=True):

        def value(r: Any, w: Any, sides: int, form: Form = form) -> np.ndarray:
            doubt = caution * np.sqrt(1 / np.maximum(r, 1e-9) + 1 / np.maximum(w, 1e-9))
            return bounds(r * scale, w * scale, len(ranked) * scale, sides, LEVEL, delta, form) - doubt

        rules += [(number, Rule(low, high, form)) for number, low, high in _best_pairs(above, below, value)]
    return max(rules, key=lambda pair: pair[0])[1]


@dataclass(frozen=True)
class _Side:
    """Guesses on one side of each candidate threshold."""

    thresholds: np.ndarray
    right: np.ndarray
    wrong: np.ndarray


def _best_pairs(above: _Side, below: _Side, value: Callable[[Any, Any, int], np.ndarray]) -> Iterator[tuple[float, float, float]]:
    """(value, low, high): the best one-sided rules, and two-sided ones by improving each threshold in turn."""
    tops, bottoms = value(above.right, above.wrong, 1), value(below.right, below.wrong, 1)
    top, bottom = int(tops.argmax()), int(bottoms.argmax())
    yield float(tops[top]), -math.inf, float(above.thresholds[top])
    yield float(bottoms[bottom]), float(below.thresholds[bottom]), math.inf
    for first in (0, 1):
        i, j = top, bottom
        for turn in range(4):
            if turn % 2 == first:
                free = np.flatnonzero(below.thresholds < above.thresholds[i])
                values = value(above.right[i] + below.right[free], above.wrong[i] + below.wrong[free], 2)
            else:
                free = np.flatnonzero(above.thresholds > below.thresholds[j])
                values = value(above.right[free] + below.right[j], above.wrong[free] + below.wrong[j], 2)
            if not len(free):
                break
            i, j = (i, int(free[values.argmax()])) if turn % 2 == first else (int(free[values.argmax()]), j)
            yield float(values.max()), float(below.thresholds[j]), float(above.thresholds[i])


@dataclass(frozen=True)
class Counted:
    """What one rule guessed, how that becomes a bound, and its share of α."""

    guesses: Guesses
    form: Form
    share: float = 1.0

    def at(self, alpha: float, delta: float) -> float:
        return bound(self.guesses, alpha * self.share, delta, self.form)


@dataclass(frozen=True)
class Outcome:
    """A finished game. The rules and their shares of α were fixed before it, and the guesses of each hold those before it."""

    counted: tuple[Counted, ...]
    alpha: float
    delta: float
    losses: Losses | None = None

    def strongest(self, alpha: float) -> Counted:
        """The rule that shows most at this level; the first of several."""
        return max(self.counted, key=lambda one: one.at(alpha, self.delta))

    def at(self, alpha: float) -> float:
        """The lower bound at confidence 1−α."""
        if len(self.counted) == 1:
            return self.counted[0].at(alpha, self.delta)
        guesses, shares = [one.guesses for one in self.counted], [one.share for one in self.counted]
        return nested_bound(guesses, shares, alpha, self.delta, self.counted[0].form)

    @property
    def epsilon(self) -> float:
        """The lower bound at the confidence asked for."""
        return self.at(self.alpha)

    @property
    def guesses(self) -> Guesses:
        """Those that a refutation would rest on, for a witness to repeat: of the rule that shows most at a fixed small level."""
        return self.strongest(WITNESSED).guesses


def rounded(scores: np.ndarray) -> np.ndarray:
    """Finer differences are floating-point leaks, which are a finding of their own (DPA006)."""
    return np.round(scores, 6)
