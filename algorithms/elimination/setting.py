"""What a run of the loop is given: the public setting, and the privacy step of its model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, get_args

import numpy as np

from algorithms.elimination.confidence import Calibration, Model
from algorithms.elimination.pulls import Pulls
from dpaudit.claims import InvalidValue

Design = Literal["frank-wolfe", "minimal", "all"]


@dataclass(frozen=True)
class Setting:
    """Everything public that is fixed in advance. Printed with every result."""

    actions: np.ndarray  # (K, d); (trials, K, d) when each trial has an instance of its own
    horizon: int
    calibration: Calibration = "tight"
    low: float = -1.0
    high: float = 1.0
    design: Design = "frank-wolfe"  # or "minimal", or "all": no core set, every active action is pulled alike
    leverage: float = 2.0  # core sets reach g ≤ leverage·m
    maximum: str = "active"  # eliminate against the best of A_i; "all": of A, as Algorithms 1 and 3 print it
    stop_when_decided: bool = False  # leave the batches once one action is left: the actions played are the same

    def __post_init__(self) -> None:
        for name, known in (("design", get_args(Design)), ("maximum", ("active", "all"))):
            if getattr(self, name) not in known:
                raise InvalidValue(name, getattr(self, name), "one of " + ", ".join(known))
        if not self.low < self.high:
            raise InvalidValue("low", self.low, f"below high, which is {self.high:g}")

    @property
    def growth(self) -> float:
        """q = (2T)^(1/log T)."""
        return float((2 * self.horizon) ** (1 / math.log(self.horizon)))

    @property
    def batches_at_most(self) -> int:
        """N_max = max{N : Σ_{i≤N} ⌈q^i⌉ ≤ T}."""
        used, batch = 0, 0
        while (used := used + math.ceil(self.growth ** (batch + 1))) <= self.horizon:
            batch += 1
        return batch


class PrivacyStep(Protocol):
    """What one model does between pulling and estimating."""

    @property
    def model(self) -> Model: ...

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """For batches of these pulls (G, k): Laplace scale (G,), printed ε (G,), and exact scales for the door."""
        ...

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> np.ndarray:
        """The (noisy) sum of rewards per pulled action, shape (k,) or (trials, k)."""
        ...


@dataclass(frozen=True)
class SameNoise:
    """Steps whose noise is the same in all batches: Lap(1/ε) with sensitivity 1 as printed, Lap(s/ε) with sensitivity s, the
    reward range, as corrected."""

    epsilon: Fraction
    calibration: Calibration = "tight"
    spread: Fraction = Fraction(2)

    @property
    def sensitivity(self) -> Fraction:
        return Fraction(1) if self.calibration == "printed" else self.spread

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        scale = self.sensitivity / self.epsilon
        states = len(counts)
        return np.full(states, float(scale)), np.full(states, float(self.epsilon)), [scale] * states
