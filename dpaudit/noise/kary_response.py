"""Randomised response on k categories (Warner 1965; Kairouz, Bonawitz, Ramage 2016): the true one with probability
e^ε/(e^ε + k − 1), else each of the others with the same probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, Number, WrittenForm, exact_epsilon, show, whole
from dpaudit.noise.families import Response
from dpaudit.noise.loss_facts import FiniteFact, LossAtom
from dpaudit.noise.mechanism import Bounds, Units
from dpaudit.noise.parameter import Parameter, aligned, check_width, chosen, read_parameter, same, single
from dpaudit.noise.sampling.bernoulli import Probability, bernoulli_words
from dpaudit.noise.sampling.probability_bits import Ball, approximate, ball, enclose
from dpaudit.noise.sampling.source import Source

MOST_CATEGORIES = 2**32
_ONE = Fraction(1)
_FORM = WrittenForm("kary-response", ("epsilon",), {"k": 2}, _ONE, lambda p, _: p["epsilon"], False)


@dataclass(frozen=True, eq=False)
class KaryResponse(Response):
    """Categories 0, …, k − 1. One category costs exactly ε, whatever it changes to; "noise" is how far round the circle it goes.

    Any other value is read as the nearest category. Sensitivity counts the categories that one record can change. Raises
    ``InvalidValue`` for an ε that is not above 0 and a k that is not from 2 to 2^32.
    """

    answer_epsilon: Parameter
    k: int

    name: ClassVar[str] = "kary-response"
    words: ClassVar[str] = "k-ary randomised response"
    answer: ClassVar[str] = "category"
    size_name: ClassVar[str] = "epsilon"
    size_words: ClassVar[str] = "k-ary randomised response with ε0 ="
    theorem: ClassVar[str] = "k-ary randomised response"
    curve_theorem: ClassVar[str] = "δ(ε) of K k-ary randomised responses, exactly (Kairouz, Bonawitz, Ramage 2016)"
    norm: ClassVar[int] = 0
    pure: ClassVar[bool] = True
    most_changes: ClassVar[int] = 200  # its δ(ε) is a double sum
    summable: ClassVar[bool] = False
    forms: ClassVar[dict[str, WrittenForm]] = {"kary-response": _FORM, "randomized-response": _FORM}
    grid: ClassVar[Fraction] = _ONE

    def __init__(self, epsilon: Number | NDArray[Any], k: object) -> None:
        object.__setattr__(self, "answer_epsilon", read_parameter(epsilon, "epsilon"))
        object.__setattr__(self, "k", whole(k, "k", least=2, most=MOST_CATEGORIES))
        check_width(self.answer_epsilon, self.grid, "epsilon")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KaryResponse) and self.k == other.k and same(self.answer_epsilon, other.answer_epsilon)

    def __hash__(self) -> int:
        epsilon = self.answer_epsilon
        return hash((self.name, self.k, epsilon if isinstance(epsilon, Fraction) else len(epsilon)))

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> KaryResponse:
        return cls(size, counts["k"])

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> KaryResponse | None:
        match {"grid": "1", **parameters}:
            case {"epsilon": epsilon, "k": k, "grid": "1", **rest} if not rest:
                return cls(epsilon, k)
        return None

    @property
    def alphabet(self) -> int:
        return self.k

    @property
    def size(self) -> Parameter:
        return self.answer_epsilon

    def _epsilon(self) -> Fraction:
        return single(self.answer_epsilon, "epsilon")

    def parameters(self) -> dict[str, str]:
        return {"epsilon": show(self._epsilon()), "k": str(self.k), "grid": show(self.grid)}

    def at(self, index: Any) -> KaryResponse:
        return KaryResponse(chosen(self.answer_epsilon, index), self.k)

    def draw(self, units: ArrayLike, source: Source) -> Units:
        truth = self.answers(units)
        lies = bernoulli_words(_any_lie(self._epsilon(), self.k), truth.size, source)
        shift = lies * (1 + _below(self.k - 1, truth.size, source))  # drawn for all: how long it takes tells nothing
        return np.asarray((truth + shift.reshape(truth.shape)) % self.k)

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        truth = self.answers(units)
        odds = np.exp(-np.asarray(aligned(self.answer_epsilon, _ONE, truth.shape)))  # e^-ε cannot overflow
        lies = rng.random(truth.shape) < (self.k - 1) * odds / (1 + (self.k - 1) * odds)
        return np.asarray((truth + lies * rng.integers(1, self.k, truth.shape)) % self.k)

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        raise InvalidValue(
            "noise", self.name, "asked for its reports: a sum of categories does not tell the law of their reports"
        )

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        o, q, p = np.broadcast_arrays(self.answers(output), self.answers(query), self.answers(other))
        return np.asarray(((o == q).astype(np.float64) - (o == p)) * aligned(self.answer_epsilon, _ONE, o.shape))

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        shown, truth, another = (int(answer) for answer in self.answers([output, query, other]))
        return ((shown == truth) - (shown == another)) * self._epsilon()

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        if not 0 <= noise_units < self.k:
            return mpmath.mp.ninf
        epsilon, lie = self._epsilon(), noise_units > 0
        return approximate(lambda: -(((self.k - 1) * ball(-epsilon).exp()).log1p()) - ball(lie * epsilon), digits)

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        return whole(sensitivity_units, "sensitivity_units", least=0) * self._epsilon()

    def loss(self, steps: int) -> FiniteFact:
        """Each category that differs shows the truth, loss ε, the neighbour's, −ε, or one of the k − 2 others, 0."""
        epsilon, none = self._epsilon(), Fraction(0)
        atoms = LossAtom(epsilon, 1, none), LossAtom(none, self.k - 2, -epsilon), LossAtom(-epsilon, 1, -epsilon)
        return FiniteFact(atoms, steps)

    def one_lie(self) -> Bounds:
        return _one_lie(self._epsilon(), self.k)

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        """Exact when ``sensitivity_units`` categories of the release differ."""
        budget, changed = exact_epsilon(epsilon), whole(sensitivity_units, "sensitivity_units", least=0)
        one = self._epsilon()
        if budget >= changed * one:
            return Fraction(0)

        def hockey_stick() -> Ball:
            # i show the truth, j the neighbour's category: loss (i − j)ε, P = n!/(i! j! r!) (k − 2)^r e^(iε)/(e^ε + k − 1)^n
            odds, total = ball(-one).exp(), ball(0)
            for i in range(changed + 1):
                for j in range(changed - i + 1):
                    rest = changed - i - j
                    if (i - j) * one > budget and (self.k > 2 or not rest):
                        ways = math.comb(changed, i) * math.comb(changed - i, j) * (self.k - 2) ** rest
                        total += ways * odds ** (changed - i) * -ball(budget - (i - j) * one).expm1()
            return total / (1 + (self.k - 1) * odds) ** changed

        return enclose(hockey_stick, 20)[1]

    def tail(self, k: int, digits: int = 30) -> Bounds:
        if not 0 < k < self.k:
            return (_ONE, _ONE) if k <= 0 else (Fraction(0), Fraction(0))
        return enclose(lambda: (self.k - k) / (ball(self._epsilon()).exp() + self.k - 1), digits)


@lru_cache(maxsize=4096)
def _any_lie(epsilon: Fraction, k: int) -> Probability:
    """(k − 1)/(e^ε + k − 1): irrational, so that its digits decide."""
    return Probability(lambda: (k - 1) / (ball(epsilon).exp() + k - 1))


@lru_cache(maxsize=4096)
def _one_lie(epsilon: Fraction, k: int) -> Bounds:
    return enclose(lambda: 1 / (ball(epsilon).exp() + k - 1), 30)


def _below(bound: int, count: int, source: Source) -> Units:
    """``count`` whole numbers from 0 to bound − 1, each exactly as likely: words beyond the last multiple are drawn anew."""
    last = 2**64 // bound * bound - 1
    words = source.words(count).copy()
    while (again := np.flatnonzero(words > np.uint64(last))).size:
        words[again] = source.words(again.size)
    return (words % np.uint64(bound)).astype(np.int64)
