"""The moments of a composition at the nodes c + ikh of a contour, in floats with error bounds.

S_k = Σ_j A_j r_j^k with r_j = e^{ihL_j}: two tables of powers (k = Ba + b) and real matrix products. For each node the bound on
the error of ρ_k = S_k/S_0 collects, relative to ΣA: the discretisation and the abscissae left out; the errors of A_j and, times
t = kh, of L_j; those of r_j^k, (a + b)(TURN_ERROR + √5 U) with √5 U for a complex product (Brent, Percival, Zimmermann 2007),
and k U|hL_j| for the angle; and those of dot products of length 2m, √2(2m + J/m + 4)U in any order of summation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.accountants.numerics.elementary import SLACK, TURN_ERROR, Complexes, Floats, U, turn
from dpaudit.accountants.sampling.contours.tilted_law import TiltedLaw

_PRODUCT = math.sqrt(5) * U


@dataclass(frozen=True)
class Nodes:
    """Complex numbers, each within ``errors`` of the true one."""

    values: Complexes
    errors: Floats

    def __mul__(self, other: Nodes) -> Nodes:
        mine, theirs = np.abs(self.values), np.abs(other.values)
        errors = self.errors * (theirs + other.errors) + mine * other.errors + (2 * _PRODUCT + 4 * U) * mine * theirs
        return Nodes(self.values * other.values, errors * SLACK)

    def power(self, count: int) -> Nodes:
        """The n-th powers: |x̂^n − x^n| ≤ n e (|x̂| + e)^{n−1}, and n(√5+1)U (|x̂| + e)^n for repeated squaring."""
        size = np.abs(self.values) * SLACK_SMALL + self.errors
        bound = _power(size, count - 1) * (1 + 4 * count * U)
        errors = count * bound * (self.errors + 2 * (math.sqrt(5) + 1) * U * size)
        return Nodes(_power(self.values, count), errors * SLACK)


SLACK_SMALL = 1 + 8 * U


def _power(base: Any, count: int) -> Any:
    total: Any = None
    square = base
    while count:
        if count & 1:
            total = square if total is None else total * square
        count >>= 1
        if count:
            square = square * square
    return np.ones_like(base) if total is None else total


def ratios(law: TiltedLaw, step: float, count: int, discrete: float) -> Nodes:
    """ρ_k = E e^{(c+ikh)L}/E e^{cL} for k = 0 … count − 1; ``discrete``: the discretisation error at the last, over E e^{cL}."""
    total = law.total
    run = max(8, min(64, math.isqrt(len(law.losses) // 2)))  # abscissae to one dot product
    weights, angles = _padded(law.weights, run), _padded(step * law.losses, run)
    block = 1 << (count.bit_length() // 2)  # a power of two: its multiple of an angle is exact
    tables, rows = _powers(turn(angles), block), _powers(turn(block * angles), -(-count // block))
    rows *= weights
    sums = _products(rows, tables, run).ravel()[:count]
    k = np.arange(count)
    moved = float((law.weights * law.loss_errors).sum()) / total * step + float((weights * np.abs(angles)).sum()) / total * U
    fixed = 2 * law.total_error() + 2 * discrete + math.sqrt(2) * (2 * run + len(angles) / run + 8) * U + 8 * U
    errors = (fixed + k * moved + (k // block + k % block) * (TURN_ERROR + _PRODUCT)) * SLACK * (1 + 1e-6)
    return Nodes(sums / total, np.asarray(errors, dtype=np.float64))


def _powers(base: Complexes, count: int) -> Complexes:
    """base^0 … base^(count−1), each as a product of at most as many factors."""
    table = np.ones((count, len(base)), dtype=np.complex128)
    filled = 1
    if count > 1:
        table[1] = base
        filled = 2
    while filled < count:
        more = min(filled - 1, count - filled)
        table[filled : filled + more] = table[1 : 1 + more] * table[filled - 1]
        filled += more
    return table


def _products(left: Complexes, right: Complexes, run: int) -> Complexes:
    """Σ_j left[a,j] right[b,j] in runs of ``run`` abscissae, by dot products of real and imaginary parts as they lie there."""
    a, b = (table.reshape(len(table), -1, run).transpose(1, 0, 2) for table in (left, right.conj()))
    first = a.view(np.float64)  # (x, y) · (u, −v) is the real part of (x + iy)(u + iv), and (x, y) · (v, u) its imaginary part
    real = first @ b.view(np.float64).transpose(0, 2, 1)
    imaginary = first @ (1j * b).view(np.float64).transpose(0, 2, 1)
    return np.asarray(real.sum(axis=0) + 1j * imaginary.sum(axis=0), dtype=np.complex128)


def _padded(values: Floats, run: int) -> Floats:
    """With zeros behind, up to a whole number of runs."""
    return np.append(values, np.zeros(-len(values) % run))
