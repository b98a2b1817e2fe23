"""The contour in doubles, on 65,536 nodes, for laws with few values: where few reports count, 3.6 digits more than in balls.

In the median of 227 such questions (``python -m benchmarks engines``) δ is 1e-6 wide after 6 ms, in balls 2e-3 after 9 ms.

ρ_k = φ(c+ikh)/φ(c) = Σ_j p_j e^{ikθ_j}, θ_j = h·g_j, with the tilted weights p_j. What depends on the law (p_j, θ_j, φ(c)) is
computed in balls and rounded once. What the doubles add is bounded:

1. θ_j is rounded to 2^-64 of a turn, and k·θ_j is then an exact product of 64-bit words. So e^{ikθ_j} is off by 2πk·2^-63, by the
   rounding of sine and cosine on one turn (2^-50 is allowed, numpy's are near 2^-53), and by one product of two such numbers.
2. |x^n − y^n| ≤ n|x − y| in the unit disc: n times that, and 2^-49 for each logarithm, is the error of ρ_k^n.
3. The smoothing factor and the sum are off by less than 2^-42 of their absolute value.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import flint
import numpy as np

from dpaudit.accountants.numerics.contour import SKIP, Complexes, Law, Saddle, aliases, log1p, saddle

NODES = 1 << 16  # 5 ms; with a quarter of them the smoothing is four times as wide and raises δ by 16 times as much
_ROW = 256
_NEGLIGIBLE = 45.0  # powers below e^-45 are not computed
_FARTHEST = 1e-2  # n times the error of ρ beyond which nothing is claimed


class AtomicLaw(Law, Protocol):
    """A law that lists its values other than 0 with their weights, as ``arb``."""

    @property
    def atoms(self) -> tuple[tuple[Any, Any], ...]: ...


def enclose_atoms(law: AtomicLaw, nodes: int = NODES) -> tuple[Any, Any]:
    """(lower, upper): two ``arb`` whose outward ends enclose E[S_+] / n, at the precision of the caller.

    Raises ``ArithmeticError`` where rounding could add up to too much: n beyond about 10^11, or values of G beyond all bits.
    """
    at = saddle(law.floats)
    c = flint.arb(at.c)
    phi = law.moment(flint.acb(c)).real
    turns, error = _ratios(law, at, phi, nodes)
    error = 1.1 * law.n * (error + 2.0**-49)
    if not error < _FARTHEST:
        raise ArithmeticError("too many reports for doubles")
    powers = _powers(turns, law.n) - float((law.empty / phi) ** law.n)
    tau = math.sqrt(2 * SKIP + 1) / (at.step * (nodes - 1))
    z = np.asarray(at.c + 1j * at.step * np.arange(nodes), dtype=np.complex128)
    peak = phi**law.n
    once, twice = (
        peak * _sum(powers, z, tau * factor, at.step, error + math.exp(-_NEGLIGIBLE) + 2.0**-42) for factor in (1.0, 2.0)
    )
    smoothing = flint.arb(tau)
    # nodes left out, as in contour.enclose
    start = flint.arb(at.step) * (nodes - 1)
    skipped = 2 * peak * (flint.arb(-SKIP) + 2 * (smoothing * c) ** 2).exp() / start / flint.arb.pi()
    upper = (once + skipped) / law.n
    return (2 * once - twice - 3 * skipped - 2 * aliases(law, at, smoothing, once + skipped)) / law.n, upper


def _ratios(law: AtomicLaw, at: Saddle, phi: Any, nodes: int) -> tuple[Complexes, float]:
    """ρ_k for k < ``nodes``, and a bound on their error."""
    rows = -(-nodes // _ROW)
    total = np.full((rows, _ROW), float(law.empty / phi), dtype=np.complex128)
    for weight, value in law.atoms:
        share = float(weight * (at.c * value).exp() / phi)
        turn = flint.arb(at.step) * value / (2 * flint.arb.pi())
        word = _word(turn)
        total += share * np.multiply.outer(_turned(word, _ROW, rows), _turned(word, 1, _ROW))
    one = 4 * math.pi * (nodes + _ROW) * 2.0**-64 + 2.0**-48
    return total.ravel()[:nodes], one + (len(law.atoms) + 4) * 2.0**-50


def _word(turn: Any) -> int:
    """An angle in turns, as a multiple of 2^-64 modulo 1, not off by more than that."""
    units = turn * flint.arb(2) ** 64
    whole = units.mid().floor().unique_fmpz()
    if whole is None or not units.rad() < 2.0**-10:
        raise ArithmeticError("an angle is not known to 2^-74 of a turn: more precision is needed")
    return int(whole) % 2**64


def _turned(word: int, stride: int, count: int) -> Complexes:
    """e^{2πi·k·stride·word/2^64} for k < ``count``; products of 64-bit words wrap as turns do."""
    words = np.arange(count, dtype=np.uint64) * np.uint64(stride * word % 2**64)
    angle = words.astype(np.int64).astype(np.float64) * (2 * math.pi / 2.0**64)
    return np.asarray(np.cos(angle) + 1j * np.sin(angle), dtype=np.complex128)


def _powers(ratios: Complexes, n: int) -> Complexes:
    """ρ^n; 0 where that is negligible."""
    square = ratios.real**2 + ratios.imag**2
    counted = np.flatnonzero(square > math.exp(-2 * _NEGLIGIBLE / n))
    powers = np.zeros(len(ratios), dtype=np.complex128)
    powers[counted] = np.exp(n * log1p(ratios[counted] - 1))
    return powers


def _sum(powers: Complexes, z: Complexes, tau: float, step: float, error: float) -> Any:
    """The trapezoid sum, smoothed by τ, over φ(c)^n, as a ball."""
    kernel = np.exp(tau * tau * z * z / 2) / (z * z)
    terms, sizes = (powers * kernel).real, np.abs(kernel)
    scale = step / (2 * math.pi)
    value = scale * (2 * float(terms.sum()) - float(terms[0]))
    radius = scale * 2 * float(sizes.sum()) * 2 * error
    return flint.arb(value, radius * (1 + 1e-9))


def estimate_atoms(law: Any, near: float | None = None, nodes: int = 1 << 12) -> float:
    """log δ in floats, where so few reports count that their sum is far from normal: never a bound."""
    at = saddle(law, near)
    tau = math.sqrt(2 * SKIP + 1) / (at.step * (nodes - 1))
    z = np.asarray(at.c + 1j * at.step * np.arange(nodes), dtype=np.complex128)
    with np.errstate(all="ignore"):
        exponent = law.n * law.log_moment(z)
        peak = float(exponent[0].real)
        rest = law.empty**law.n * math.exp(-peak) if peak > -600 else 0.0
        terms = ((np.exp(exponent - peak) - rest) * np.exp(tau * tau * z * z / 2) / (z * z)).real
    total = at.step / (2 * math.pi) * (2 * float(terms.sum()) - float(terms[0]))
    return peak + math.log(total) - math.log(law.n) if total > 0 else -math.inf
