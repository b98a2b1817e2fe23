"""What "neighbouring data" means: named relations, pairs of data sets for an audit, and how to seal a data set."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpaudit.claims import InvalidValue, Number, exact, float_down, float_up, whole
from dpaudit.neighbours.frames import Frames
from dpaudit.neighbours.hypothesis_pairs import draw_examples
from dpaudit.neighbours.listed_values import Values
from dpaudit.neighbours.raw_values import Raw
from dpaudit.neighbours.tables import Rows
from dpaudit.noise import GRID
from dpaudit.sealed.array import seal_declared, snap
from dpaudit.sealed.frames.columns import read_bounds

Pair = tuple[Any, Any]
Ends = Number | Sequence[Number] | np.ndarray | None
UNSAID: Any = Parameter.empty  # None says that there are no bounds; a signature shows both as needed


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
        return seal_declared(data, self.low, self.high)

    def related(self, data: Any, other: Any) -> bool:
        """Are these two neighbours?"""
        sizes = all(_records(side, self.low, self.high) and len(side) == self.n for side in (data, other))
        return sizes and int((data != other).sum()) <= 1


@dataclass(frozen=True)
class AddRemove:
    """n records in [low, high]; a neighbour lacks one of them. Their number is private."""

    n: int
    low: float
    high: float
    name = "add_remove"

    def pairs(self, rng: np.random.Generator) -> list[Pair]:
        pairs: list[Pair] = []
        for crowd, missing in ((self.high, self.high), (self.low, self.low), (self.low, self.high), (self.high, self.low)):
            full = snap(np.append(np.full(self.n - 1, crowd), missing), self.low, self.high)
            pairs += [(full, full[:-1]), (full[:-1], full)]
        mixed = snap(rng.uniform(self.low, self.high, self.n), self.low, self.high)
        return [*pairs, (mixed, mixed[1:])]

    def others(self, rng: np.random.Generator) -> list[np.ndarray]:
        return [snap(rng.uniform(self.low, self.high, self.n), self.low, self.high)]

    def seal(self, data: Any) -> Any:
        return seal_declared(data, self.low, self.high, removal=True)

    def related(self, data: Any, other: Any) -> bool:
        """Are these two neighbours?"""
        if not all(_records(side, self.low, self.high) for side in (data, other)):
            return False
        less, more = sorted((data, other), key=len)
        if len(more) != self.n or len(less) != self.n - 1:
            return False
        place = int(np.argmax(np.append(less != more[:-1], True)))
        return bool(np.array_equal(np.delete(more, place), less))


def _records(data: Any, low: float, high: float) -> bool:
    """Is this an array of one number per record, each in the range?"""
    numbers = isinstance(data, np.ndarray) and data.ndim == 1 and data.dtype.kind in "iuf"
    return numbers and bool(((data >= low) & (data <= high)).all())


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
        _check_differ(drawn)
        return drawn

    def others(self, rng: np.random.Generator) -> list[Any]:
        return [pair[0] for pair in self.pairs(rng)[:3]]

    def seal(self, data: Any) -> None:
        return None


ByStrategy = Drawn | Rows | Raw | Values  # relations that Hypothesis searches

Named = ReplaceOne | AddRemove | Rows | Raw | Values | Frames


def content(data: Any) -> bytes:
    """The same for equal data, as far as copies can be told to be equal; different for different data."""
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        return hashlib.sha256(f"{data.dtype} {data.shape}".encode() + data.tobytes()).digest()
    try:
        return hashlib.sha256(pickle.dumps(data)).digest()
    except Exception:  # what cannot be written is equal to itself alone
        return f"{type(data)} {id(data)}".encode()


def _bounds(low: Number, high: Number) -> tuple[float, float]:
    lower, upper = exact(low, "low"), exact(high, "high")
    if lower >= upper:
        raise InvalidValue("low, high", (low, high), "in order: low below high")
    if math.ceil(lower / GRID) >= math.floor(upper / GRID):
        raise InvalidValue("low, high", (low, high), "at least one step of the grid 2^-20 apart")
    return float_up(lower), float_down(upper)


def replace_one(
    n: int, low: Ends = UNSAID, high: Ends = UNSAID, *, values: Iterable[Any] | None = None, bounds: Any = None
) -> Named:
    """n records in [low, high]; one of them may be any other value in that range.

    Records of several numbers have one low and one high for each. Where both are None, a record may be any number, NaN too.
    ``values=[…]`` instead: every record is one of these integers, categories, texts or rows; NaN and infinities where listed.
    ``bounds={…}`` instead: records are rows of a table with these columns, as ``dp.seal_frame`` takes them.
    """
    wide = _wide(n, low, high, values, bounds, removal=False)
    return ReplaceOne(whole(n, "n"), *_bounds(low, high)) if wide is None else wide  # type: ignore[arg-type]


def add_remove(
    n: int, low: Ends = UNSAID, high: Ends = UNSAID, *, values: Iterable[Any] | None = None, bounds: Any = None
) -> Named:
    """n records, as for ``replace_one``; one of them may be missing."""
    wide = _wide(n, low, high, values, bounds, removal=True)
    return AddRemove(whole(n, "n"), *_bounds(low, high)) if wide is None else wide  # type: ignore[arg-type]


def _listed(n: int, values: Iterable[Any], *, removal: bool) -> Values:
    """Distinct values, in their order."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise InvalidValue("values", type(values).__name__, "a list of the values that a record may have")
    distinct = {content(one.item() if isinstance(one, np.generic) else one): one for one in reversed(list(values))}
    known = tuple(distinct.values())[::-1]
    if len(known) < (1 if removal else 2):
        raise InvalidValue("values", f"{len(known)} different", "one at least" if removal else "two different ones at least")
    return Values(whole(n, "n"), known, removal)


