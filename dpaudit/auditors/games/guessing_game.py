"""The guessing game: a fair coin chooses the data set, a score guesses which one, and counts of right and wrong guesses give
a lower bound on ε that holds with the stated confidence, whatever the score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, expit

from dpaudit.claims import Losses

LEVEL = 0.05  # at which rules are compared on training data
_QUANTILES = np.unique([*np.geomspace(1e-5, 0.01, 25), *np.linspace(0.01, 0.99, 99), *(1 - np.geomspace(1e-5, 0.01, 25))])


@dataclass(frozen=True)
class Guesses:
    """Out of ``n`` runs with a fair coin each: ``right`` and ``wrong`` guesses; one-sided when only one answer is ever given."""

    right: int
    wrong: int
    n: int
    sides: int


# The bounds, for arrays of counts. ``delta`` is that of the guesses: δ, or δ/2 when they are one-sided.


def _pure(right: Any, wrong: Any, alpha: float) -> np.ndarray:
    p = betaincinv(np.maximum(right, 1e-300), wrong + 1.0, alpha)
    with np.errstate(divide="ignore"):
        return np.where(np.asarray(right) > 0, np.maximum(np.log(p) - np.log1p(-p), 0.0), 0.0)


def _two(right: Any, wrong: Any, n: float, alpha: float, delta: float) -> np.ndarray:
    low = np.where(np.asarray(right) > 0, betaincinv(np.maximum(right, 1e-300), n - right + 1.0, alpha / 2), 0.0) - delta
    high = np.where(np.asarray(wrong) < n, betaincinv(wrong + 1.0, np.maximum(n - wrong, 1e-300), 1 - alpha / 2), 1.0)
    return np.maximum(np.log(np.maximum(low, 1e-300) / high), 0.0)


def _one(right: Any, wrong: Any, n: float, alpha: float, delta: float) -> np.ndarray:
    beta = alpha / 10
    share = betaincinv(np.maximum(right, 1e-300), wrong + 1.0, alpha - beta)
    least = betaincinv(np.maximum(wrong, 1e-300), n - wrong + 1.0, beta)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside = share / (1 - share) - delta / least
    usable = (np.asarray(right) > 0) & (np.asarray(wrong) > 0) & (inside > 1)
    return np.log(np.where(usable, inside, 1.0))


def _bounds(right: Any, wrong: Any, n: float, sides: int, alpha: float, delta: float, form: str) -> np.ndarray:
    if delta == 0:
        return _pure(right, wrong, alpha)
    return (_one if form == "one interval" else _two)(right, wrong, n, alpha, delta * sides / 2)


def pure_bound(g: Guesses, alpha: float) -> float:
    """Right guesses are dominated by Bin(r, 1/(1+e^−ε)), so one Clopper–Pearson bound serves both directions."""
    return float(_pure(g.right, g.wrong, alpha))


def two_intervals(g: Guesses, alpha: float, delta: float) -> float:
    """P(right) ≤ e^ε P(wrong) + δ·sides/2, with a Clopper–Pearson bound on each probability."""
    return float(_two(g.right, g.wrong, g.n, alpha, delta * g.sides / 2))


def one_interval(g: Guesses, alpha: float, delta: float) -> float:
    """Given r = right + wrong guesses, right is dominated by Bin(r, (e^ε w+δ)/((1+e^ε)w+δ)), w = P(wrong) bounded below
    with β = α/10 (Berger & Boos 1994)."""
    return float(_one(g.right, g.wrong, g.n, alpha, delta * g.sides / 2))


def bound(g: Guesses, alpha: float, delta: float, form: str) -> float:
    return float(_bounds(g.right, g.wrong, g.n, g.sides, alpha, delta, form))


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
    form: str

    @property
    def sides(self) -> int:
        return int(math.isfinite(self.high)) + int(math.isfinite(self.low))

    def count(self, ones: np.ndarray, zeros: np.ndarray) -> tuple[int, int]:
        """Right and wrong guesses on the scores of the two data sets."""
        right = np.count_nonzero(ones >= self.high) + np.count_nonzero(zeros <= self.low)
        wrong = np.count_nonzero(zeros >= self.high) + np.count_nonzero(ones <= self.low)
        return int(right), int(wrong)

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
    found: list[tuple[float, Rule]] = []
    for form in ("pure",) if delta == 0 else ("one interval", "two intervals"):

        def value(r: Any, w: Any, sides: int, form: str = form) -> np.ndarray:
            doubt = caution * np.sqrt(1 / np.maximum(r, 1e-9) + 1 / np.maximum(w, 1e-9))
            return _bounds(r * scale, w * scale, len(ranked) * scale, sides, LEVEL, delta, form) - doubt

        found += [(number, Rule(low, high, form)) for number, low, high in _best_pairs(above, below, value)]
    return max(found, key=lambda pair: pair[0])[1]


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
class Outcome:
    """A finished game: the bound at the confidence asked for, and the function that gives it at any other."""

    epsilon: float
    guesses: Guesses
    rule: Rule
    delta: float
    losses: Losses | None = None

    def at(self, alpha: float) -> float:
        return bound(self.guesses, alpha, self.delta, self.rule.form)


def rounded(scores: np.ndarray) -> np.ndarray:
    """Finer differences are floating-point leaks, which are a finding of their own (DPA006)."""
    return np.round(scores, 6)


def detectable(guesses: Guesses, claim: float, delta: float, alpha: float) -> float | None:
    """The least true ε that this many guesses would have refuted at level α with 80 % power; None where it is out of reach."""
    answered = max(guesses.right + guesses.wrong, 1)

    def refutes(epsilon: float) -> bool:
        p = 1 / (1 + math.exp(-epsilon))
        right = math.floor(answered * p - 0.8416 * math.sqrt(answered * p * (1 - p)))
        if right <= 0:
            return False
        g = Guesses(right, answered - right, guesses.n, guesses.sides)
        return bound(g, alpha, delta, "one interval") > claim

    low, high = claim, claim + 1.0
    while not refutes(high):
        high += 1.0
        if high > claim + 60 or high == high + 1.0:  # out of reach; beyond 2^53 there is no next one
            return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if refutes(middle) else (middle, high)
    return high
