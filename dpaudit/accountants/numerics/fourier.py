"""Discrete Fourier transforms with a proven error bound: radix 2, twiddles within ``TURN_ERROR``.

‖ŷ − y‖₂ ≤ ERROR(m) ‖y‖₂ for length 2^m with ERROR = mη/(1 − mη), η = μ + γ₄(√2 + μ), μ the error of the twiddles (Higham 2002,
Theorem 24.2, for the factors in either order). The libraries' transforms are as accurate, but promise nothing.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpaudit.accountants.numerics.elementary import TURN_ERROR, Complexes, Floats, U, turn

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
    x = np.asarray(values, dtype=np.complex128).reshape(1, -1)
    half, rows = x.size, 1
    while half > rows and half > 1:  # one row after another
        half //= 2
        after = np.empty((2 * rows, half), dtype=np.complex128)
        np.add(x[:, :half], x[:, half:], out=after[:rows])
        np.subtract(x[:, :half], x[:, half:], out=after[rows:])
        after[rows:] *= _twiddles(half)
        x, rows = after, 2 * rows
    x = np.ascontiguousarray(x.T)  # the longer axis last: arrays are quick along it
    while half > 1:
        half //= 2
        after = np.empty((half, 2 * rows), dtype=np.complex128)
        np.add(x[:half], x[half:], out=after[:, :rows])
        np.subtract(x[:half], x[half:], out=after[:, rows:])
        after[:, rows:] *= _twiddles(half)[:, None]
        x, rows = after, 2 * rows
    return x.reshape(-1)


def real_transform(values: Floats) -> Complexes:
    """The first M/2 + 1 of these for real numbers, at half the cost: within ``transform_error`` of twice the length.

    With Z the transform of x_{2j} + i x_{2j+1}, those of even and odd j are (Z_k ± conj Z_{−k})/2, the latter over i; one more
    stage puts them together, and rounds by 2U more than others do.
    """
    half = len(values) // 2
    z = transform(values[0::2] + 1j * values[1::2])
    z = np.append(z, z[0])
    mirrored = np.conj(z[::-1])
    even, odd = (z + mirrored) / 2, (z - mirrored) / 2
    turns = np.append(_twiddles(half), -1.0)
    return np.asarray(even - 1j * (odd * turns), dtype=np.complex128)


def inverse(values: Complexes) -> Complexes:
    """The inverse transform."""
    return np.asarray(np.conj(transform(np.conj(values))) / len(values), dtype=np.complex128)
