"""Everything about a run that is public before its first round: stages, batch lengths, failure level, weights.

An action's k-th batch has m_k rounds, so that M_k = m_1 + … + m_k doubles from stage to stage. S is the least stage with M_S ≥ T.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

WIDTH_SHARE = 0.25  # ρ: an action may be played if its upper bound misses the best one by at most this share of its width
LEAST_RIDGE = 20.0  # Λ where no noise asks for more
_REACH = 0.49  # (b·t)² up to which noise is bounded by κ_b b²t²
NOISE_GROWTH = -math.log1p(-_REACH) / _REACH  # κ_b: −log(1−x) ≤ κ_b x on [0, .49], since −log(1−x)/x increases


@dataclass(frozen=True)
class Model:
    """What the analysis needs to know of a privacy step: noise of scale b on a batch's sum, or reports ±C_k of mean μ."""

    first: int  # M_1, the length of an action's first batch
    noise: float  # b; 0 where clients randomise their own reports
    amplitudes: tuple[float, ...]  # C_k ≥ 1, one for each stage, not increasing


def stages(first: int, horizon: int) -> int:
    """S: the least k with M_k = 2^(k−1) M_1 ≥ T."""
    count = 1
    while first << (count - 1) < horizon:
        count += 1
    return count


def batch_lengths(first: int, count: int) -> tuple[int, ...]:
    """m_1 = M_1, m_{k+1} = M_k."""
    return (first, *(first << k for k in range(count - 1)))


@dataclass(frozen=True)
class Schedule:
    """The constants of one setting. ``actions`` and ``dimension`` are K and d."""

    model: Model
    horizon: int
    actions: int
    dimension: int
    share: float = WIDTH_SHARE

    @cached_property
    def stages(self) -> int:
        return stages(self.model.first, self.horizon)

    @cached_property
    def lengths(self) -> np.ndarray:
        """m_k for k = 1, …, S."""
        return np.array(batch_lengths(self.model.first, self.stages), dtype=np.int64)

    @cached_property
    def totals(self) -> np.ndarray:
        """M_k for k = 1, …, S."""
        return np.cumsum(self.lengths)

    @property
    def level(self) -> float:
        """L = log(4KST): each end of each interval fails with probability at most e^−L."""
        return math.log(4 * self.actions * self.stages * self.horizon)

    @cached_property
    def amplitudes(self) -> np.ndarray:
        return np.array(self.model.amplitudes[: self.stages])

    @property
    def noise_variance(self) -> float:
        """ν = 2κ_b b²."""
        return 2 * NOISE_GROWTH * self.model.noise**2

    @cached_property
    def variances(self) -> np.ndarray:
        """v_k = m_k C_k² + ν: log E e^(tη) ≤ t²v_k/2 for the error η of a stage-k release."""
        return self.lengths * self.amplitudes**2 + self.noise_variance

    @cached_property
    def ridge(self) -> float:
        """Λ. With noise: so large that the mixture over |λ| ≤ τ = .7/b has half of its weight there at the threshold."""
        if not self.model.noise:
            return LEAST_RIDGE
        d, reach = self.dimension, math.sqrt(_REACH) / self.model.noise
        most = 2 * math.log(2 * self.horizon) + 2 * math.log(2) + d * math.log1p(self.horizon / (LEAST_RIDGE * d))
        return max(LEAST_RIDGE, ((math.sqrt(most) + math.sqrt(2 * d)) / reach) ** 2)

    @property
    def radius_start(self) -> float:
        """β² where nothing has been released; logdet(I + H/Λ) is added."""
        return 2 * math.log(2 * self.horizon) + (2 * math.log(2) if self.model.noise else 0.0)

    @property
    def most_batches(self) -> int:
        """Each release advances one action by a stage and takes M_1 rounds or more; the last batch releases nothing."""
        return min(self.actions * self.stages, self.horizon // self.model.first) + 1
