"""Shuffled arm elimination (Tenenbaum, Kaplan, Mansour and Stemmer 2021): doubling epochs, one shuffled binary sum per arm.

Each client's bit passes the binary-sum protocol of Cheu et al. 2019 (Theorem 3.1 there): it is replaced by a fair coin with
probability λ/n, λ = 64 log(4/δ)/ε², for n ≥ 192 log(4/δ)/ε² and ε ≤ 1. The authors use a protocol of their own with the same
order of noise; its constants, and those of the widths, were not confirmed from the paper. The widths here are Hoeffding's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.baselines.arms.arm_elimination import ArmElimination
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.privacy_steps import amplitude, sum_of_bits

_COINS = 64  # λ ε²/log(4/δ)
_LEAST = 192  # n ε²/log(4/δ) from which λ is that


@dataclass(frozen=True)
class Tenenbaum:
    """(ε, δ)-DP for what leaves the shuffler: how many bits of an epoch's arm are 1."""

    epsilon: Fraction
    delta: Fraction
    horizon: int

    @cached_property
    def _unit(self) -> float:
        """log(4/δ)/ε², at ε ≤ 1, where the theorem holds."""
        return math.log(4 / float(self.delta)) / float(min(self.epsilon, Fraction(1))) ** 2

    def policy(self, actions: np.ndarray, horizon: int) -> ArmElimination:
        return ArmElimination(self, actions.shape[0], actions.shape[1], horizon)

    def pulls(self, epoch: np.ndarray, arms: np.ndarray) -> np.ndarray:
        first = math.ceil(_LEAST * self._unit)
        return first << np.minimum(epoch - 1, 34)

    def response(self, n: int) -> Fraction:
        """ε0 of the bits of n clients, rounded down: e^ε0 = (1 − λ/2n)/(λ/2n)."""
        coins = _COINS * self._unit / (2 * n)
        return Fraction(int(math.log((1 - coins) / coins) * 2**30), 2**30)

    def gap(self, epoch: np.ndarray, arms: np.ndarray) -> np.ndarray:
        """Twice Hoeffding's width of a mean of n reports ±C, at 1/T for all arms and epochs together."""
        length = self.pulls(epoch, arms)
        size = np.array([amplitude(self.response(int(n))) for n in length])
        result: np.ndarray = 2 * size * np.sqrt(2 * np.log(4 * arms * epoch**2 * self.horizon) / length)
        return result

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        """Trials may be in different epochs: their bits are as private as the length of their block asks for."""
        lengths = pulls.counts[:, 0]
        if (lengths == lengths[0]).all():
            noise = dp.RandomizedResponse(self.response(int(lengths[0])))
        else:
            noise = dp.RandomizedResponse(np.array([float(self.response(int(n))) for n in lengths]))
        return np.ravel(sum_of_bits(channel, rewards, pulls, block, noise, "shuffled"))
