"""The main engine: E[(G_1 + … + G_n)_+] for independent copies of any bounded G, at a cost that does not depend on n.

Others stand beside it where a benchmark shows what they buy (``python -m benchmarks engines``): paired_sum.py, enumeration.py,
array_contour.py and grid_sum.py.

Every shuffle bound here has the form δ(ε) = E[(ΣG_i)_+]/n (Balle et al. 2019, Lemma 5.3), where G depends on
ε and has the moment function φ(z) = E e^{zG}. With any c > 0,  E[S_+] = (1/2π) ∫ φ(c+it)^n / (c+it)² dt.

The certificate rests on three facts.

1. Poisson summation: the trapezoid sum with step h over the whole line equals Σ_m e^{−qmc} E[(S+qm)_+] over
   all integers m, q = 2π/h. All terms are ≥ 0, so the sum is an upper bound at any step, and its excess A
   (the terms m ≠ 0) is bounded by (S+qm)_+ ≤ S_+ + qm, m ≥ 1, and by x_+ ≤ e^{θx}/(eθ), θ > 0.
2. Smoothing: U(τ) = E[(S+τN)_+], N standard normal, has the integrand times e^{τ²z²/2}, which ends the tail.
   With ψ(x) = pdf(x) − x·sf(x), U(τ) = E[S_+] + J(τ), J(τ) = E[τψ(|S|/τ)] ≥ 0, and J(2τ) ≥ 2J(τ) because ψ
   decreases on x ≥ 0. Hence 2U(τ) − U(2τ) ≤ E[S_+] ≤ U(τ).
3. Nodes may be skipped where |φ(c+it)/φ(c)|^n ≤ e^{−L}; what they could add is added to both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import flint
import numpy as np
import numpy.typing as npt

SMOOTHING = 1e-4  # τc: the smoothing raises δ by a factor of at most about 1 + SMOOTHING²/2
SKIP = 42.0  # L above: a skipped node is below e^-42 of the largest
_NODES = 32  # of an estimate
NEARBY = 0.02  # how far from the saddle, relatively, an estimate may cross the real line
_BLOCK = 4  # nodes are skipped or evaluated in blocks of at least this many

Complexes = npt.NDArray[np.complex128]


class Tilt(Protocol):
    """The law of G under the weight e^{cG}/φ(c)."""

    @property
    def reach(self) -> float:
        """φ can be evaluated, or bounded, up to here."""

    @property
    def nodes(self) -> int:
        """How many nodes are worth evaluating one by one."""

    @property
    def attempts(self) -> int:
        """How many calls of ``loss`` are worth their time; what they do not reach is left to the smoothing."""

    def loss(self, low: float, high: float) -> float:
        """A proven lower bound on −log |φ(c+it)/φ(c)| for every t in [low, high]; may be 0."""


class FloatLaw(Protocol):
    """The law of one summand G in floats, with E G ≤ 0: for searches only."""

    @property
    def n(self) -> int:
        """The number of summands."""

    @property
    def top(self) -> float:
        """The largest value of G."""

    def cumulants(self, c: float) -> tuple[float, float, float]:
        """log φ and its first two derivatives at c; inf where they are too large."""

    def tilted_powers(self, c: float) -> tuple[float, float, float, float]:
        """E G^k e^{cG}/φ(c) for k = 1, 2, 3, 4."""

    def log_moment(self, z: Complexes) -> Complexes:
        """log φ at complex points with the same real part."""


class Law(Protocol):
    """The law of one summand G, with E G ≤ 0."""

    @property
    def n(self) -> int:
        """The number of summands."""

    @property
    def empty(self) -> Any:
        """P(G = 0) as an ``arb``, left out of the integral where it matters: 0 adds nothing to S_+."""

    @property
    def floats(self) -> FloatLaw:
        """The same law in floats."""

    def moment(self, z: Any) -> Any:
        """An enclosure of φ(z) as an ``acb``."""

    def tilt(self, c: float) -> Tilt:
        """The tilted law."""


@dataclass(frozen=True)
class Saddle:
    """Where the contour crosses the real line (c), the step h, the deviation of the tilted sum, and log φ(c)^n."""

    c: float
    step: float
    deviation: float
    peak: float
    drift: float  # of n log φ(z) − 2 log z at c: its first derivative, 0 at the very place


def saddle(law: FloatLaw, near: float | None = None, close: float = 1e-3) -> Saddle:
    """Solve n K'(c) = 2/c by Newton's method in a bracket: φ(c)^n/c² is smallest there. ``near``: about c times the largest G."""
    if near is None:
        _, drift, spread = law.cumulants(0.0)
        c = (math.sqrt(drift**2 + 8 * spread / law.n) - drift) / (2 * spread)  # exact for a normal law
    else:
        c = near / law.top
    low, high, leap = 0.0, math.inf, 3.0
    for step in range(200):
        height, slope, curvature = law.cumulants(c)
        gap = law.n * slope - 2 / c
        low, high = (c, high) if gap < 0 else (low, c)
        steep = law.n * curvature + 2 / c / c
        following = c - gap / steep if math.isfinite(slope) and steep > 0 else math.nan
        if not (max(low, c / 3) <= following <= min(high, 3 * c)) or (step > 5 and high > 1.2 * low):
            bounded = low > 0 and high < math.inf  # Newton is far off, or slow: leap, then halve on the scale of log c
            away = (c * leap if gap < 0 else c / leap, min(leap**2, 1e20))
            following, leap = (math.sqrt(low) * math.sqrt(high), 3.0) if bounded else away
        if abs(following - c) <= close * c:
            if low > 0 or law.n * law.cumulants(0.98 * c)[1] < 2 / (0.98 * c):
                break
            following = c / 3  # where every report is tilted to one value the curvature is nothing but rounding
        c = following
    else:
        height, slope, curvature = law.cumulants(c)
    variance = max(law.n * curvature, 0.0)
    s = max(variance + 2 / c / c, 1e-300) ** -0.5
    return Saddle(c, min(s / 2, c / 5), math.sqrt(variance), law.n * height, law.n * slope - 2 / c)


def quick(law: FloatLaw, near: float | None = None) -> tuple[float, float]:
    """log δ by two terms of the saddle-point approximation, off by about .001 where many reports hide the target; and ``near``.

    The integrand is e^{f(z)}, f(z) = n log φ(z) − 2 log z: the first term is e^f/√(2πf''), the second that times λ4/8 − 5λ3²/24.
    """
    at = saddle(law, near, NEARBY)
    square = (at.deviation * at.c) ** 2 + 2  # c² f''(c)
    m1, m2, m3, m4 = law.tilted_powers(at.c)
    third = law.n * (m3 - 3 * m2 * m1 + 2 * m1**3) * at.c**3 - 4
    fourth = law.n * (m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4) * at.c**4 + 12
    second = fourth / square**2 / 8 - 5 * third**2 / square**3 / 24
    value = normal_term(law.n, at.c, at.peak, at.drift, at.deviation**2)
    return value + math.log1p(max(-0.5, min(0.5, second))), at.c * law.top


def normal_term(n: int, c: float, peak: float, drift: float, variance: float) -> float:
    """log δ if e^f were that of a normal law along the contour through c: e^{f − f'²/(2f'')}/√(2πf'')/n at c."""
    bend = variance + 2 / c**2
    return peak - 2 * math.log(c) - drift**2 / (2 * bend) - math.log(2 * math.pi * bend) / 2 - math.log(n)


def last_slope(rise: float, weight: float, idle: float, n: int) -> tuple[float, float]:
    """The log of δ(ε)/(ε0−ε) as ε → ε0, and the expected number of other reports at the largest value g of G then.

    g falls to 0 there, so that S > 0 only if no report has another value than g or 0, which have the probabilities ``weight`` and
    ``idle``: E[S_+]/n = weight·g·(weight + idle)^{n−1}; ``rise`` is weight·g/(ε0−ε).
    """
    if rise <= 0:
        return -math.inf, 0.0
    return math.log(rise) + (n - 1) * math.log(weight + idle), (n - 1) * weight / (weight + idle)


def estimate(law: FloatLaw, near: float | None = None) -> float:
    """log δ = log(E[S_+]/n) in floats: a start for a search, never a bound."""
    at = saddle(law, near, NEARBY)
    z = np.asarray(at.c + 1j * at.step * np.arange(_NODES), dtype=np.complex128)
    with np.errstate(all="ignore"):  # an estimate that fails is no estimate: -inf
        exponent = law.n * law.log_moment(z)
        peak = float(exponent[0].real)
        terms = (np.exp(exponent - peak) / z**2).real
    total = at.step / (2 * math.pi) * (2 * float(terms.sum()) - float(terms[0]))
    return peak + math.log(total) - math.log(law.n) if total > 0 else -math.inf


def enclose(law: Law) -> tuple[Any, Any]:
    """(lower, upper): two ``arb`` whose outward ends enclose E[S_+] / n, at the precision of the caller."""
    at = saddle(law.floats)
    c, h = flint.arb(at.c), flint.arb(at.step)
    peak = law.moment(flint.acb(c)).real ** law.n
    empty = law.empty**law.n
    crowded = bool(empty <= peak * flint.arb(-SKIP).exp())  # some report counts, but for a negligible chance
    runs, reach = _plan(law, at, crowded)
    tau = flint.arb(math.sqrt(2 * SKIP + 1) / reach)
    once, twice = _trapezoid(law, runs, c, h, tau, flint.arb(0) if crowded else empty)
    # nodes left out: Σ h|F|/π ≤ φ(c)^n e^{−L+2(τc)²} ∫ dt/(π t²) from the first of them on, for both sums
    start = h * (runs[0][1] - 1)
    skipped = 2 * peak * (flint.arb(-SKIP) + 2 * (tau * c) ** 2).exp() / start / flint.arb.pi()
    upper = (once + skipped) / law.n
    lower = (2 * once - twice - 3 * skipped - 2 * aliases(law, at, tau, once + skipped)) / law.n
    return lower, upper


def _trapezoid(law: Law, runs: list[tuple[int, int]], c: Any, h: Any, tau: Any, empty: Any) -> tuple[Any, Any]:
    """The sums over the planned nodes, smoothed by τ and by 2τ."""
    once, twice = flint.arb(0), flint.arb(0)
    for first, last in runs:
        for k in range(first, last):
            z = flint.acb(c, h * k)
            square = z * z
            value = ((law.n * law.moment(z).log()).exp() - empty) / square
            damped = (tau * tau * square / 2).exp()
            weight = 1 if k == 0 else 2
            once += weight * (value * damped).real
            twice += weight * (value * damped**4).real
    scale = h / (2 * flint.arb.pi())
    return once * scale, twice * scale


def _plan(law: Law, at: Saddle, crowded: bool) -> tuple[list[tuple[int, int]], float]:
    """Which nodes to evaluate, as ranges of k, and the reach T beyond which the smoothing alone is enough."""
    tilt = law.tilt(at.c)
    reach = min(math.sqrt(2 * SKIP + 1) * at.c / SMOOTHING, max(tilt.reach, 32 * at.step))
    end = math.ceil(reach / at.step)
    if not crowded:
        last = min(tilt.nodes, end)
        return [(0, last + 1)], last * at.step
    runs = [(0, _BLOCK)]
    k, width, count = _BLOCK, 4 * _BLOCK, _BLOCK
    for _ in range(tilt.attempts):
        if k >= end or count >= tilt.nodes:
            break
        low, high = k * at.step * (1 - 1e-12), (k + width) * at.step * (1 + 1e-12)
        if law.n * tilt.loss(low, high) >= SKIP:
            k, width = k + width, 2 * width
        elif width > _BLOCK:
            width = max(_BLOCK, width // 4)
        else:
            runs.append((k, k + _BLOCK))
            k, width, count = k + _BLOCK, 4 * _BLOCK, count + _BLOCK
    return _merged(runs), (k - 1) * at.step


def _merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges that touch."""
    out = runs[:1]
    for first, last in runs[1:]:
        if first == out[-1][1]:
            out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return out


def aliases(law: Law, at: Saddle, tau: Any, total: Any) -> Any:
    """An upper bound on A, the excess of the untruncated trapezoid sum over U(τ)."""
    c, q = flint.arb(at.c), 2 * flint.arb.pi() / flint.arb(at.step)
    decay = (-q * c).exp()
    positive = total * decay / (1 - decay) + q * decay / (1 - decay) ** 2
    left = _chernoff(law, at, tau, [-at.c * k / 16 for k in range(1, 16)])
    right = _chernoff(law, at, tau, [at.c * 2.0 ** (k / 2) for k in range(-12, 13)])
    return (left if left < positive else positive) + right


def _chernoff(law: Law, at: Saddle, tau: Any, shifts: list[float]) -> Any:
    """Σ_{m≥1} e^{∓qmc} E[(S±qm)_+] ≤ φ(θ)^n e^{τ²θ²/2}/(eθ) Σ_{m≥1} e^{−qm|θ−c|}, at the best θ = c + shift."""
    q = 2 * math.pi / at.step
    shift = min(shifts, key=lambda s: law.n * law.floats.cumulants(at.c + s)[0] - abs(s) * q)
    theta = flint.arb(at.c) + flint.arb(shift)
    ratio = (-2 * flint.arb.pi() / flint.arb(at.step) * flint.arb(abs(shift))).exp()
    growth = law.moment(flint.acb(theta)).real ** law.n * (tau * tau * theta * theta / 2).exp()
    return growth * ratio / (1 - ratio) / (flint.arb(1).exp() * theta)


def log1p(value: Complexes) -> Complexes:
    """log(1 + x) of complex x without the cancellation in numpy's own."""
    real = np.log1p(2 * value.real + value.real**2 + value.imag**2) / 2
    return np.asarray(real + 1j * np.arctan2(value.imag, 1 + value.real), dtype=np.complex128)
