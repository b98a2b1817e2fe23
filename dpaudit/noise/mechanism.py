"""The grid that everything is released on, and what every mechanism offers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, Number, WrittenForm, positive, show
from dpaudit.noise.loss_facts import LossFact
from dpaudit.noise.parameter import Parameter
from dpaudit.noise.sampling.source import Source

GRID = Fraction(1, 2**20)
LARGEST = 2**52  # units; values beyond are clipped to it. from_units is exact up to 2^53

Units = NDArray[np.int64]
Bounds = tuple[Fraction, Fraction]


class Noise(Protocol):
    """A mechanism on a grid. Queries, outputs and noise are whole numbers of ``grid``, called units.

    All that accountants, auditors, doors, reports and hand-written releases need to know of a mechanism is asked of it here; no
    name or type is tested elsewhere. A parameter may hold one float per trial, shape (B,). Then only ``at``, ``size``,
    ``simulate``, ``simulate_sums``, ``wild`` and ``log_ratio`` answer (units of shape (B, …)); the rest raises ``InvalidValue``.
    """

    # Words and names; of the class, so that they are at hand before there is noise of some size.
    name: ClassVar[str]  # in ledgers and commands
    words: ClassVar[str]  # "Laplace noise"
    answer: ClassVar[str]  # what one output is: "number", "bit"
    size_name: ClassVar[str]  # the parameter that calibration chooses, as ``parameters()`` has it
    size_words: ClassVar[str]  # "Laplace noise of scale"
    theorem: ClassVar[str]  # what gives the cost of one release
    curve_theorem: ClassVar[str]  # what ``delta`` rests on
    norm: ClassVar[
        int
    ]  # that sensitivity is measured in: 1 or 2; 0 counts the entries that change, −1 is the largest move of one
    pure: ClassVar[bool]  # is there a finite ε at δ = 0, or at the failure that it brings with it?
    fails: ClassVar[bool]  # does it bring one? Then it is released as it is: not reported, sampled, streamed or calibrated
    stronger: ClassVar[int]  # 1: more of its size is more private; −1: less is
    most_changes: ClassVar[int]  # ``delta`` also answers for so many equal releases at once, as one with so many times the move
    entrywise: ClassVar[
        bool
    ]  # is each number noised by itself? Else several decide one output, and events of single ones do not exist
    verb: ClassVar[str]  # the call of the door that releases it
    blanket: ClassVar[str]  # the method of ``amplify`` that knows n shuffled reports of it; "same" where none is about it alone
    summable: ClassVar[bool]  # does the law of a sum of reports depend on the sum of their values alone?
    forms: ClassVar[dict[str, WrittenForm]]  # how it is written by hand, by what stands as "mechanism"

    def __hash__(self) -> int: ...

    @classmethod
    def of_size(cls, size: Number, grid: Number, counts: Mapping[str, int]) -> Noise:
        """The mechanism with this size, and the whole-number parameters that its own form names."""

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Noise | None:
        """From ``parameters()``, of which hand-written ones may leave out the grid; None unless they are its own."""

    @property
    def grid(self) -> Fraction: ...

    @property
    def size(self) -> Parameter: ...

    @property
    def failure(self) -> Fraction:
        """With this probability a release shows more than ``epsilon`` says; 0 unless it ``fails``."""

    @property
    def width_units(self) -> Fraction:
        """About how far noise goes, in units; 1 where it is no distance."""

    @property
    def alphabet(self) -> int | None:
        """k if outputs are 0, …, k − 1; None if they are all whole numbers."""

    @property
    def rate(self) -> Fraction | None:
        """a if noise k has probability ∝ e^(−a|k|), else None: blanket and extreme-report attack are about such reports."""

    @property
    def spread(self) -> Fraction | None:
        """s if noise k has probability ∝ e^(−k²/(2s²)), else None: sums of such noise are the same again."""

    def parameters(self) -> dict[str, str]:
        """Exact texts for the ledger; ``noise_from(name, parameters)`` reads them back."""

    def at(self, index: Any) -> Noise:
        """The same mechanism for some of the trials."""

    def output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what is released of queries of this shape."""

    def unfold(self, output: ArrayLike) -> Units:
        """What leaves of these outputs, in units: themselves, or the bits that they stand for, on one more axis."""

    def draw(self, units: ArrayLike, source: Source) -> Units:
        """One noisy output per entry, from exactly the stated law."""

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        """The same law up to the resolution of float64, fast and seeded; never for a deployment."""

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        """The law of the sum of ``counts`` reports whose true sum is ``units``, in O(1) per entry."""

    def without_noise(self, units: ArrayLike) -> Units:
        """The likeliest outputs."""

    def wild(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        """Possible outputs of every size, by no law: what an algorithm must withstand."""

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        """log p(output|query) − log p(output|other), entry by entry."""

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        """The same for one entry, exactly; None where it is not rational."""

    def loss_bounds(self, output: Units, query: Units, other: Units) -> tuple[Fraction, Fraction]:
        """Certified ends around log p(output|query) − log p(output|other) of one run; only where it is not ``entrywise``."""

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        """log P(noise = noise_units) as an mpmath number of at least ``digits`` digits."""

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        """The pure cost of a release whose query moves by at most this much in its norm; None if unbounded."""

    def rho(self, steps: int) -> Fraction | None:
        """ρ of zero-concentrated DP where it is better than what follows from a pure cost; else None."""

    def loss(self, steps: int) -> LossFact:
        """What is known of the privacy loss of a release whose query moves by ``steps``."""

    def delta(self, epsilon: Fraction, sensitivity_units: int) -> Fraction:
        """A certified upper bound on δ(ε) when one entry moves by at most this much and the others stay.

        It grows with the move: the laws are log-concave, so the best event is a half-line, K ≤ m, and
        P(K ≤ m) − e^ε P(K ≤ m − k) grows with k for every m.
        """

    def tail(self, k: int, digits: int = 30) -> Bounds:
        """Certified lower and upper bound on P(noise ≥ k)."""

    # Events, for attacks.
    def within(self, low: int | None, high: int | None, query: int) -> Bounds:
        """Certified bounds on P(low ≤ output ≤ high | query); None is no end."""

    def favouring(self, query: int, other: int, threshold: int) -> tuple[int | None, int | None]:
        """The ends of an event that is likelier under ``query`` than under ``other``: its side of a threshold."""

    def crossing(self, query: int, other: int, level: Fraction) -> int:
        """About where the likelihood ratio of an output crosses e^level."""

    def thresholds(self, values: tuple[int, ...], reach: float, points: int) -> list[int]:
        """Outputs worth counting reports at or above of, around these values; ``reach`` is in widths of the noise."""

    def outputs_near(self, centre: int, offsets: NDArray[np.float64], far: int) -> Units:
        """Outputs on both sides of a query, in order, up to ``far``; all of them where they are few."""


def capped_steps(noise: Noise, steps: int, coordinates: int) -> int:
    """A move in the mechanism's norm. Where that counts entries, no more of them change than there are."""
    return steps if noise.norm else min(steps, max(coordinates, 1))


def python_code(noise: Any) -> str:
    """The noise as one writes it."""
    shown = {name: text for name, text in noise.parameters().items() if name != "grid"}
    if noise.alphabet is None and noise.grid != GRID:
        shown["grid"] = show(noise.grid)
    arguments = ", ".join(f"{name}=True" if text == "yes" else f'{name}="{text}"' for name, text in shown.items())
    return f"dp.{type(noise).__name__}({arguments})"


def read_grid(grid: Number) -> Fraction:
    """A grid whose units floats can hold. Raises ``InvalidValue``."""
    if grid is GRID:
        return GRID
    step = positive(grid, "grid")
    if not Fraction(1, 2**200) <= step <= 2**200:
        raise InvalidValue("grid", grid, "between 2^-200 and 2^200")
    return step


def to_units(values: ArrayLike, grid: Fraction = GRID) -> Units:
    """floor(x/grid + 1/2), exactly. NaN becomes 0; beyond ±2^52 units is clipped. Never raises on a value.

    Raises ``InvalidValue``, without showing the data, when the type is not float, int or bool.
    """
    if type(values) is float and _power_of_two(grid):
        return _one_unit(values, grid)
    numbers = _real(values)
    if not _power_of_two(grid):
        return _exact_units(numbers, grid)
    if numbers.dtype.kind != "f":
        return _shifted(numbers, grid)
    floats = numbers.astype(np.longdouble if numbers.dtype.itemsize > 8 else np.float64)  # no rounding
    bound = float(LARGEST * grid)
    inside = np.clip(np.where(np.isnan(floats), 0.0, floats), -2 * bound, 2 * bound)
    scaled = inside * float(grid.denominator) / float(grid.numerator)
    whole = np.floor(scaled)
    units = np.asarray((whole + (scaled - whole >= 0.5)).astype(np.int64))
    return np.clip(units, -LARGEST, LARGEST)


def _one_unit(number: float, grid: Fraction) -> Units:
    """The same for one float, without arrays: the usual release of a service."""
    bound = 2.0 * float(LARGEST * grid.numerator) / grid.denominator
    inside = 0.0 if math.isnan(number) else min(max(number, -bound), bound)
    scaled = inside * float(grid.denominator) / float(grid.numerator)
    whole = math.floor(scaled)
    return np.asarray(min(max(whole + (scaled - whole >= 0.5), -LARGEST), LARGEST), np.int64)


def _shifted(numbers: NDArray[Any], grid: Fraction) -> Units:
    """Whole numbers on a grid that is a power of two."""
    signed = (
        np.minimum(numbers.astype(np.uint64), np.uint64(2**62)).astype(np.int64)
        if numbers.dtype.kind == "u"
        else numbers.astype(np.int64)
    )
    signed = np.clip(signed, -(2**62), 2**62)
    shift = grid.numerator.bit_length() - grid.denominator.bit_length()
    if shift <= 0:
        most = LARGEST >> -shift
        near = np.clip(signed, -most, most) << min(-shift, 62)
        return np.asarray(np.where(np.abs(signed) > most, np.sign(signed) * LARGEST, near))
    return np.clip(((signed >> min(shift - 1, 63)) + 1) >> 1, -LARGEST, LARGEST)


def _exact_units(numbers: NDArray[Any], grid: Fraction) -> Units:
    """The same where a quotient of floats would be rounded: entry by entry, in whole numbers, whatever the value."""
    top, bottom = 2 * grid.denominator, 2 * grid.numerator
    units = np.zeros(numbers.shape, dtype=np.int64)
    for place, number in enumerate(numbers.ravel()):
        if np.isfinite(number):
            over, under = number.item().as_integer_ratio()
            units.flat[place] = min(max((over * top + under * grid.numerator) // (under * bottom), -LARGEST), LARGEST)
        elif not np.isnan(number):
            units.flat[place] = LARGEST if number > 0 else -LARGEST
    return units


def from_units(units: ArrayLike, grid: Fraction = GRID) -> NDArray[np.float64]:
    """units · grid; exact on a grid that is a power of two while |units| ≤ 2^53."""
    return np.asarray(units).astype(np.float64) * float(grid.numerator) / float(grid.denominator)


def _real(values: ArrayLike) -> NDArray[Any]:
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise InvalidValue("values", "ragged", "an array of numbers") from None
    if numbers.dtype.kind not in "biuf":
        raise InvalidValue("values", numbers.dtype.type.__name__, "numbers (float, int or bool)")
    return numbers


def _power_of_two(grid: Fraction) -> bool:
    return (grid.numerator & (grid.numerator - 1)) == 0 and (grid.denominator & (grid.denominator - 1)) == 0


def as_units(units: ArrayLike) -> Units:
    """Units as int64, clipped to ±2^61 so that noise cannot overflow them."""
    numbers = np.asarray(units)
    if numbers.dtype.kind not in "biu":
        raise InvalidValue("units", numbers.dtype.type.__name__, "whole numbers; see to_units")
    if numbers.ndim == 0:
        return np.asarray(min(max(int(numbers), -(2**61)), 2**61), np.int64)
    signed = np.minimum(numbers, np.uint64(2**61)) if numbers.dtype == np.uint64 else numbers
    return np.clip(signed.astype(np.int64), -(2**61), 2**61)


def as_counts(counts: ArrayLike, shape: tuple[int, ...]) -> Units:
    """How many reports each entry sums, on one axis; raises ``InvalidValue`` for negative ones."""
    numbers = np.broadcast_to(as_units(counts), shape).ravel()
    if (numbers < 0).any():
        raise InvalidValue("counts", "a negative one", "zero or more")
    return numbers
