"""The sparse vector technique: is each of many numbers above a threshold? Only the answers "yes" are paid for, and they are few.

Lyu, Su, Li 2017 (Understanding the Sparse Vector Technique for Differential Privacy), Algorithm 1 and Thm 2, on whole numbers.
The threshold gets noise of scale b once, each number noise of scale 2cb; after c times "yes" nothing more is answered. Numbers
that move by at most Δ each: replacing the noise ρ of the threshold by ρ + Δ costs Δ/b; then every "no" stays one, and the noise
of each "yes", raised by 2Δ, keeps it at 2Δ/(2cb). Together ε = 2Δ/b, half for the threshold and half for the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, Number, WrittenForm, show, whole
from dpaudit.noise.mechanism import GRID, Units, as_units
from dpaudit.noise.sampling.probability_bits import Ball, precision
from dpaudit.noise.sampling.source import Source
from dpaudit.noise.selection.score_mechanism import BITS, ScoreMechanism
from dpaudit.noise.selection.shared_noise import Comparison, log_probability

YES, NO, NOT_ASKED = 1, 0, -1
MOST_POSITIVES = 2**20


@dataclass(frozen=True, eq=False, init=False)
class SparseVector(ScoreMechanism):
    """``SparseVector(scale=b, positives=c)``: ε = 2Δ/b for all answers together, whatever is asked, up to c times "yes".

    Its query is how far each number is above the threshold, its output one answer for each: 1, 0, or −1 where none was asked.
    """

    scale: Fraction
    grid: Fraction
    monotone: bool
    positives: int

    name: ClassVar[str] = "sparse-vector"
    words: ClassVar[str] = "sparse vector technique"
    answer: ClassVar[str] = "answers"
    size_words: ClassVar[str] = "sparse vector with noise of scale"
    theorem: ClassVar[str] = "sparse vector technique (Lyu, Su, Li 2017, Alg. 1)"
    curve_theorem: ClassVar[str] = "δ(ε) of what is ε-DP"
    verb: ClassVar[str] = "above"
    forms: ClassVar[dict[str, WrittenForm]] = {}

    def __init__(self, scale: Number, positives: object = 1, grid: Number = GRID) -> None:
        super().__init__(scale, grid)
        object.__setattr__(self, "positives", whole(positives, "positives", most=MOST_POSITIVES))

    def _facts(self) -> tuple[Any, ...]:
        return *super()._facts(), self.positives

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> SparseVector:
        return cls(size, counts.get("positives", 1), grid)

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> SparseVector | None:
        match {"grid": show(GRID), **parameters}:
            case {"scale": scale, "positives": positives, "grid": grid, **rest} if not rest:
                return cls(scale, positives, grid)
        return None

    @property
    def answer_weight(self) -> Fraction:
        """What one unit counts in the noise of a number: its scale is 2cb."""
        return self.weight / (2 * self.positives)

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), "positives": str(self.positives)}

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def scores(self, units: ArrayLike) -> Units:
        return as_units(units)

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        """Of all answers together, one number for each run."""
        answers, one, another = np.broadcast_arrays(np.asarray(output), self.scores(query), self.scores(other))
        rows = zip(*(side.reshape(-1, side.shape[-1]).tolist() for side in (answers, one, another)), strict=True)
        return np.array([self._difference(*map(tuple, row)) for row in rows]).reshape(answers.shape[:-1])

    def _difference(self, answers: tuple[int, ...], one: tuple[int, ...], other: tuple[int, ...]) -> float:
        if one == other:
            return 0.0
        with precision(BITS):
            return float((self.log_answers(answers, one) - self.log_answers(answers, other)).mid())

    def log_output(self, output: Units, query: Units) -> Ball:
        return self.log_answers(tuple(output.tolist()), tuple(query.tolist()))

    def log_answers(self, answers: tuple[int, ...], margins: tuple[int, ...]) -> Ball:
        """A ball around log P(these answers) to numbers so far above the threshold."""
        asked = sorted((margin, answer) for margin, answer in zip(margins, answers, strict=True) if answer != NOT_ASKED)
        return _log_answers(self.weight, self.answer_weight, tuple(asked))

    def without_noise(self, units: ArrayLike) -> Units:
        return np.where(self.scores(units) >= 0, YES, NO)

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        return rng.integers(0, 2, np.shape(units))

    def draw_one(self, scores: Units, source: Source) -> NoReturn:
        raise InvalidValue("noise", self.name, "asked through channel.above(…), which keeps its threshold")

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> NoReturn:
        raise InvalidValue("noise", self.name, "asked through channel.above(…), which keeps its threshold")

    def log_probability(self, scores: tuple[int, ...], index: int) -> NoReturn:
        raise InvalidValue("noise", self.name, "asked for the probability of its answers")


@lru_cache(maxsize=4096)
def _log_answers(shared: Fraction, own: Fraction, asked: tuple[tuple[int, int], ...]) -> Ball:
    """ "no": margin + noise < ρ, so that noise ≤ ρ − margin − 1; "yes" is the opposite."""
    comparisons = [Comparison(-margin - 1, answer == NO) for margin, answer in asked]
    return log_probability(shared, own, comparisons)
