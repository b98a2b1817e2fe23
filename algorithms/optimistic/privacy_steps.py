"""The three privacy steps: what leaves a batch, at what noise, and what the analysis needs to know of it.

Central: the sum of the batch's rewards with Laplace noise 2/ε. Local: every client's bit by randomised response with ε. Shuffled:
the number of such bits of one batch, with the ε0 at which that many shuffled bits are (ε, δ)-private (Lemma S).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np

import dpaudit as dp
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.rounded_reports import RoundedReports
from algorithms.optimistic.schedule import Model, batch_lengths, stages
from dpaudit.accountants import epsilon0_rule

SPREAD = Fraction(2)  # rewards lie in [−1, 1]
_SLACK = Fraction(1, 10**6)  # of ε: what the search for ε0 leaves to the rounding of enclosures


class OptimisticStep(Protocol):
    """What one model of privacy does with a batch."""

    name: ClassVar[str]
    by_client: ClassVar[bool]  # does every client report for itself?

    def model(self, horizon: int) -> Model: ...

    def noise(self, stage: np.ndarray, horizon: int) -> Any:
        """The mechanism for releases of these stages, one per trial."""

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, noise: Any) -> np.ndarray:
        """An unbiased estimate of the sum of the batch's rewards: (1,), or (trials, 1)."""


@dataclass(frozen=True)
class OptimisticCentral:
    """A trusted server: Laplace noise of scale 2/ε on the sum."""

    epsilon: Fraction
    name: ClassVar[str] = "central"
    by_client: ClassVar[bool] = False

    def model(self, horizon: int) -> Model:
        first = max(20, math.ceil(48 / self.epsilon))
        return Model(first, float(SPREAD / self.epsilon), (1.0,) * stages(first, horizon))

    @cached_property
    def _laplace(self) -> dp.Laplace:
        return dp.Laplace(SPREAD / self.epsilon)

    def noise(self, stage: np.ndarray, horizon: int) -> dp.Laplace:
        return self._laplace

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, noise: Any) -> np.ndarray:
        noisy: np.ndarray = channel.release(
            f"batch {batch}", pulls.sums(rewards), noise, sensitivity=SPREAD, cohort=pulls.cohort()
        )
        return noisy


@dataclass(frozen=True)
class OptimisticLocal:
    """An untrusted server: it sees every client's randomised bit."""

    epsilon: Fraction
    name: ClassVar[str] = "local"
    by_client: ClassVar[bool] = True
    sensitivity: ClassVar[Fraction] = Fraction(1)  # of a bit

    def model(self, horizon: int) -> Model:
        size = amplitude(self.epsilon)
        first = max(20, math.ceil(20 * size**2))
        return Model(first, 0.0, (size,) * stages(first, horizon))

    def noise(self, stage: np.ndarray, horizon: int) -> dp.RandomizedResponse:
        return dp.RandomizedResponse(self.epsilon)

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, noise: Any) -> np.ndarray:
        return sum_of_bits(channel, rewards, pulls, batch, noise, "server")


@dataclass(frozen=True)
class OptimisticShuffled:
    """An untrusted server behind a shuffler: of a batch it sees how many bits are 1."""

    epsilon: Fraction
    delta: Fraction
    name: ClassVar[str] = "shuffled"
    by_client: ClassVar[bool] = True

    def first(self) -> int:
        return max(40, math.ceil(60 / min(self.epsilon, Fraction(5, 2))))

    def epsilons(self, horizon: int) -> tuple[Fraction, ...]:
        first = self.first()
        return report_epsilons(self.epsilon, self.delta, batch_lengths(first, stages(first, horizon)))

    def model(self, horizon: int) -> Model:
        return Model(self.first(), 0.0, tuple(amplitude(epsilon) for epsilon in self.epsilons(horizon)))

    def noise(self, stage: np.ndarray, horizon: int) -> dp.RandomizedResponse:
        chosen, places = self.epsilons(horizon), np.asarray(stage) - 1
        if (places == places.flat[0]).all():
            return dp.RandomizedResponse(chosen[int(places.flat[0])])
        return dp.RandomizedResponse(np.array([float(epsilon) for epsilon in chosen])[places])

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, noise: Any) -> np.ndarray:
        return sum_of_bits(channel, rewards, pulls, batch, noise, "shuffled")


def amplitude(epsilon: Fraction) -> float:
    """C = (e^ε + 1)/(e^ε − 1): a randomised bit as ±C has the reward's mean."""
    return 1 / math.tanh(float(epsilon) / 2)


def sum_of_bits(channel: Any, rewards: Any, pulls: Pulls, batch: int, noise: Any, to: str) -> np.ndarray:
    """C · Σ(±1) of the randomised bits."""
    records = RoundedReports(rewards, pulls, channel.rng)
    reports = channel.reports(f"batch {batch}", records, noise, sensitivity=1, cohort=pulls.cohort(), to=to)
    return from_count(np.asarray(reports.sum()), records.counts, noise)


def from_count(ones: np.ndarray, counts: np.ndarray, noise: Any) -> np.ndarray:
    """The sum of rewards that so many ones among so many randomised bits estimate."""
    size = 1 / np.tanh(np.asarray(noise.size, dtype=float) / 2)
    estimate: np.ndarray = (2 * ones - counts) * (size[:, None] if size.ndim else size)
    return estimate


@lru_cache(maxsize=256)
def report_epsilons(epsilon: Fraction, delta: Fraction, lengths: tuple[int, ...]) -> tuple[Fraction, ...]:
    """ε_k for batches of m_k shuffled bits: certified to be (ε, δ)-private, and not decreasing in k.

    All reports of a batch are bits of one randomiser, so that its own blanket bounds them; it is below Lemma S's D(ε; ε0, n), the
    clone bound of n reports. The smallest value of the stages to come keeps them in order.
    """
    chosen = [_report_epsilon(epsilon, delta, n) for n in lengths]
    least = [min(chosen[k:]) for k in range(len(chosen))]
    return tuple(least)


@lru_cache(maxsize=4096)
def _report_epsilon(epsilon: Fraction, delta: Fraction, n: int) -> Fraction:
    """The largest ε0 that the blanket of bits allows, lowered until its certified ε is at most ε. ε itself needs no crowd."""
    chosen, cut = epsilon0_rule(epsilon * (1 - _SLACK), n, delta, method="krr", k=2), _SLACK
    while chosen > epsilon and dp.amplify(chosen, n, delta, method="krr", k=2, attack=False).upper > epsilon:
        chosen, cut = Fraction(int(chosen * (1 - cut) * 2**40), 2**40), 4 * cut
    return max(epsilon, chosen)
