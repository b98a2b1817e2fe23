"""Discrete Fourier transforms with a proven error bound: radix 2, twiddles within ``TURN_ERROR``.

‖ŷ − y‖₂ ≤ ERROR(m) ‖y‖₂ for length 2^m with ERROR = mη/(1 − mη), η = μ + γ₄(√2 + μ), μ the error of the twiddles (Higham 2002,
Theorem 24.2, for the factors in either order). The libraries' transforms are as accurate, but promise nothing.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpaudit.accountants.sampling.contours.elementary import TURN_ERROR, Complexes, U, turn

_ETA = TURN_ERROR + 4 * U + 4.01 * U * (math.sqrt(2) + 1e-9)  # the angle itself is within 4U of its value below π


def transform_error(length: int) -> float:
    """Relative, in the 2-norm."""
    stages = length.bit_length()
    return stages * _ETA / (1 - stages * _ETA)


@lru_cache(maxsize=24)  # one for each stage up to 2^19 points, 16 MB in all
def _twiddles(half: int) -> Complexes:
    return turn(np.asarray(np.arange(half) * (-math.pi / half), dtype=np.float64))


def transform(values: Complexes) -> Complexes:
    """Σ_j x_j e^{−2πijk/M} for a length M that is a power of two (decimation in frequency)."""
    length = len(values)
    x = np.asarray(values, dtype=np.complex128).reshape(1, length)
    half = length
    while half > 1:
        half //= 2
        even, odd = x[:, :half], x[:, half:]
        x = np.concatenate([even + odd, (even - odd) * _twiddles(half)], axis=0)
    return x.reshape(-1)


def inverse(values: Complexes) -> Complexes:
    """The inverse transform."""
    return np.asarray(np.conj(transform(np.conj(values))) / len(values), dtype=np.complex128)
