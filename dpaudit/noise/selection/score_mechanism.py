"""What all mechanisms have in common that read a vector of scores and release one index: the last axis is chosen from.

How far one record moves the scores is counted by the largest move of one of them (norm −1). Every one of these mechanisms is
private by how far *differences* of scores move: by twice that in general, by that alone where all scores move one way.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, Number, show
from dpaudit.claims.balls import lower, precision, upper
from dpaudit.noise.families import Mechanism
from dpaudit.noise.loss_facts import LossFact, PureFact
from dpaudit.noise.mechanism import GRID, Units, as_units, read_grid
from dpaudit.noise.parameter import check_width, read_parameter, single
from dpaudit.noise.sampling.probability_bits import Ball
from dpaudit.noise.sampling.source import Source

BITS = 192  # of logarithms of probabilities
LARGEST_MOVE = -1  # the norm of these mechanisms: the largest move of one score
MOST_CANDIDATES = 2**20


class ScoreMechanism(Mechanism):
    """A scale b that scores are weighed by: more of it is more private. ``grid``: scores are rounded to it.

    ``monotone``: all scores move one way for every pair of neighbours, so that their differences move by no more than each does.
    Raises ``InvalidValue`` as additive noise does.
    """

    scale: Fraction
    grid: Fraction
    monotone: bool

    answer: ClassVar[str] = "index"
    size_name: ClassVar[str] = "scale"
    norm: ClassVar[int] = LARGEST_MOVE
    pure: ClassVar[bool] = True
    stronger: ClassVar[int] = 1
    most_changes: ClassVar[int] = 1
    summable: ClassVar[bool] = False
    entrywise: ClassVar[bool] = False
    verb: ClassVar[str] = "select"
    alphabet: ClassVar[int | None] = None
    rate: ClassVar[Fraction | None] = None
    spread: ClassVar[Fraction | None] = None

    def __init__(self, scale: Number, grid: Number = GRID, monotone: bool = False) -> None:
        object.__setattr__(self, "scale", single(read_parameter(scale, "scale"), "scale"))
        object.__setattr__(self, "grid", read_grid(grid))
        if not isinstance(monotone, bool | np.bool_):
            raise InvalidValue("monotone", type(monotone).__name__, "True or False")
        object.__setattr__(self, "monotone", bool(monotone))
        check_width(self.scale, self.grid, "scale")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[Any, ...]:
        return self.name, self.scale, self.grid, self.monotone

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> Any:
        return cls(size, grid)

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Any:
        match {"grid": show(GRID), **parameters}:
            case {"scale": scale, "grid": grid, "monotone": "yes", **rest} if not rest:
                return cls(scale, grid, True)
            case {"scale": scale, "grid": grid, **rest} if not rest:
                return cls(scale, grid)
        return None

    @property
    def size(self) -> Fraction:
        return self.scale

    @property
    def width_units(self) -> Fraction:
        return self.scale / self.grid

    @property
    def weight(self) -> Fraction:
        """a = grid/scale: what one unit of a score counts."""
        return self.grid / self.scale

    def parameters(self) -> dict[str, str]:
        return {"scale": show(self.scale), "grid": show(self.grid), **({"monotone": "yes"} if self.monotone else {})}

    def at(self, index: Any) -> Any:
        return self

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[:-1]

    def scores(self, units: ArrayLike) -> Units:
        """Scores as units, with at least one candidate on the last axis. Raises ``InvalidValue`` without showing them."""
        numbers = as_units(units)
        if not numbers.ndim or not 1 <= numbers.shape[-1] <= MOST_CANDIDATES:
            raise InvalidValue(
                "scores", f"shape {numbers.shape}", f"one score per candidate, from 1 to {MOST_CANDIDATES} of them"
            )
        return numbers

    def epsilon(self, sensitivity_units: int) -> Fraction:
        """ε = 2Δ/b, or Δ/b where all scores move one way."""
        return sensitivity_units * self.weight * (1 if self.monotone else 2)

    def rho(self, steps: int) -> Fraction | None:
        return None

    def loss(self, steps: int) -> LossFact:
        return PureFact(self.epsilon(steps))

    # --- draws ---

    def draw(self, units: ArrayLike, source: Source) -> Units:
        scores = self.scores(units)
        rows = scores.reshape(-1, scores.shape[-1])
        return np.array([self.draw_one(row, source) for row in rows], dtype=np.int64).reshape(scores.shape[:-1])

    @abstractmethod
    def draw_one(self, scores: Units, source: Source) -> int:
        """One index, from exactly the stated law."""

    @abstractmethod
    def log_probability(self, scores: tuple[int, ...], index: int) -> Ball:
        """A ball around log P(index), of some 80 bits."""

    def log_law(self, scores: tuple[int, ...]) -> NDArray[np.float64]:
        """log P(index) of every candidate, in floats."""
        return np.array([float(self.log_probability(scores, index).mid()) for index in range(len(scores))])

    def log_output(self, output: Units, query: Units) -> Ball:
        """The same for what one run asked and was given."""
        return self.log_probability(tuple(int(score) for score in query), int(output))

    def loss_bounds(self, output: Units, query: Units, other: Units) -> tuple[Fraction, Fraction]:
        """Certified ends around log P(output|query) − log P(output|other) of one run."""
        with precision(BITS):
            gap = self.log_output(output, query) - self.log_output(output, other)
            return lower(gap), upper(gap)

    def without_noise(self, units: ArrayLike) -> Units:
        return np.asarray(self.scores(units).argmax(axis=-1))

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        shape = self.scores(units).shape
        return rng.integers(0, shape[-1], shape[:-1])

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        """Of the index, one number for each vector of scores."""
        index, sides = np.asarray(output), [self.scores(side) for side in (query, other)]
        one, another = (self._log_probability(index, side) for side in sides)
        return np.asarray(one - another)

    def _log_probability(self, index: NDArray[Any], scores: Units) -> NDArray[np.float64]:
        """Each law is worked out once: audits ask for the same scores very often."""
        rows = np.broadcast_to(scores, (*index.shape, scores.shape[-1])).reshape(-1, scores.shape[-1])
        if not len(rows):
            return np.zeros(index.shape)
        first = rows[:1]
        different, place = (first, np.zeros(len(rows), int)) if (rows == first).all() else _distinct(rows)
        table = np.stack([_law(self, tuple(int(score) for score in row)) for row in different])
        return table[place, index.reshape(-1)].reshape(index.shape)

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        return None  # logarithms of sums

    # --- what is asked of noise that is added to each number; nobody asks it of an index ---

    def _no_number(self, *_: Any, **__: Any) -> NoReturn:
        raise InvalidValue("noise", self.name, "asked for the index that it releases: it adds no noise to a number")

    simulate_sums: Callable[..., Any] = _no_number
    log_prob: Callable[..., Any] = _no_number
    delta: Callable[..., Any] = _no_number
    tail: Callable[..., Any] = _no_number
    within: Callable[..., Any] = _no_number
    favouring: Callable[..., Any] = _no_number
    crossing: Callable[..., Any] = _no_number
    thresholds: Callable[..., Any] = _no_number
    outputs_near: Callable[..., Any] = _no_number


@lru_cache(maxsize=4096)
def _law(mechanism: ScoreMechanism, scores: tuple[int, ...]) -> NDArray[np.float64]:
    return mechanism.log_law(scores)


def _distinct(rows: Units) -> tuple[Units, NDArray[np.int64]]:
    different, place = np.unique(rows, axis=0, return_inverse=True)
    return different, np.asarray(place).reshape(-1)
