"""Algorithm 3's privacy step: a trusted shuffler hands out actions in secret order and passes on reports without names."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

import dpaudit as dp
from algorithms.elimination.clients import BatchRecords
from algorithms.elimination.confidence import Calibration, Model
from algorithms.elimination.pulls import Pulls
from dpaudit.accountants import epsilon0_rule
from dpaudit.channel import Reports
from dpaudit.noise import GRID

_SLACK = Fraction(1, 10**5)  # of ε: how much the search for ε0 leaves to rounding


@lru_cache(maxsize=65536)
def epsilon0(epsilon: Fraction, n: int, delta: Fraction, calibration: Calibration, spread: Fraction = Fraction(2)) -> Fraction:
    """ε0 of a batch of n reports: f⁻¹ as printed, whatever its domain; f⁻¹ inside its domain as corrected; tight, the
    exact privacy blanket of Laplace reports. An ε-LDP report is ε-DP, so ε0 = ε always holds."""
    if calibration == "printed":
        return dp.invert(epsilon, n, delta, method="closed", digits=20).lower
    if calibration == "corrected":
        return epsilon0_rule(epsilon, n, delta, method="closed")
    return _blanket(epsilon, n, delta, int(spread / GRID))


def _blanket(epsilon: Fraction, n: int, delta: Fraction, steps: int) -> Fraction:
    """The largest ε0 of the blanket, lowered until the certified ε of the batch is at most ε, rounding included.

    It rests on rewards in one interval of ``steps`` grid steps, and on reports that do not depend on each other.
    """
    chosen, cut = epsilon0_rule(epsilon * (1 - _SLACK), n, delta, method="laplace", steps=steps), _SLACK
    while chosen > epsilon and dp.amplify(chosen, n, delta, method="laplace", steps=steps, attack=False).upper > epsilon:
        chosen, cut = Fraction(int(chosen * (1 - cut) * 2**40), 2**40), 4 * cut
    return max(epsilon, chosen)


@dataclass(frozen=True)
class Shuffler:
    """The trusted party between clients and server. It keeps no order and no names."""

    channel: Any

    def permutation(self, n: int) -> np.ndarray:
        """π: client j plays the π(j)-th action of the batch."""
        secret: np.ndarray = self.channel.secret_permutation(n)
        return secret

    def slots(self, sizes: np.ndarray) -> np.ndarray:
        """π at one client, for many trials at once."""
        secret: np.ndarray = self.channel.secret_integers(sizes)
        return secret

    def assign(self, rewards: Any, pulls: Pulls) -> BatchRecords:
        """Send action a_π(j) to client j, π a secret permutation of the batch's actions."""
        return BatchRecords(rewards, pulls, self)

    def collect(self, records: BatchRecords, batch: int, noise: Any, sensitivity: Fraction) -> Reports:
        """Undo the assignment: pairs (action, report) leave as one sorted multiset."""
        return self.channel.reports(
            f"batch {batch}",
            records,
            noise,
            sensitivity=sensitivity,
            cohort=records.pulls.cohort(),
            to="shuffled",
        )


@dataclass(frozen=True)
class Shuffled:
    """Lap(1/ε0) per reward as printed; Lap(s/ε0) with ε0 inside the theorem's domain as corrected."""

    epsilon: Fraction
    delta: Fraction
    calibration: Calibration = "tight"
    spread: Fraction = Fraction(2)
    model: ClassVar[Model] = "reports"

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(1) if self.calibration == "printed" else self.spread

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        sizes, batch = np.unique(counts.sum(axis=1), return_inverse=True)
        chosen = [epsilon0(self.epsilon, int(n), self.delta, self.calibration, self.spread) for n in sizes]
        scales = [self.sensitivity / e for e in chosen]
        floats = np.array([float(s) for s in scales]), np.array([float(e) for e in chosen])
        return floats[0][batch], floats[1][batch], [scales[b] for b in batch]

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> np.ndarray:
        shuffler = Shuffler(channel)
        records = shuffler.assign(rewards, pulls)
        return self.server(shuffler.collect(records, batch, dp.Laplace(scale), self.sensitivity))

    def server(self, reports: Reports) -> np.ndarray:
        """Server side: sums the reports of each action."""
        return reports.sum()
