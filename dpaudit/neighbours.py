"""What "neighbouring data" means: named relations, pairs of data sets for an audit, and how to seal a data set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpaudit.claims import InvalidValue, Number, exact, float_down, float_up, whole
from dpaudit.noise import GRID
from dpaudit.traced import seal, snap

Pair = tuple[Any, Any]


@runtime_checkable
class Neighbours(Protocol):
    """A relation on data sets."""

    @property
    def name(self) -> str: ...
    def pairs(self, rng: np.random.Generator) -> Sequence[Pair]:
        """Neighbouring pairs worth attacking, most promising first."""
        ...

    def others(self, rng: np.random.Generator) -> Sequence[Any]:
        """Data sets far from those pairs, for far replay."""
        ...

    def seal(self, data: Any) -> Any | None:
        """The data set in sealed form; None where the relation gives no bounds to seal with."""
        ...


@dataclass(frozen=True)
class ReplaceOne:
    """n records in [low, high]; neighbours differ in one of them."""

    n: int
    low: float
    high: float
    name = "replace_one"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        middle = (self.low + self.high) / 2
        bases = [np.full(self.n, value) for value in (self.low, self.high, middle)]
        bases.append(rng.uniform(self.low, self.high, self.n))
        places = sorted({0, self.n - 1, self.n // 2})
        return [self._pair(base, place) for base in bases for place in places]

    def _pair(self, base: np.ndarray, place: int) -> Pair:
        first, second = snap(base, self.low, self.high), snap(base, self.low, self.high)
        first[place], second[place] = (
            snap(self.low, self.low, self.high),
            snap(self.high, self.low, self.high),
        )
        return first, second

    def others(self, rng: np.random.Generator) -> list[np.ndarray]:
        ends = rng.choice([self.low, self.high], size=self.n)
        return [snap(values, self.low, self.high) for values in (rng.uniform(self.low, self.high, self.n), ends)]

    def seal(self, data: Any) -> Any:
        return seal(data, self.low, self.high)


@dataclass(frozen=True)
class AddRemove:
    """n records in [low, high]; a neighbour lacks one of them. Their number is private."""

    n: int
    low: float
    high: float
    name = "add_remove"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        pairs: list[Pair] = []
        for value in (self.high, self.low):
            full = snap(np.full(self.n, value), self.low, self.high)
            pairs += [(full, full[:-1]), (full[:-1], full)]
        mixed = snap(rng.uniform(self.low, self.high, self.n), self.low, self.high)
        return [*pairs, (mixed, mixed[1:])]

    def others(self, rng: np.random.Generator) -> list[np.ndarray]:
        return [snap(rng.uniform(self.low, self.high, self.n), self.low, self.high)]

    def seal(self, data: Any) -> Any:
        return seal(data, self.low, self.high, removal=True)


@dataclass(frozen=True)
class Listed:
    """The pairs that somebody wrote down. Both directions are tried."""

    listed: tuple[Pair, ...]
    name = "pairs"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        return [*self.listed, *((second, first) for first, second in self.listed)]

    def others(self, rng: np.random.Generator) -> list[Any]:
        return [pair[1] for pair in self.listed[1:4]]

    def seal(self, data: Any) -> None:
        return None


@dataclass(frozen=True)
class Drawn:
    """Pairs from a Hypothesis strategy."""

    strategy: Any
    name = "strategy"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        drawn = draw_examples(self.strategy, int(rng.integers(2**32)), 25)
        if not drawn or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in drawn):
            raise InvalidValue("neighbours", "a strategy of something else", "a strategy of pairs (data, data')")
        return drawn

    def others(self, rng: np.random.Generator) -> list[Any]:
        return [pair[0] for pair in self.pairs(rng)[:3]]

    def seal(self, data: Any) -> None:
        return None


def draw_examples(strategy: Any, seed: int, count: int) -> list[Any]:
    """Examples of a Hypothesis strategy, reproducible, leaving no files behind."""
    import hypothesis

    found: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, database=None, deadline=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(strategy)
    def collect(example: Any) -> None:
        found.append(example)

    try:
        collect()
    except hypothesis.errors.HypothesisException as error:
        raise InvalidValue("neighbours", type(error).__name__, "a strategy that has examples") from error
    return found


def _bounds(low: Number, high: Number) -> tuple[float, float]:
    lower, upper = exact(low, "low"), exact(high, "high")
    if lower >= upper:
        raise InvalidValue("low, high", (low, high), "in order: low below high")
    if math.ceil(lower / GRID) >= math.floor(upper / GRID):
        raise InvalidValue("low, high", (low, high), "at least one step of the grid 2^-20 apart")
    return float_up(lower), float_down(upper)


def replace_one(n: int, low: Number, high: Number) -> ReplaceOne:
    """n records in [low, high]; one of them may be any other value in that range."""
    return ReplaceOne(whole(n, "n"), *_bounds(low, high))


def add_remove(n: int, low: Number, high: Number) -> AddRemove:
    """n records in [low, high]; one of them may be missing."""
    return AddRemove(whole(n, "n"), *_bounds(low, high))


def as_neighbours(given: Any) -> Neighbours:
    """A relation as it is; a list of pairs or a Hypothesis strategy of pairs wrapped. Raises InvalidValue."""
    if isinstance(given, Neighbours) and not isinstance(given, type):
        return given
    if hasattr(given, "example") and hasattr(given, "validate"):
        return Drawn(given)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | dict):
        listed = tuple(_pairs(given))
        if listed:
            return Listed(listed)
    raise InvalidValue(
        "neighbours",
        type(given).__name__,
        "dp.replace_one(…), dp.add_remove(…), pairs, or a strategy of pairs",
    )


def _pairs(given: Iterable[Any]) -> Iterator[Pair]:
    for pair in given:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidValue("neighbours", type(pair).__name__, "pairs (data, data')")
        yield pair[0], pair[1]
