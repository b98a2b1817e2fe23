"""Report noisy max: the index of the largest score after Laplace noise on each; the noisy score itself is not released."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.claims import WrittenForm
from dpaudit.noise.mechanism import Units
from dpaudit.noise.sampling.geometric import add_two_sided
from dpaudit.noise.sampling.probability_bits import Ball
from dpaudit.noise.sampling.simulation import two_sided
from dpaudit.noise.sampling.source import Source
from dpaudit.noise.selection.score_mechanism import ScoreMechanism
from dpaudit.noise.selection.shared_noise import Comparison, log_probability


@dataclass(frozen=True, eq=False, init=False)
class NoisyMax(ScoreMechanism):
    """arg max of u_i + Z_i, P(Z = k) ∝ e^(−|k|·grid/b); of equal ones the first. Scores that move by Δ each cost ε = 2Δ/b.

    Fix the noise of all but i. If i wins with Z_i = z, it wins on the neighbour with z + 2Δ (z + Δ where all scores move one
    way): no difference of scores moves further, and equal ones are decided alike. On the grid 2Δ is a whole number of steps, and
    P(Z ≥ k) ≤ e^(2Δ/b) P(Z ≥ k + 2Δ) (Dwork, Roth 2014, Claim 3.9, with its counts that all move one way).
    """

    scale: Fraction
    grid: Fraction
    monotone: bool

    name: ClassVar[str] = "noisy-max"
    words: ClassVar[str] = "report noisy max"
    size_words: ClassVar[str] = "noisy max with Laplace noise of scale"
    theorem: ClassVar[str] = "report noisy max with Laplace noise (Dwork, Roth 2014, Claim 3.9), index only"
    curve_theorem: ClassVar[str] = "δ(ε) of what is ε-DP"
    verb: ClassVar[str] = "noisy_max"
    forms: ClassVar[dict[str, WrittenForm]] = {}

    def draw_one(self, scores: Units, source: Source) -> int:
        return int(add_two_sided(scores, self.weight, source).argmax())

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        scores = self.scores(units)
        return np.asarray((scores + two_sided(float(1 / self.weight), scores.shape, rng)).argmax(axis=-1))

    def log_probability(self, scores: tuple[int, ...], index: int) -> Ball:
        """A ball around log P(index): those before it must stay below its noisy score, those after it may reach it."""
        gaps = [scores[index] - score for score in scores]
        rest = [Comparison(gap - (place < index), True) for place, gap in enumerate(gaps) if place != index]
        return log_probability(self.weight, self.weight, rest)
