"""Neighbouring rewards: r_t differs at one round (Definition 1), in the O(1) form that audits use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.elimination.setting import PrivacyStep, Setting
from algorithms.elimination.threshold_rewards import threshold_pairs
from algorithms.rewards import ConstantExceptOne, SealedRewards, Sequence


@dataclass(frozen=True)
class RewardSequence:
    """Two reward sequences that differ in one round."""

    setting: Setting
    step: PrivacyStep
    name = "reward-sequence"

    def pairs(self, rng: np.random.Generator) -> list[tuple[Any, Any]]:
        """All rounds earn the highest (lowest) reward but one, in the middle of the last batch and in the first one; for the
        central model also rewards that put an elimination on its threshold."""
        low, high = self.setting.low, self.setting.high
        rounds = (self._late_round(), 0)
        extremes: list[tuple[Any, Any]] = [
            (ConstantExceptOne(base, t, value, low, high), ConstantExceptOne(base, t, base, low, high))
            for t in rounds
            for base, value in ((high, low), (low, high))
        ]
        return extremes + (threshold_pairs(self.setting, self.step) if self.step.model != "reports" else [])

    def _late_round(self) -> int:
        growth, last = self.setting.growth, max(self.setting.batches_at_most, 1)
        before = sum(int(np.ceil(growth**i)) for i in range(1, last))
        return min(before + int(growth**last / 2), self.setting.horizon - 1)

    def others(self, rng: np.random.Generator) -> list[Any]:
        setting = self.setting
        middle = (setting.low + setting.high) / 2
        calm = ConstantExceptOne(middle, 0, middle, setting.low, setting.high)
        if setting.horizon > 10**7:
            return [calm]
        return [
            calm,
            Sequence(rng.choice([setting.low, setting.high], setting.horizon), setting.low, setting.high),
        ]

    def seal(self, data: Any) -> SealedRewards:
        return SealedRewards(data)
