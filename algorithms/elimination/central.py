"""Algorithm 1's privacy step: a trusted server adds Laplace noise to the sum of each pulled action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import dpaudit as dp
from algorithms.elimination.confidence import Model
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.setting import SameNoise


@dataclass(frozen=True)
class Central(SameNoise):
    """Lap(1/ε) with sensitivity 1 as printed; Lap(s/ε) with sensitivity s, the reward range, as corrected."""

    model: ClassVar[Model] = "central"

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> np.ndarray:
        noisy: np.ndarray = channel.release(
            f"batch {batch}",
            pulls.sums(rewards),
            dp.Laplace(scale),
            sensitivity=self.sensitivity,
            cohort=pulls.cohort(),
        )
        return noisy


@dataclass(frozen=True)
class NonPrivate:
    """No noise and no door: the yardstick. It claims nothing."""

    model: ClassVar[Model] = "nonprivate"

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        states = len(counts)
        return np.zeros(states), np.full(states, np.inf), [None] * states

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> np.ndarray:
        return np.asarray(pulls.sums(rewards))
