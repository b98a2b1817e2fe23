"""Algorithm 2's privacy step: clients add noise to their own reward, an untrusted server adds up the reports."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

import dpaudit as dp
from algorithms.elimination.clients import BatchRecords
from algorithms.elimination.confidence import Calibration, Model
from algorithms.elimination.pulls import Pulls
from dpaudit.channel import Reports


@dataclass(frozen=True)
class Local:
    """Lap(1/ε0) per reward with sensitivity 1 as printed; Lap(s/ε0) with sensitivity s as corrected."""

    epsilon: Fraction
    calibration: Calibration = "tight"
    spread: Fraction = Fraction(2)
    model: ClassVar[Model] = "reports"

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(1) if self.calibration == "printed" else self.spread

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        scale = self.sensitivity / self.epsilon
        states = len(counts)
        return np.full(states, float(scale)), np.full(states, float(self.epsilon)), [scale] * states

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> np.ndarray:
        return self.server(self.clients(channel, rewards, pulls, batch, scale))

    def clients(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> Reports:
        """Client side: play the action, send r̂ = r + Lap. Nothing but the report leaves."""
        return channel.reports(
            f"batch {batch}",
            BatchRecords(rewards, pulls),
            dp.Laplace(scale),
            sensitivity=self.sensitivity,
            cohort=pulls.cohort(),
            sums_only=True,
        )

    def server(self, reports: Reports) -> np.ndarray:
        """Server side: sums the reports of each action. It never sees a reward."""
        return reports.sum()
