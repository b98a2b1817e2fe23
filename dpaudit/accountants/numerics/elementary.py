"""exp, log and turns of float arrays with proven error bounds: nothing but IEEE +, −, ×, ÷ and exact scalings by powers of two.

The libraries' own exp, log, sin and cos are fast but promise no error bound. Here they are at most a first guess. Where bounds on
what is left out use them for scalars, ``LIBRARY`` is what they are allowed to be off, 2^12 units in the last place; a test
holds them to 2^2 of these. U = 2^-53 is the unit roundoff; every bound below is stated for the arguments that the function
accepts, and the functions refuse others.

exp: x = k ln 2 + r, |r| ≤ 0.3466. k·LN2_HIGH is exact (32 + 11 bits) and so is its difference to x (Sterbenz), hence r is off by
at most U|r| + 10^-22. e^r = 1 + (r + r²Q(r)), Q the Taylor polynomial to r^12 by Horner's rule: Q is off by 27 U e^{|r|}/2
relative to its leading 1/2 (Higham 2002, 5.1; coefficients are rounded), r²Q by at most 2.9 U in all, the cut series by
10^-17/10; the sums by U·0.45 and U. Together below 5.5 U in e^r ≥ 0.707, and less than 8 U relatively. expm1 for |x| ≤ 0.34
is the same without the last sum: off by at most 4 U relatively, since r²Q ≤ 0.19 r there.
"""

from __future__ import annotations

import math

import flint
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

U = 2.0**-53
EXP_ERROR = 8 * U  # relative
EXPM1_ERROR = 32 * U  # relative
TABLE_ERROR = 2 * EXP_ERROR + 2 * U  # relative
TURN_ERROR = 8 * U  # absolute, in e^{iθ}, besides the error of θ
LIBRARY = 2.0**-40  # relative, of math.exp, log, log1p, expm1, cos, sin and atan2, and of numpy's cos and log
SLACK = 1 + 2.0**-30  # error bounds are computed in floats themselves: far more than their rounding

_LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # 32 bits of ln 2
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_HALF_PI = (float.fromhex("0x1.921fb544p+0"), float.fromhex("0x1.0b4611a6p-34"), float.fromhex("0x1.3198a2e037073p-69"))
_SMALL = 0.34
_LARGEST_TURN = 2.0**20

_EXP = [1 / math.factorial(k) for k in range(14, 1, -1)]
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9, 0, -1)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9, 0, -1)]


def _horner(coefficients: list[float], x: Floats) -> Floats:
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= x
        total += coefficient
    return total


def exp(x: Floats) -> Floats:
    """e^x for x ≤ 700, within ``EXP_ERROR`` relatively; below −700 it is 0, and within 10^-300."""
    if not np.all(x <= 700):
        raise ArithmeticError("exp of more than 700, or of no number")
    bounded = np.maximum(x, -700.0)
    k = np.rint(bounded * (1 / math.log(2)))
    r = (bounded - k * _LN2_HIGH) - k * _LN2_LOW
    value = 1 + (r + r * r * _horner(_EXP, r))
    return np.where(x < -700.0, 0.0, np.ldexp(value, k.astype(np.int32)))


def _expm1_small(x: Floats) -> Floats:
    """e^x − 1 for |x| ≤ 0.34, within 4U relatively."""
    return x + x * x * _horner(_EXP, x)


def expm1(x: Floats) -> Floats:
    """e^x − 1 for x ≤ 700, within ``EXPM1_ERROR`` relatively: from 0.34 on e^x is at most 3.5 |e^x − 1|."""
    small = np.abs(x) <= _SMALL
    return np.where(small, _expm1_small(np.where(small, x, 0.0)), exp(np.where(small, 0.0, x)) - 1)


def log1p(v: Floats, error: Floats) -> tuple[Floats, Floats]:
    """ln(1+v) for −1 < v ≤ 10^300 and its absolute error, where v itself is off by at most ``error``.

    A guess g is corrected once: with E = e^g − 1, ln(1+v) = g + ln(1+d), d = (v−E)/(1+E), and ln(1+d) = d within d².
    """
    guess = np.log1p(v)
    small = np.abs(guess) <= _SMALL
    near, far = np.where(small, guess, 0.0), np.where(small, 0.0, guess)
    grown, whole = _expm1_small(near), exp(far)
    # near 0: v − E exactly or within U|v|; E off by 4U|E|. Else: 1 + v within U(1 + v), e^g within 8U of itself
    d = np.where(small, (v - grown) / (1 + grown), ((1 + v) - whole) / whole)
    if not np.all(np.abs(d) < 1e-10):
        raise ArithmeticError("a logarithm is off")
    value = guess + d
    own = np.where(small, 12 * U * np.abs(grown), 12 * U) + 2 * U * np.abs(value) + 2 * np.abs(d) * np.abs(d)
    return value, (own + error / np.minimum(1 + v, 1e300)) * SLACK


def exp_table(start: float, step: float, count: int) -> Floats:
    """e^{start + k·step} for k < count, each below e^700: within ``TABLE_ERROR`` and 4U of the exponents' sizes, relatively."""
    block = 1 + math.isqrt(count)
    rows = exp(start + step * block * np.arange(-(-count // block), dtype=np.float64))
    columns = exp(step * np.arange(block, dtype=np.float64))
    return np.asarray(np.multiply.outer(rows, columns).ravel()[:count], dtype=np.float64)


def exp_up(x: float) -> float:
    """At least e^x, also where that is no float."""
    return math.exp(x) * (1 + LIBRARY) + 1e-300


def log_up(x: float) -> float:
    """At least ln x."""
    return math.nextafter(float(flint.arb(x).log().upper()), math.inf)


def turn(angle: Floats) -> Complexes:
    """e^{iθ} for |θ| ≤ 2^20, within ``TURN_ERROR`` absolutely.

    θ = mπ/2 + r, |r| ≤ 0.786; m·(first and second part of π/2) are exact (33 and 32 + 21 bits), so that r is off by at most
    U|r|·2 + 10^-20. Taylor polynomials to r^19 and r^18, cut below 10^-19; Horner's rule on r² ≤ 0.62 adds 2.5 U.
    """
    if not np.all(np.abs(angle) <= _LARGEST_TURN):
        raise ArithmeticError("a turn of more than 2^20")
    m = np.rint(angle * (2 / math.pi))
    r = ((angle - m * _HALF_PI[0]) - m * _HALF_PI[1]) - m * _HALF_PI[2]
    square = r * r
    sine = r + r * square * _horner(_SINE, square)
    cosine = 1 + square * _horner(_COSINE, square)
    quarter = m.astype(np.int64) & 3
    real = np.choose(quarter, [cosine, -sine, -cosine, sine])
    imaginary = np.choose(quarter, [sine, cosine, -sine, -cosine])
    return np.asarray(real + 1j * imaginary, dtype=np.complex128)
