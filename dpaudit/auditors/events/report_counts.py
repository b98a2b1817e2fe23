"""How many shuffled reports are at or above a threshold: exact probabilities when all clients but one hold the same value.

The count is Bin(n−1, p0) for the crowd plus one Bernoulli number for the client whose value differs. For randomised response it
is all that a shuffler lets through.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from scipy.special import betainc, gammaln

from dpaudit.auditors.events.tails import log_down
from dpaudit.claims.balls import Ball, ball, lower, precision, upper
from dpaudit.noise import Noise, from_units

THRESHOLDS, COUNTS = 60, 400  # tried in floats before the best event is certified
BITS = 256


@dataclass(frozen=True)
class ReportBatch:
    """n reports: the crowd holds one value, one client another, which differs between the two data sets. In units."""

    noise: Noise
    n: int
    crowd: int
    first: int
    second: int


@dataclass(frozen=True)
class CountEvent:
    """``count`` reports or more (fewer than ``count`` if not ``many``) are at or above ``threshold``."""

    threshold: int
    count: int
    many: bool
    favours_first: bool
    epsilon: Fraction
    p: Fraction
    p_other: Fraction

    def text(self, batch: ReportBatch) -> str:
        value = float(from_units(self.threshold, batch.noise.grid))
        return f"{'at least' if self.many else 'fewer than'} {self.count} of the {batch.n} reports are at or above {value:.9g}"


def count_event(batch: ReportBatch, delta: Fraction) -> CountEvent | None:
    """The best such event; None if none shows anything."""
    best: tuple[float, int, int, bool, bool] | None = None
    for threshold in _thresholds(batch):
        p0, p1, p2 = (float(sum(batch.noise.within(threshold, None, x)) / 2) for x in (batch.crowd, batch.first, batch.second))
        for estimate in _estimates(batch.n, p0, p1, p2, float(delta)):
            if best is None or estimate[0] > best[0]:
                best = (estimate[0], threshold, *estimate[1:])
    return None if best is None else certified(batch, *best[1:], delta)


def _thresholds(batch: ReportBatch) -> Iterator[int]:
    yield from batch.noise.thresholds((batch.crowd, batch.first, batch.second), 2 + math.log(batch.n), THRESHOLDS)


def _estimates(n: int, p0: float, p1: float, p2: float, delta: float) -> Iterator[tuple[float, int, bool, bool]]:
    """(ε, count, many, favours first) in floats: a start for the certificate, never a bound."""
    if not 0 < p0 < 1 or p1 == p2:
        return
    spread = 12 * math.sqrt(n * p0 * (1 - p0)) + 12
    counts = np.unique(np.linspace(max(1, n * p0 - spread), min(n, n * p0 + spread), COUNTS).astype(np.int64))
    others = n - 1
    beyond = np.where(counts <= others, betainc(counts, np.maximum(others - counts + 1.0, 1e-9), p0), 0.0)
    below = 1 - beyond  # both tails are exact where they matter: the far one is computed from its own side
    below = np.where(counts <= others, betainc(np.maximum(others - counts + 1.0, 1e-9), counts, 1 - p0), below)
    at = counts - 1.0
    log_point = gammaln(others + 1) - gammaln(at + 1) - gammaln(others - at + 1) + at * math.log(p0)
    point = np.exp(log_point + (others - at) * math.log1p(-p0))
    for many, tails in ((True, (beyond + p1 * point, beyond + p2 * point)), (False, (below - p1 * point, below - p2 * point))):
        for favours_first, (p, q) in ((True, tails), (False, tails[::-1])):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                epsilon = np.where((p > delta) & (q > 1e-290), np.log((p - delta) / q), -np.inf)
            place = int(np.nanargmax(epsilon))
            if epsilon[place] > 0:
                yield float(epsilon[place]), int(counts[place]), many, favours_first


def certified(
    batch: ReportBatch, threshold: int, count: int, many: bool, favours_first: bool, delta: Fraction
) -> CountEvent | None:
    """The event with enclosed probabilities, each rounded against the attack."""
    with precision(BITS):
        crowd, first, second = (
            _enclosed(batch.noise.within(threshold, None, x)) for x in (batch.crowd, batch.first, batch.second)
        )
        tail, point = _binomial(batch.n - 1, crowd, count)
        likely, other = (tail + p * point for p in ((first, second) if favours_first else (second, first)))
        p, q = (lower(likely), upper(other)) if many else (lower(1 - likely), upper(1 - other))
    if p <= delta or q <= 0:
        return None
    epsilon = log_down((p - delta) / q)
    return None if epsilon is None else CountEvent(threshold, count, many, favours_first, epsilon, p, q)


def _enclosed(ends: tuple[Fraction, Fraction]) -> Ball:
    return ball(ends[0]).union(ball(ends[1]))


def _binomial(n: int, p: Ball, count: int) -> tuple[Ball, Ball]:
    """P(Bin(n, p) ≥ count) by the incomplete beta function, and P(Bin(n, p) = count − 1)."""
    tail: Any = arb(1) if count <= 0 else arb(0) if count > n else p.beta_lower(count, n - count + 1, 1)
    if not 1 <= count <= n + 1:
        return tail, arb(0)
    k = count - 1
    ways = arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()
    return tail, (ways + k * p.log() + (n - k) * (1 - p).log()).exp()
