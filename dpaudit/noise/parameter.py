"""A mechanism's parameter: one exact number, or one float per trial (simulation only)."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import InvalidValue, Number, exact, positive, show

Parameter = Fraction | NDArray[np.float64]
Floats = float | NDArray[np.float64]

WIDEST = 2**50  # units: noise then stays far inside int64, and its exponents inside what arb can hold


def read_parameter(value: Number | NDArray[Any], name: str) -> Parameter:
    """A positive exact number, or a read-only float array with one positive number per trial."""
    if not isinstance(value, np.ndarray) or value.ndim == 0:
        return positive(value.item() if isinstance(value, np.ndarray | np.generic) else value, name)
    if value.ndim != 1 or value.dtype.kind not in "iuf":
        raise InvalidValue(name, (value.dtype.name, value.shape), "one number, or one per trial")
    numbers = value.astype(np.float64)
    if not (np.isfinite(numbers) & (numbers > 0)).all():
        raise InvalidValue(name, "an array with other values", "finite and greater than 0 in every trial")
    numbers.flags.writeable = False
    return numbers


def check_width(parameter: Parameter, grid: Fraction, name: str) -> None:
    """Raise unless the parameter is between 2^-50 and 2^50 of the grid."""
    if isinstance(parameter, Fraction):
        least = most = parameter
    elif not parameter.size:
        return
    else:
        least, most = exact(float(parameter.min())), exact(float(parameter.max()))
    if not (_at_most(grid, WIDEST, least) and _at_most(most, WIDEST, grid)):
        raise InvalidValue(name, _rounded(most if most > grid else least), f"between 2^-50 and 2^50 times the grid {show(grid)}")


def _rounded(number: Fraction) -> str:
    """For a message: numbers that are refused may have a thousand digits."""
    with localcontext(Context(prec=3, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        return f"about {Decimal(number.numerator) / Decimal(number.denominator):.2e}"


def _at_most(one: Fraction, times: int, other: Fraction) -> bool:
    """one ≤ times · other, in whole numbers: a comparison of Fractions makes several of them."""
    return one.numerator * other.denominator <= times * other.numerator * one.denominator


def single(parameter: Parameter, name: str) -> Fraction:
    """The one exact number; raises when there is one per trial."""
    if isinstance(parameter, np.ndarray):
        raise InvalidValue(name, "one per trial", "one exact number here; take one trial with .at(index)")
    return parameter


def aligned(parameter: Parameter, unit: Fraction, shape: tuple[int, ...]) -> Floats:
    """parameter/unit as floats that broadcast against ``shape``, trials first."""
    if isinstance(parameter, Fraction):
        return float(parameter / unit)
    if not shape or shape[0] != len(parameter):
        raise InvalidValue("units", shape, f"an array whose first axis has {len(parameter)} trials")
    column: NDArray[np.float64] = parameter / float(unit)
    return column.reshape(-1, *[1] * (len(shape) - 1))


def chosen(parameter: Parameter, index: Any) -> Fraction | NDArray[Any] | float:
    """The parameter of the trials in ``index``; one number serves every trial."""
    if isinstance(parameter, Fraction):
        return parameter
    part = parameter[index]
    return part if isinstance(part, np.ndarray) else float(part)


def same(one: Parameter, other: Parameter) -> bool:
    """Equal as numbers, or equal in every trial."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
