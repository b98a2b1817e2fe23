"""DP-SE (Sajed and Sheffet 2019): successive elimination, each arm's mean of an epoch with Laplace noise, by a trusted server.

Constants of their Algorithm 2 for rewards in [0, 1], β = 1/T; rewards in [−1, 1] double every width. They were compared with a
public implementation, not with the paper itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.arms.arm_elimination import ArmElimination
from algorithms.elimination.pulls import Pulls

SPREAD = Fraction(2)


@dataclass(frozen=True)
class SajedSheffet:
    """ε-DP for a server that releases each arm's sum of each epoch with Lap(2/ε)."""

    epsilon: Fraction
    horizon: int

    def policy(self, actions: np.ndarray, horizon: int) -> ArmElimination:
        return ArmElimination(self, actions.shape[0], actions.shape[1], horizon)

    def pulls(self, epoch: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """R_e = max(32 log(8|S|e²/β)/Δ_e², 8 log(4|S|e²/β)/(εΔ_e)) + 1, Δ_e = 2^−e."""
        gap, weight = 2.0 ** -epoch.astype(float), arms * epoch.astype(float) ** 2 * self.horizon
        length = np.maximum(32 * np.log(8 * weight) / gap**2, 8 * np.log(4 * weight) / (float(self.epsilon) * gap))
        most = float(2 * self.horizon)  # longer epochs do not fit anyway
        result: np.ndarray = (np.minimum(length, most) + 1).astype(np.int64)
        return result

    def gap(self, epoch: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """2h_e + 2c_e, h_e = √(log(8|S|e²/β)/(2R_e)), c_e = log(4|S|e²/β)/(R_e ε); twice that for rewards in [−1, 1]."""
        weight, length = arms * epoch.astype(float) ** 2 * self.horizon, self.pulls(epoch, arms)
        chance = np.sqrt(np.log(8 * weight) / (2 * length))
        result: np.ndarray = 4 * (chance + np.log(4 * weight) / (length * float(self.epsilon)))
        return result

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        noise = dp.Laplace(SPREAD / self.epsilon)
        return np.ravel(channel.release(f"block {block}", pulls.sums(rewards), noise, sensitivity=SPREAD, cohort=pulls.cohort()))
