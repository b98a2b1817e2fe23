"""What the shuffled systems share: batches of one public length, and LinUCB on noisy sums between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from algorithms.baselines.linear.parts.confidence_bandit import ConfidenceBandit, noisy_shift, noisy_width


@dataclass(frozen=True)
class FixedBatches(ABC):
    """(ε, δ) for what leaves the shuffler, for a client's context and reward."""

    epsilon: Fraction
    delta: Fraction
    horizon: int
    dimension: int

    @property
    @abstractmethod
    def batch(self) -> int:
        """Rounds of a batch."""

    @property
    @abstractmethod
    def size(self) -> float:
        """The standard deviation of one report, at most."""

    def policy(self, actions: np.ndarray, horizon: int) -> ConfidenceBandit:
        return ConfidenceBandit(self, actions)  # type: ignore[arg-type]

    def length(self, time: np.ndarray, leverage: np.ndarray) -> np.ndarray:
        return np.full(len(time), self.batch)

    def _spread(self, time: np.ndarray) -> np.ndarray:
        """Of the noise of all reports so far."""
        return self.size * np.sqrt(np.maximum(time, self.batch))

    def shift(self, time: np.ndarray) -> np.ndarray:
        return 2 * noisy_shift(self._spread(time), self.dimension, self.horizon)

    def width(self, time: np.ndarray, growth: np.ndarray) -> np.ndarray:
        return noisy_width(self._spread(time), growth, self.dimension, self.horizon)
