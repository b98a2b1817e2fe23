"""The grid that everything is released on, and what every mechanism offers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpaudit.claims import InvalidValue, Number, positive
from dpaudit.noise.sampling.source import Source

GRID = Fraction(1, 2**20)
LARGEST = 2**52  # units; values beyond are clipped to it. from_units is exact up to 2^53

Units = NDArray[np.int64]


class Noise(Protocol):
    """A mechanism on a grid. Queries, outputs and noise are whole numbers of ``grid``, called units.

    A parameter may hold one float per trial, shape (B,). Then only ``at``, ``simulate``, ``simulate_sums``
    and ``log_ratio`` answer (units of shape (B, …)), and the rest raises ``InvalidValue``.
    """

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """ "laplace", "gaussian" or "randomized-response"."""

    @property
    def norm(self) -> int:
        """The norm that sensitivity is measured in: 1 or 2."""

    @property
    def grid(self) -> Fraction: ...

    def parameters(self) -> dict[str, str]:
        """Exact texts for the ledger; ``noise_from(name, parameters)`` reads them back."""

    def at(self, index: Any) -> Noise:
        """The same mechanism for some of the trials."""

    def draw(self, units: ArrayLike, source: Source) -> Units:
        """One noisy output per entry, from exactly the stated law."""

    def simulate(self, units: ArrayLike, rng: np.random.Generator) -> Units:
        """The same law up to the resolution of float64, fast and seeded; never for a deployment."""

    def simulate_sums(self, units: ArrayLike, counts: ArrayLike, rng: np.random.Generator) -> Units:
        """The law of the sum of ``counts`` reports whose true sum is ``units``, in O(1) per entry."""

    def log_ratio(self, output: ArrayLike, query: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
        """log p(output|query) − log p(output|other), entry by entry."""

    def exact_log_ratio(self, output: int, query: int, other: int) -> Fraction | None:
        """The same for one entry, exactly; None where it is not rational."""

    def log_prob(self, noise_units: int, digits: int = 30) -> Any:
        """log P(noise = noise_units) as an mpmath number of at least ``digits`` digits."""

    def epsilon(self, sensitivity_units: int) -> Fraction | None:
        """The pure cost of a release whose query moves by at most this much in L1; None if unbounded."""

    def delta(self, epsilon: Fraction, sensitivity_units: int) -> Fraction:
        """A certified upper bound on δ(ε) when one entry moves by at most this much and the others stay.

        It grows with the move: the laws are log-concave, so the best event is a half-line, K ≤ m, and
        P(K ≤ m) − e^ε P(K ≤ m − k) grows with k for every m.
        """

    def tail(self, k: int, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Certified lower and upper bound on P(noise ≥ k)."""


def read_grid(grid: Number) -> Fraction:
    """A grid whose units floats can hold. Raises ``InvalidValue``."""
    step = positive(grid, "grid")
    if not Fraction(1, 2**200) <= step <= 2**200:
        raise InvalidValue("grid", grid, "between 2^-200 and 2^200")
    return step


def to_units(values: ArrayLike, grid: Fraction = GRID) -> Units:
    """floor(x/grid + 1/2), exactly. NaN becomes 0; beyond ±2^52 units is clipped. Never raises on a value.

    Raises ``InvalidValue``, without showing the data, when the type is not float, int or bool.
    """
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
    signed = np.minimum(numbers, np.uint64(2**61)) if numbers.dtype == np.uint64 else numbers
    return np.clip(signed.astype(np.int64), -(2**61), 2**61)


def as_counts(counts: ArrayLike, shape: tuple[int, ...]) -> Units:
    """How many reports each entry sums, on one axis; raises ``InvalidValue`` for negative ones."""
    numbers = np.broadcast_to(as_units(counts), shape).ravel()
    if (numbers < 0).any():
        raise InvalidValue("counts", "a negative one", "zero or more")
    return numbers
