"""The two families of mechanisms, with what all of a family have in common: noise is added, or one of k answers is given."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, WrittenForm
from dpaudit.noise.mechanism import Bounds, Units, as_units

_NEVER, _SURE = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))


class Mechanism:
    """The base of both. A class with a ``name`` is final: what is proven of it is about its own sampler, not a changed one."""

    name: ClassVar[str]
    forms: ClassVar[dict[str, WrittenForm]]
    entrywise: ClassVar[bool] = True
    blanket: ClassVar[str] = "same"
    fails: ClassVar[bool] = False
    failure: Fraction = Fraction(0)
    verb: ClassVar[str] = "release"

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape

    def unfold(self, output: ArrayLike) -> Units:
        return np.asarray(output)

    def loss_bounds(self, output: Units, query: Units, other: Units) -> Bounds:
        raise InvalidValue("noise", self.name, "asked for the loss of each number: its noise is added to each by itself")

    def __init_subclass__(cls) -> None:
        for base in cls.__mro__[1:]:
            if "name" in vars(base):
                raise TypeError(
                    f"dp.{base.__name__} cannot be subclassed: what is proven about it would not hold for {cls.__name__}. "
                    "Use it as it is and process what it returns, or audit your own mechanism as a black box (parameter rng)"
                )


class AdditiveNoise(Mechanism):
    """Noise on whole numbers that is added to the query: symmetric, and larger noise is less likely."""

    summable: ClassVar[bool] = True
    stronger: ClassVar[int] = 1  # more of its size is more private
    answer: ClassVar[str] = "number"
    alphabet: ClassVar[int | None] = None

    @property
    @abstractmethod
    def width_units(self) -> Fraction: ...

    @abstractmethod
    def tail(self, k: int, digits: int = 30) -> Bounds: ...

    def without_noise(self, units: ArrayLike) -> Units:
        return np.asarray(units)

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        queries = np.asarray(units)
        size = 2.0 ** rng.uniform(0, 50, queries.shape)
        return np.asarray(queries + np.where(rng.random(queries.shape) < 0.5, -size, size).astype(np.int64))

    def outputs_near(self, centre: int, offsets: NDArray[np.float64], far: int) -> Units:
        return np.unique(np.concatenate([[-far], np.clip(centre + np.round(offsets).astype(np.int64), -far, far), [far]]))

    def within(self, low: int | None, high: int | None, query: int) -> Bounds:
        if low is None:
            return _SURE if high is None else self.tail(query - high)  # symmetric, and exact far out in the tail
        if high is None:
            return self.tail(low - query)
        if query < low:
            near, beyond = self.tail(low - query), self.tail(high + 1 - query)
        else:
            near, beyond = self.tail(query - high), self.tail(query - low + 1)
        return max(Fraction(0), near[0] - beyond[1]), near[1] - beyond[0]

    def favouring(self, query: int, other: int, threshold: int) -> tuple[int | None, int | None]:
        return (threshold, None) if query > other else (None, threshold)

    def thresholds(self, values: tuple[int, ...], reach: float, points: int) -> list[int]:
        width = float(self.width_units) * reach
        line = np.linspace(min(values) - width, max(values) + width, points)
        return sorted({round(t) for t in line} | set(values))


class Response(Mechanism):
    """One of k answers 0, …, k−1: the true one with probability e^ε/(e^ε + k − 1), any other with 1/(e^ε + k − 1)."""

    stronger: ClassVar[int] = -1  # less ε is more private
    blanket: ClassVar[str] = "krr"
    rate: ClassVar[None] = None
    spread: ClassVar[None] = None

    @property
    @abstractmethod
    def alphabet(self) -> int: ...

    @abstractmethod
    def one_lie(self) -> Bounds:
        """Certified bounds on the probability of one certain wrong answer."""

    @property
    def width_units(self) -> Fraction:
        return Fraction(1)

    def answers(self, units: ArrayLike) -> Units:
        return np.clip(as_units(units), 0, self.alphabet - 1)

    def without_noise(self, units: ArrayLike) -> Units:
        return self.answers(units)

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        return rng.integers(0, self.alphabet, np.shape(units))

    def outputs_near(self, centre: int, offsets: NDArray[np.float64], far: int) -> Units:
        return np.unique(np.linspace(0, self.alphabet - 1, min(self.alphabet, 1024)).astype(np.int64))

    def within(self, low: int | None, high: int | None, query: int) -> Bounds:
        first = 0 if low is None else max(low, 0)
        last = self.alphabet - 1 if high is None else min(high, self.alphabet - 1)
        count, truth = last - first + 1, self.crossing(query, query, Fraction(0))
        if count <= 0:
            return _NEVER
        if count == self.alphabet:
            return _SURE
        lower, upper = self.one_lie()
        if first <= truth <= last:
            return 1 - (self.alphabet - count) * upper, 1 - (self.alphabet - count) * lower
        return count * lower, count * upper

    def favouring(self, query: int, other: int, threshold: int) -> tuple[int | None, int | None]:
        """The answer ``threshold``: no event shows more than the true one. Of two answers, its side."""
        if self.alphabet == 2:
            return (threshold, None) if query > other else (None, threshold)
        return threshold, threshold

    def crossing(self, query: int, other: int, level: Fraction) -> int:
        return min(max(query, 0), self.alphabet - 1)

    def thresholds(self, values: tuple[int, ...], reach: float, points: int) -> list[int]:
        return sorted({t for value in values for t in (value, value + 1) if 0 < t < self.alphabet})

    def rho(self, steps: int) -> None:
        return None
