"""Unary encodings: a category becomes k bits, of which its own is 1, and every bit is randomised by itself.

An output is the whole number whose binary digit j is the bit of category j; what leaves the door is the bits, on one more axis.
Two categories q and r are told apart by their two bits alone: log P(o|q)/P(o|r) = ε·(o_q − o_r), in every encoding here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, Number, WrittenForm, show, whole
from dpaudit.noise.families import Mechanism
from dpaudit.noise.mechanism import Bounds, Units, as_units
from dpaudit.noise.parameter import Parameter, aligned, check_width, chosen, read_parameter, same, single
from dpaudit.noise.sampling.bernoulli import Probability, bernoulli_words
from dpaudit.noise.sampling.probability_bits import Ball, ball, enclose
from dpaudit.noise.sampling.source import Source

MOST_BITS = 52  # an output is one whole number, which a float holds exactly
_ONE = Fraction(1)
_BLOCK = 2**16  # outputs whose bits are drawn at a time: some 25 MB


def written_form(name: str) -> WrittenForm:
    """How it is written by hand."""
    return WrittenForm(name, ("epsilon",), {"k": 2}, _ONE, lambda p, _: p["epsilon"], False)


def _in_blocks(truth: Units, draw: Callable[[Units, slice], Units]) -> Units:
    """Outputs for these categories, some at a time: their bits would not all fit into memory."""
    flat = truth.reshape(-1)
    places = [slice(start, start + _BLOCK) for start in range(0, flat.size, _BLOCK)]
    drawn = [draw(flat[place], place) for place in places]
    return np.concatenate(drawn).reshape(truth.shape) if drawn else np.zeros(truth.shape, dtype=np.int64)


class UnaryEncoding(Mechanism):
    """Categories 0, …, k − 1, sent as k bits. One category costs exactly ε, whatever it changes to.

    Any other value is read as the nearest category. Sensitivity counts the categories that one record can change. Raises
    ``InvalidValue`` for an ε that is not above 0 and a k that is not from 2 to 52.
    """

    answer_epsilon: Parameter
    k: int

    answer: ClassVar[str] = "vector of bits"
    size_name: ClassVar[str] = "epsilon"
    norm: ClassVar[int] = 0
    pure: ClassVar[bool] = True
    stronger: ClassVar[int] = -1  # less ε is more private
    summable: ClassVar[bool] = False
    rate: ClassVar[None] = None
    spread: ClassVar[None] = None
    grid: ClassVar[Fraction] = _ONE

    def __init__(self, epsilon: Number | NDArray[Any], k: object) -> None:
        object.__setattr__(self, "answer_epsilon", read_parameter(epsilon, "epsilon"))
        object.__setattr__(self, "k", whole(k, "k", least=2, most=MOST_BITS))
        check_width(self.answer_epsilon, self.grid, "epsilon")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.k == other.k and same(self.answer_epsilon, other.answer_epsilon)

    def __hash__(self) -> int:
        epsilon = self.answer_epsilon
        return hash((self.name, self.k, epsilon if isinstance(epsilon, Fraction) else len(epsilon)))

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> Self:
        return cls(size, counts["k"])

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Self | None:
        match {"grid": "1", **parameters}:
            case {"epsilon": epsilon, "k": k, "grid": "1", **rest} if not rest:
                return cls(epsilon, k)
        return None

    # --- the law of one bit ---

    @abstractmethod
    def own_bit(self) -> Ball:
        """P(the bit of the true category is 1), at the caller's precision."""

    @abstractmethod
    def other_bit(self) -> Ball:
        """P(the bit of any other category is 1)."""

    @abstractmethod
    def _probabilities(self) -> tuple[Probability, Probability]:
        """The same two, for exact draws."""

    @abstractmethod
    def _floats(self, epsilon: Any) -> tuple[Any, Any]:
        """The same two in floats, for one ε or one per trial."""

    # --- what it is ---

    @property
    def alphabet(self) -> int:
        """Outputs, each a vector of bits."""
        return 1 << self.k

    @property
    def size(self) -> Parameter:
        return self.answer_epsilon

    @property
    def width_units(self) -> Fraction:
        return _ONE

    def exact_size(self) -> Fraction:
        """ε where it is one number for all trials."""
        return single(self.answer_epsilon, "epsilon")

    def parameters(self) -> dict[str, str]:
        return {"epsilon": show(self.exact_size()), "k": str(self.k), "grid": show(self.grid)}

    def at(self, index: Any) -> Self:
        return type(self)(chosen(self.answer_epsilon, index), self.k)

    def categories(self, units: ArrayLike) -> Units:
        return np.clip(as_units(units), 0, self.k - 1)

    def unfold(self, output: ArrayLike) -> Units:
        """The bits of outputs, on one more axis."""
        return np.asarray(as_units(output)[..., None] >> np.arange(self.k) & 1)

    def _folded(self, bits: NDArray[Any]) -> Units:
        return np.asarray(bits.astype(np.int64) @ (1 << np.arange(self.k, dtype=np.int64)))

    # --- draws ---

    def draw(self, units: ArrayLike, source: Source) -> Units:
        """The true category's bit and one for each category are drawn whatever it is: how long it takes tells nothing."""
        truth = self.categories(units)
        own, other = self._probabilities()

        def block(some: Units, _: slice) -> Units:
            bits = bernoulli_words(other, some.size * self.k, source).reshape(some.size, self.k)
            mine = bernoulli_words(own, some.size, source)
            return self._folded(np.where(self._is_own(some), mine[:, None], bits))

        return _in_blocks(truth, block)

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        truth = self.categories(units)
        sides = self._floats(aligned(self.answer_epsilon, _ONE, truth.shape))
        own, other = (np.broadcast_to(side, truth.shape).reshape(-1, 1) for side in sides)

        def block(some: Units, place: slice) -> Units:
            return self._folded(rng.random((some.size, self.k)) < np.where(self._is_own(some), own[place], other[place]))

        return _in_blocks(truth, block)

    def _is_own(self, truth: Units) -> NDArray[np.bool_]:
        return np.asarray(truth[..., None] == np.arange(self.k))

    def without_noise(self, units: ArrayLike) -> Units:
        return np.asarray(np.int64(1) << self.categories(units))

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        return rng.integers(0, self.alphabet, np.shape(units))

    # --- what an output shows ---

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        o, q, r = np.broadcast_arrays(as_units(output), self.categories(query), self.categories(other))
        shown = ((o >> q) & 1) - ((o >> r) & 1)
        return np.asarray(shown.astype(np.float64) * aligned(self.answer_epsilon, _ONE, shown.shape))

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        q, r = (int(one) for one in self.categories([query, other]))
        return ((output >> q & 1) - (output >> r & 1)) * self.exact_size()

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        return whole(sensitivity_units, "sensitivity_units", least=0) * self.exact_size()

    def rho(self, steps: int) -> None:
        return None

    # --- events: intervals of outputs ---

    def within(self, low: int | None, high: int | None, query: int) -> Bounds:
        first, last = 0 if low is None else max(low, 0), self.alphabet - 1 if high is None else min(high, self.alphabet - 1)
        if first > last:
            return Fraction(0), Fraction(0)
        if (first, last) == (0, self.alphabet - 1):
            return _ONE, _ONE
        truth = int(self.categories(query))
        low_end, high_end = enclose(lambda: self._below(last + 1, truth) - self._below(first, truth), 30)
        return max(low_end, Fraction(0)), min(high_end, _ONE)

    def _below(self, end: int, truth: int) -> Ball:
        """P(output < end): digit by digit from the top, equal so far and now smaller."""
        total, equal = ball(0), ball(1)
        if end >> self.k:
            return equal
        for place in reversed(range(self.k)):
            one = self.own_bit() if place == truth else self.other_bit()
            if end >> place & 1:
                total, equal = total + equal * (1 - one), equal * one
            else:
                equal = equal * (1 - one)
        return total

    def favouring(self, query: int, other: int, threshold: int) -> tuple[int | None, int | None]:
        """The query's bit is 1, the other's and all those above the lower of the two are 0: its loss is ε."""
        q, r = (int(one) for one in self.categories([query, other]))
        return 1 << q, (1 << q) + (1 << min(q, r)) - 1

    def crossing(self, query: int, other: int, level: Fraction) -> int:
        return int(self.without_noise(query))

    def thresholds(self, values: tuple[int, ...], reach: float, points: int) -> list[int]:
        """That some bit is 1, from the true one's on."""
        return sorted({int(self.without_noise(value)) for value in values})

    def outputs_near(self, centre: int, offsets: NDArray[np.float64], far: int) -> Units:
        return np.unique(np.linspace(0, self.alphabet - 1, min(self.alphabet, 1024)).astype(np.int64))

    # --- what is asked of noise that is added; nobody asks it of bits ---

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        raise InvalidValue(
            "noise", self.name, "asked for its reports: a sum of categories does not tell the law of their reports"
        )

    def _no_number(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidValue("noise", self.name, "asked for the bits that it releases: it adds no noise to a number")

    log_prob: Callable[..., Any] = _no_number
    tail: Callable[..., Any] = _no_number
