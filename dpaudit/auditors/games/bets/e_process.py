"""E-processes: evidence against (ε,δ)-DP that may be looked at after every run, and stopped at any.

Each run flips a fair coin b and shows x from data set b. Under ε-DP, P(b=1|x) lies in [1−L, L], L = 1/(1+e^−ε), so whoever bets
by a prediction that was fixed before x was seen gains nothing on average, and P(sup E_t ≥ 1/α) ≤ α (Ville 1939).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.special import logsumexp

_SMALL = 1e-9  # of log E, for what floating point may have added


class Process(Protocol):
    """Evidence against each ε of a grid, of which ``claim`` is one."""

    claim: float
    grid: np.ndarray

    @property
    def evidence(self) -> np.ndarray:
        """log E now, for each ε of the grid."""
        ...

    def bet(self, odds: np.ndarray, coins: np.ndarray, limit: float) -> int | None:
        """Runs with predicted log-odds of their coin being 1. At the first run where the evidence against the claim reaches
        ``limit`` (as a logarithm) it stops, counts no later ones, and says how many runs that was."""
        ...


def epsilon_grid(claim: float) -> np.ndarray:
    """From near 0 to far above the claim; the claim is one of them."""
    unit = claim or 0.1
    below = claim * np.arange(1, 51) / 50
    above = unit * (np.arange(51, 151) / 50)
    return np.unique(np.concatenate([below, [claim], above, above[-1] + np.geomspace(0.05, 60, 60)]))


def lower_bound(process: Process, alpha: float) -> float:
    """Holds at every time at once with confidence 1−α.

    ε is out when log E ≥ log 1/α. If the true ε lies below the grid point ε_j next to it, the mechanism is ε_j-DP too, so the
    last point before the first that is not out exceeds the true ε only if ε_j is out, which has probability α at most. Points
    above may be out as well: the evidence need not fall with ε.
    """
    out = process.evidence >= -math.log(alpha) + _SMALL
    first = len(out) if out.all() else int(np.argmin(out))
    return float(process.grid[first - 1]) if first else 0.0


class PureBets:
    """E_t = Π r_b/clip(r_b, 1−L, L) for δ = 0, r_b the predicted probability of the coin as it fell."""

    def __init__(self, claim: float) -> None:
        self.claim, self.grid = claim, epsilon_grid(claim)
        self.evidence = np.zeros(len(self.grid))
        self._place = int(np.searchsorted(self.grid, claim))

    def bet(self, odds: np.ndarray, coins: np.ndarray, limit: float) -> int | None:
        mine = np.where(coins, odds, -odds)  # predicted log-odds of what happened
        path = self.evidence[self._place] + np.cumsum(_clipped(mine, self.claim))
        stop = _first(path, limit)
        self.evidence = self.evidence + self._sums(mine[:stop])
        return stop

    def _sums(self, mine: np.ndarray) -> np.ndarray:
        """What these runs add against every ε, by sorting: gains are those above ε, losses those below −ε."""
        ranked = np.sort(mine)
        sums = np.concatenate([[0.0], np.cumsum(-np.logaddexp(0, -ranked))])
        above, below = np.searchsorted(ranked, self.grid, "right"), np.searchsorted(ranked, -self.grid, "left")
        gains = sums[-1] - sums[above] + (len(ranked) - above) * np.logaddexp(0, -self.grid)
        return np.asarray(gains + sums[below] + below * np.logaddexp(0, self.grid))


def _clipped(mine: np.ndarray, epsilon: float) -> np.ndarray:
    """log(r/clip(r, 1−L, L)) for r with these log-odds: 0 between −ε and ε."""
    prediction = -np.logaddexp(0, -mine)
    gain, loss = prediction + np.logaddexp(0, -epsilon), prediction + np.logaddexp(0, epsilon)
    return np.where(mine > epsilon, gain, np.where(mine < -epsilon, loss, 0.0))


def _first(path: np.ndarray, limit: float) -> int | None:
    """After how many runs the limit was reached."""
    over = np.flatnonzero(path >= limit + _SMALL)
    return int(over[0]) + 1 if len(over) else None


class MixedBets:
    """For δ > 0: the mean, over thresholds τ and stakes f, of Π(1 + λ(1_A − e^ε 1_B − δ)), λ = f/(e^ε+δ).

    A: guessed right, B: guessed wrong, by the sign of log-odds of at least τ in size. P(A) ≤ e^ε P(B) + δ, so each product is a
    supermartingale while 0 ≤ f < 1, and so is their mean. A product depends on the counts of A and B alone.
    """

    STAKES = np.array([0.05, 0.15, 0.3, 0.5, 0.75, 0.95])

    def __init__(self, claim: float, delta: float) -> None:
        self.claim, self.delta, self.grid = claim, delta, epsilon_grid(claim)
        self.thresholds = claim + np.array([-0.5 * claim, -0.25 * claim, 0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0])
        nothing = np.zeros((len(self.thresholds), 1))
        self._counts = nothing, nothing, 0  # right, wrong, runs: one assignment, so that an interruption finds it whole

    def bet(self, odds: np.ndarray, coins: np.ndarray, limit: float) -> int | None:
        guessed = np.abs(odds) >= self.thresholds[:, None]
        hit = (odds > 0) == coins
        right = self._counts[0] + np.cumsum(guessed & hit, axis=1)
        wrong = self._counts[1] + np.cumsum(guessed & ~hit, axis=1)
        runs = self._counts[2] + np.arange(1, len(odds) + 1)
        stop = _first(self._log_mean(right, wrong, runs, np.array(self.claim)), limit)
        last = len(odds) if stop is None else stop
        self._counts = right[:, last - 1 : last], wrong[:, last - 1 : last], int(runs[last - 1])
        return stop

    def _log_mean(self, right: np.ndarray, wrong: np.ndarray, runs: np.ndarray | int, epsilon: np.ndarray) -> np.ndarray:
        """Counts are (thresholds, times), or for one time and many ε (thresholds, 1)."""
        shrunk, stakes = np.exp(-epsilon), self.STAKES[:, None, None]
        share = stakes * shrunk / (1 + self.delta * shrunk)  # λ
        wealth = right * np.log1p(share * (1 - self.delta)) + wrong * np.log1p(-stakes)
        wealth = wealth + (runs - right - wrong) * np.log1p(-share * self.delta)
        return np.asarray(logsumexp(wealth, axis=(0, 1)) - math.log(self.STAKES.size * len(self.thresholds)))

    @property
    def evidence(self) -> np.ndarray:
        return self._log_mean(*self._counts, self.grid)


def bets(claim: float, delta: float) -> PureBets | MixedBets:
    return PureBets(claim) if delta == 0 else MixedBets(claim, delta)
