"""Permute and flip: candidates in a secret random order, each taken with probability e^((u − max)/b), drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import WrittenForm
from dpaudit.noise.mechanism import Units
from dpaudit.noise.sampling.bernoulli import bernoulli, decay
from dpaudit.noise.sampling.probability_bits import Ball, ball, precision
from dpaudit.noise.sampling.source import Source
from dpaudit.noise.selection.score_mechanism import BITS, ScoreMechanism


@dataclass(frozen=True, eq=False, init=False)
class PermuteAndFlip(ScoreMechanism):
    """The first candidate of a random order whose coin e^((u_i − max u)/b) shows heads (McKenna, Sheldon 2020, Alg. 1).

    Its expected score is never below that of the exponential mechanism. ε = 2Δ/b, or Δ/b where all scores move one way; it is
    the maximum of scores with exponential noise (Ding et al. 2021), and of no bounded range: charged as ε-DP alone.
    """

    scale: Fraction
    grid: Fraction
    monotone: bool

    name: ClassVar[str] = "permute-and-flip"
    words: ClassVar[str] = "permute and flip"
    size_words: ClassVar[str] = "permute and flip of scale"
    theorem: ClassVar[str] = "permute and flip (McKenna, Sheldon 2020), index only"
    curve_theorem: ClassVar[str] = "δ(ε) of what is ε-DP"
    forms: ClassVar[dict[str, WrittenForm]] = {}

    def draw_one(self, scores: Units, source: Source) -> int:
        most = int(scores.max())
        for index in source.permutation(len(scores)):
            if bernoulli(decay((most - int(scores[index])) * self.weight), source):
                return int(index)
        raise AssertionError("the best candidate is taken with probability 1")

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        scores = self.scores(units)
        relative = (scores - scores.max(axis=-1, keepdims=True)) * float(self.weight)
        return np.asarray((relative + rng.standard_exponential(scores.shape)).argmax(axis=-1))

    def log_law(self, scores: tuple[int, ...]) -> NDArray[np.float64]:
        by_score = {score: float(self.log_probability(scores, scores.index(score)).mid()) for score in set(scores)}
        return np.array([by_score[score] for score in scores])

    def log_probability(self, scores: tuple[int, ...], index: int) -> Ball:
        """P(i) = p_i ∫₀¹ Π_{j≠i} (1 − x p_j) dx: each other comes before i with probability x, i's place in the order."""
        most, others = max(scores), flint.arb_poly([1])
        with precision(BITS + 4 * len(scores)):
            heads = {score: ball((score - most) * self.weight).exp() for score in set(scores)}
            for place, score in enumerate(scores):
                others *= flint.arb_poly([1, -heads[score]]) if place != index else 1
            return others.integral()(flint.arb(1)).log() + ball((scores[index] - most) * self.weight)
