"""Algorithm 2's privacy step: clients add noise to their own reward, an untrusted server adds up the reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import dpaudit as dp
from algorithms.elimination.clients import BatchRecords
from algorithms.elimination.confidence import Model
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.setting import SameNoise
from dpaudit.channel import Reports


@dataclass(frozen=True)
class Local(SameNoise):
    """Lap(1/ε0) per reward with sensitivity 1 as printed; Lap(s/ε0) with sensitivity s as corrected."""

    model: ClassVar[Model] = "reports"

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
