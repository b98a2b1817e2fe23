"""The exponential mechanism: index i with probability ∝ e^(u_i/b) (McSherry, Talwar 2007), drawn exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from dpaudit.claims import WrittenForm, positive
from dpaudit.noise.loss_facts import RangeFact
from dpaudit.noise.mechanism import Units
from dpaudit.noise.sampling.probability_bits import Ball, ball, precision
from dpaudit.noise.sampling.source import Source
from dpaudit.noise.selection.score_mechanism import BITS, ScoreMechanism

_WORD = 64
_FORM = WrittenForm("exponential", ("epsilon",), {}, Fraction(1), lambda p, _: p["epsilon"], False)


@dataclass(frozen=True, eq=False, init=False)
class Exponential(ScoreMechanism):
    """P(i) ∝ e^(u_i/b) for scores u. Scores that move by at most Δ each cost ε = 2Δ/b; Δ/b where all of them move one way.

    It is ε-bounded range: log P(i)/P'(i) = (u_i − u'_i)/b − log Z/Z', and the first term varies by at most ε over the candidates
    (Durfee, Rogers 2019; Dong, Durfee, Rogers 2020). So it composes better than what is only ε-DP.
    """

    scale: Fraction
    grid: Fraction
    monotone: bool

    name: ClassVar[str] = "exponential"
    words: ClassVar[str] = "exponential mechanism"
    size_words: ClassVar[str] = "exponential mechanism of scale"
    theorem: ClassVar[str] = "exponential mechanism (McSherry, Talwar 2007), index only"
    curve_theorem: ClassVar[str] = "δ(ε) of ε-bounded range"
    forms: ClassVar[dict[str, WrittenForm]] = {"exponential": _FORM}

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Any:
        if set(parameters) == {"epsilon"}:  # written by hand: scores that move by 1, which cost ε
            return cls(1 / positive(parameters["epsilon"], "epsilon"), 1, True)
        return super().read(parameters)

    def rho(self, steps: int) -> Fraction:
        """ε-bounded range is ε²/8-zCDP (Cesar, Rogers 2021, Lemma 3.2)."""
        return self.epsilon(steps) ** 2 / 8

    def loss(self, steps: int) -> RangeFact:
        return RangeFact(self.epsilon(steps))

    def draw_one(self, scores: Units, source: Source) -> int:
        """A uniform number, digit by digit, against certified cumulative weights: no float decides."""
        below = [int(scores.max()) - int(score) for score in scores]
        drawn, bits = int(source.words(1)[0]), _WORD
        while True:
            place = _place(below, self.weight, drawn, bits)
            if place is not None:
                return place
            drawn, bits = drawn << _WORD | int(source.words(1)[0]), bits + _WORD

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        """Gumbel noise on scores over b: its maximum has this law (Durfee, Rogers 2019, Lemma 4.2)."""
        scores = self.scores(units)
        relative = (scores - scores.max(axis=-1, keepdims=True)) * float(self.weight)
        return np.asarray((relative + rng.gumbel(size=scores.shape)).argmax(axis=-1))

    def log_probability(self, scores: tuple[int, ...], index: int) -> Ball:
        most = max(scores)
        with precision(BITS):
            total = sum((ball((score - most) * self.weight).exp() for score in scores), start=ball(0))
            return ball((scores[index] - most) * self.weight) - total.log()

    def log_law(self, scores: tuple[int, ...]) -> NDArray[np.float64]:
        most = max(scores)
        relative = np.array([float((score - most) * self.weight) for score in scores])
        return np.asarray(relative - logsumexp(relative))


def _place(below: list[int], weight: Fraction, drawn: int, bits: int) -> int | None:
    """The first index whose cumulative probability exceeds a uniform number with these binary digits; None if more decide."""
    with precision(bits + 64):
        weights = {gap: ball(-gap * weight).exp() for gap in set(below)}
        total = sum((weights[gap] for gap in below), start=ball(0))
        low, high = total * ball(Fraction(drawn, 1 << bits)), total * ball(Fraction(drawn + 1, 1 << bits))
        running: Ball = ball(0)
        for index, gap in enumerate(below):
            running += weights[gap]
            if high <= running or index + 1 == len(below):
                return index
            if not low >= running:
                return None
    return None
