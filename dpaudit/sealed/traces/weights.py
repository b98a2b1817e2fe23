"""Public weights as whole numbers times their greatest common divisor: a weighted sum is then a sum on the grid, times that.

A float counts by its exact binary value. 0.1 and 0.2 have a common divisor, 0.1 and 0.3 none that leaves small whole numbers.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

MOST = 2**20  # the largest whole number that a weight may become: sums stay within what floats hold
_DISTINCT = 1000  # different weights that are looked at


def whole_weights(weights: Any) -> tuple[np.ndarray, Fraction] | None:
    """(whole numbers, divisor) whose products are the weights; None where the numbers are too large, or all are 0."""
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        return None
    values, place = np.unique(array, return_inverse=True)
    if len(values) > _DISTINCT or not values.any():
        return None
    exact = [Fraction(value.item()) for value in values]
    bottom = lcm(*(value.denominator for value in exact))
    tops = [int(value * bottom) for value in exact]
    divisor = gcd(*tops)
    whole = [top // divisor for top in tops]
    if max(map(abs, whole)) > MOST:
        return None
    return np.array(whole, dtype=float)[place].reshape(array.shape), Fraction(divisor, bottom)


def one_weight(weights: Any, *, inverse: bool = False) -> Fraction | None:
    """The exact number, or its inverse, where there is one weight for all; None for several, and for 0."""
    array = np.asarray(weights)
    if array.dtype.kind not in "biuf" or array.size != 1 or not np.isfinite(array).all() or not array.any():
        return None
    number = Fraction(array.item())
    return 1 / number if inverse else number
