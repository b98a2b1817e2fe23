"""Lower bounds from one training run: m canaries, each in or out by the auditor's own fair coin, and guesses about some of them.

Guesses are made from scores that no coin had a part in: so many of the highest scores "in", as many of the lowest "out", with
the numbers fixed before training. The bounds hold for canaries that interact, as all are in the same run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpaudit.auditors.binomial import tail_above
from dpaudit.claims import InvalidValue

# How many of m canaries are guessed, as multiples of √m, and the share of α that each number gets. At expected counts of a
# Gaussian shift of .5 to 2 about 4√m is best from m = 500 to 20,000. √m is for few canaries that stand
# out, 12√m for large shifts.
NUMBERS = ((1.0, 0.1), (4.0, 0.8), (12.0, 0.1))
TIES = 2023  # seed of the order of equal scores, fixed before any coin
LARGEST = 60.0  # no ε above it is looked at
_OUTWARD = 1e-9  # relative: what floating point may have taken from a probability


@dataclass(frozen=True)
class CanaryGuesses:
    """``right`` of ``guesses`` were right, among ``canaries``. Counts of several runs with fresh coins may be added up."""

    right: int
    guesses: int
    canaries: int

    def __post_init__(self) -> None:
        if not 0 <= self.right <= self.guesses <= self.canaries:
            raise InvalidValue("right, guesses, canaries", (self.right, self.guesses, self.canaries), "ordered, and not negative")


def tail_probability(g: CanaryGuesses, epsilon: float, delta: float) -> float:
    """At most this is the probability of so many right guesses under (ε,δ)-DP training.

    Steinke, Nasr, Jagielski 2023: B(v) + 2mδ·max (B(v−i) − B(v))/i over 1 ≤ i ≤ v, with B(t) = P(Bin(r, 1/(1+e^−ε)) ≥ t).
    """
    tails = tail_above(np.arange(g.right, -1, -1) - 1, g.guesses, 1 / (1 + math.exp(-epsilon)))  # B(v), B(v−1), …, B(0)
    worst = float(((tails[1:] - tails[0]) / np.arange(1, g.right + 1)).max(initial=0.0))
    return min(1.0, (float(tails[0]) + 2 * g.canaries * delta * worst) * (1 + _OUTWARD))


def guesses_bound(g: CanaryGuesses, delta: float, alpha: float) -> float:
    """The least ε that these guesses allow at level α, rounded down; 0 if they allow every one."""
    if tail_probability(g, 0.0, delta) > alpha:
        return 0.0
    low, high = 0.0, LARGEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail_probability(g, middle, delta) <= alpha else (low, middle)
    return low


def split_bound(several: Sequence[CanaryGuesses], delta: float, alpha: float) -> float:
    """The best of ``NUMBERS``, chosen before training; each has its share of α."""
    return max(guesses_bound(g, delta, alpha * part) for g, (_, part) in zip(several, NUMBERS, strict=True))


@dataclass(frozen=True)
class Profile:
    """A claimed curve δ(ε) on a grid. Every point of it is a statement of its own, so a coarse grid only weakens a test."""

    epsilons: np.ndarray
    deltas: np.ndarray

    def least_false(self, true: float) -> float:
        """The least false positive rate that the curve allows beside this true positive rate."""
        first = (true - self.deltas) * np.exp(-self.epsilons)
        second = 1 - self.deltas - np.exp(self.epsilons) * (1 - true)
        return max(0.0, float(first.max()), float(second.max()))


def curve_refuted(g: CanaryGuesses, profile: Profile, alpha: float) -> bool:
    """Do these guesses refute the curve at level α? (The recursion of Mahloujifar, Melis, Chaudhuri 2024.)"""
    if g.canaries == 0 or g.guesses == 0:
        return False
    reached, missed = alpha * g.right / g.canaries, alpha * (g.guesses - g.right) / g.canaries
    for i in range(g.right - 1, -1, -1):
        least = max(missed, profile.least_false(min(reached, 1.0)) * (1 - _OUTWARD))
        if least == missed:
            break
        reached = min(1.0, reached + i / (g.guesses - i) * (least - missed))
        missed = least
    return reached + missed > g.guesses / g.canaries


def split_curve_refuted(several: Sequence[CanaryGuesses], profile: Profile, alpha: float) -> bool:
    """The same for the guesses of all ``NUMBERS``, chosen before training."""
    return any(curve_refuted(g, profile, alpha * part) for g, (_, part) in zip(several, NUMBERS, strict=True))


def guessed_shares(canaries: int) -> list[float]:
    """The shares of so many canaries that are guessed: √m, 4√m and 12√m of m, all of them where m is small."""
    return [min(1.0, number / math.sqrt(canaries)) for number, _ in NUMBERS]


def guess_canaries(scores: np.ndarray, included: np.ndarray, share: float) -> CanaryGuesses:
    """Half of ``share`` of the canaries, those with the highest scores, are guessed in; as many with the lowest, out.

    Equal scores are put in an order that no coin had a part in: the order of the rows may know who was included.
    """
    each = min(round(share * len(scores) / 2), len(scores) // 2)
    mixed = np.random.default_rng(TIES).permutation(len(scores))
    order = mixed[np.argsort(scores[mixed], kind="stable")]
    right = int(included[order[len(order) - each :]].sum() + (~included[order[:each]]).sum())
    return CanaryGuesses(right, 2 * each, len(scores))
