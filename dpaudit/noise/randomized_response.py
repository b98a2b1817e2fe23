"""Randomised response on bits (Warner 1965): kept with probability e^ε/(1 + e^ε), else flipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import Number, WrittenForm, exact_epsilon, show, whole
from dpaudit.noise.families import Response
from dpaudit.noise.loss_facts import FiniteFact, LossAtom
from dpaudit.noise.mechanism import Bounds, Units, as_counts, as_units
from dpaudit.noise.parameter import Parameter, aligned, check_width, chosen, read_parameter, same, single
from dpaudit.noise.sampling.bernoulli import bernoulli_words, logistic
from dpaudit.noise.sampling.probability_bits import Ball, approximate, ball, enclose
from dpaudit.noise.sampling.source import Source

_ONE = Fraction(1)


@dataclass(frozen=True, eq=False)
class RandomizedResponse(Response):
    """Bits 0 and 1, each kept or flipped on its own; one bit costs exactly ε. "Noise" 1 means flipped.

    Any other value is read as the nearer bit. Raises ``InvalidValue`` for an ε that is not above 0.
    """

    bit_epsilon: Parameter

    name: ClassVar[str] = "randomized-response"
    words: ClassVar[str] = "randomised response"
    answer: ClassVar[str] = "bit"
    size_name: ClassVar[str] = "epsilon"
    size_words: ClassVar[str] = "randomised response with ε0 ="
    theorem: ClassVar[str] = "randomised response"
    curve_theorem: ClassVar[str] = "δ(ε) of K randomised responses, exactly (Kairouz, Oh, Viswanath 2015)"
    norm: ClassVar[int] = 1
    pure: ClassVar[bool] = True
    most_changes: ClassVar[int] = 20_000  # its δ(ε) is summed term by term
    summable: ClassVar[bool] = True
    forms: ClassVar[dict[str, WrittenForm]] = {
        "randomized-response": WrittenForm("randomized-response", ("epsilon",), {}, _ONE, lambda p, _: p["epsilon"], False)
    }
    grid: ClassVar[Fraction] = _ONE
    alphabet: ClassVar[int] = 2

    def __init__(self, epsilon: Number | NDArray[Any]) -> None:
        object.__setattr__(self, "bit_epsilon", read_parameter(epsilon, "epsilon"))
        check_width(self.bit_epsilon, self.grid, "epsilon")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RandomizedResponse) and same(self.bit_epsilon, other.bit_epsilon)

    def __hash__(self) -> int:
        return hash((self.name, self.bit_epsilon if isinstance(self.bit_epsilon, Fraction) else len(self.bit_epsilon)))

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> RandomizedResponse:
        return cls(size)

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> RandomizedResponse | None:
        match {"grid": "1", **parameters}:
            case {"epsilon": epsilon, "grid": "1", **rest} if not rest:
                return cls(epsilon)
        return None

    @property
    def size(self) -> Parameter:
        return self.bit_epsilon

    def _epsilon(self) -> Fraction:
        return single(self.bit_epsilon, "epsilon")

    def parameters(self) -> dict[str, str]:
        return {"epsilon": show(self._epsilon()), "grid": show(self.grid)}

    def at(self, index: Any) -> RandomizedResponse:
        return RandomizedResponse(chosen(self.bit_epsilon, index))

    def draw(self, units: ArrayLike, source: Source) -> Units:
        bits = self.answers(units)
        flipped = bernoulli_words(logistic(self._epsilon()), bits.size, source)
        return np.asarray(bits ^ flipped.reshape(bits.shape))

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        bits = self.answers(units)
        return np.asarray(bits ^ (rng.random(bits.shape) < self._flip(bits.shape)))

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        """``units`` ones among ``counts`` bits: how many ones are reported."""
        ones = as_units(units)
        bits = as_counts(counts, ones.shape).reshape(ones.shape)
        ones = np.clip(ones, 0, bits)
        flip = self._flip(ones.shape)
        return np.asarray(ones - rng.binomial(ones, flip) + rng.binomial(bits - ones, flip))

    def _flip(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        odds = np.exp(-np.asarray(aligned(self.bit_epsilon, _ONE, shape)))  # e^-ε cannot overflow
        return np.asarray(odds / (1 + odds))

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        o, q, p = np.broadcast_arrays(self.answers(output), self.answers(query), self.answers(other))
        return np.asarray(((o == q).astype(np.float64) - (o == p)) * aligned(self.bit_epsilon, _ONE, o.shape))

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        shown, truth, another = (int(answer) for answer in self.answers([output, query, other]))
        return ((shown == truth) - (shown == another)) * self._epsilon()

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        if noise_units not in (0, 1):
            return mpmath.mp.ninf
        epsilon = self._epsilon()
        return approximate(lambda: -(ball(-epsilon).exp().log1p()) - ball(noise_units * epsilon), digits)

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        return whole(sensitivity_units, "sensitivity_units", least=0) * self._epsilon()

    def loss(self, steps: int) -> FiniteFact:
        """Each of the bits that differ shows the truth, loss ε, or the contrary."""
        epsilon = self._epsilon()
        return FiniteFact((LossAtom(epsilon, 1, Fraction(0)), LossAtom(-epsilon, 1, -epsilon)), steps)

    def one_lie(self) -> Bounds:
        return self.tail(1)

    def delta(self, epsilon: Number, sensitivity_units: int) -> Fraction:
        """Exact for one bit and for several: then ``sensitivity_units`` bits of the release differ."""
        budget, k = exact_epsilon(epsilon), whole(sensitivity_units, "sensitivity_units", least=0)
        bit = self._epsilon()
        if budget >= k * bit:
            return Fraction(0)

        def hockey_stick() -> Ball:
            # i bits show the query: loss (2i − k)ε, P = C(k,i) p^i q^(k−i) with p/q = e^ε
            keep = 1 / (1 + ball(-bit).exp())
            total, weight = ball(0), keep**k
            for i in range(k, -1, -1):
                if (2 * i - k) * bit <= budget:
                    break
                total += weight * -ball(budget - (2 * i - k) * bit).expm1()
                weight = weight * i / (k - i + 1) * ball(-bit).exp()
            return total

        return enclose(hockey_stick, 20)[1]

    def tail(self, k: int, digits: int = 30) -> tuple[Fraction, Fraction]:
        if k != 1:
            return (_ONE, _ONE) if k <= 0 else (Fraction(0), Fraction(0))
        return enclose(lambda: 1 / (1 + ball(self._epsilon()).exp()), digits)