def _wide(
    n: int, low: Ends, high: Ends, values: Iterable[Any] | None, bounds: Any, *, removal: bool
) -> Rows | Raw | Values | Frames | None:
    """Records of several numbers, without bounds, from a list, or of a table; None for one bounded number each."""
    if values is not None or bounds is not None:
        if not (low is UNSAID and high is UNSAID) or (values is not None and bounds is not None):
            raise InvalidValue("low, high", (low, high), "left out where values or bounds of columns are given, and one of those")
        if bounds is not None:
            return Frames(whole(n, "n"), tuple(read_bounds(bounds).items()), removal)
        return _listed(n, values or (), removal=removal)
    if low is UNSAID or high is UNSAID:
        raise InvalidValue("low, high", "left out", "given, or values=[…] in their place")
    if low is None and high is None:
        return Raw(whole(n, "n"), removal)
    if not any(isinstance(end, list | tuple | np.ndarray) for end in (low, high)):
        return None
    columns = list(zip(_each(low), _each(high), strict=False))
    if not columns or len(_each(low)) != len(_each(high)):
        raise InvalidValue("low, high", f"{len(_each(low))} and {len(_each(high))} numbers", "as many of one as of the other")
    ends = [_bounds(*column) for column in columns]
    return Rows(whole(n, "n"), tuple(end[0] for end in ends), tuple(end[1] for end in ends), removal)


def _each(end: Ends) -> list[Any]:
    return list(end) if isinstance(end, list | tuple | np.ndarray) else [end]


def as_neighbours(given: Any) -> Neighbours:
    """A relation as it is; a list of pairs or a Hypothesis strategy of pairs wrapped. Raises InvalidValue."""
    if isinstance(given, Neighbours) and not isinstance(given, type):
        return given
    if hasattr(given, "example") and hasattr(given, "validate"):
        return Drawn(given)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | dict):
        listed = tuple(_pairs(given))
        _check_differ(listed)
        if listed:
            return Listed(listed)
    raise InvalidValue(
        "neighbours",
        type(given).__name__,
        "dp.replace_one(…), dp.add_remove(…), pairs, or a strategy of pairs",
    )


def _check_differ(pairs: Sequence[Pair]) -> None:
    """Equal data sets are neighbours, but nothing can be tested on them alone."""
    if pairs and all(first is second or content(first) == content(second) for first, second in pairs):
        raise InvalidValue("neighbours", "pairs of equal data", "pairs of which one differs, at least")


def _pairs(pairs: Iterable[Any]) -> Iterator[Pair]:
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidValue("neighbours", type(pair).__name__, "pairs (data, data')")
        yield pair[0], pair[1]
