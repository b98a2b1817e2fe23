"""δ(ε) of a sum of independent losses, certified, at a cost that does not depend on how many there are.

With S = ΣL_j under P, δ(ε) = E g(S − ε), g(y) = (1 − e^{−y})_+. The transform of g is 1/(z(z+1)) for Re z > 0, so for any c > 0,
δ(ε) = (1/2π) ∫ φ(c+it) e^{−(c+it)ε} / ((c+it)(c+1+it)) dt  with φ(z) = E e^{zS} = Π_j E e^{zL_j}.

1. Poisson summation: G(y) = e^{−cy} g(y) is continuous, integrable and of bounded variation, with transform 1/((c+it)(c+1+it)),
   which is summable over the nodes kh. Hence with q = 2π/h, for every real y, (h/2π) Σ_k e^{ikhy}/((c+ikh)(c+1+ikh)) =
   Σ_m G(y + qm). Times e^{cy}, and in expectation, the trapezoid sum over the whole line is Σ_m e^{−qmc} E g(S − ε + qm). Every
   term is ≥ 0 and the one of m = 0 is δ(ε): the sum is an upper bound at any step h. The other terms are bounded by g(y) ≤
   K_θ e^{θy}, K_θ = θ^θ/(1+θ)^{1+θ}, with 0 < θ < c for m ≥ 1 and θ > c for m ≤ −1.
2. Smoothing: U(τ) is δ(ε) of the composition with one more Gaussian release of tiny μ = τ, which has the integrand times
   e^{τ²z(z+1)/2}. To release more never lowers δ, so U(τ) ≥ δ(ε), and the integrand ends by itself. Conversely, as a function
   of τ, E g(y + L_τ) is the price of a put option; its derivative ("vega") is pdf(y/τ + τ/2). For 0 < u' < u = u' + τ ≤ 2τ,
   vega(u) ≥ vega(u') e^{−(u²−u'²)/8} ≥ vega(u') e^{−τ²/2}, so U(2τ) − U(τ) ≥ e^{−τ²/2} (U(τ) − δ(ε)), which bounds δ(ε) from
   below.
3. Nodes may be skipped where |φ(c+it)/φ(c)| ≤ e^{−SKIP}, and all nodes from some on where nothing better is known; what they
   could add, |φ|/t² each, is added to both ends.
4. The part of the law of S where every loss is at one of its atoms may be left out (``inner``) and summed exactly elsewhere: what
   is left is a measure too, so 1 holds for it, and its transform Πφ_j − Π(atoms of φ_j) falls faster.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import Complexes, Floats, PrivacyLoss
from dpaudit.claims.balls import ball

SKIP = 40.0
SMOOTHING = 2e-5  # τ√(c(c+1)) that is aimed at: it raises δ by a factor of about 1 + SMOOTHING²/2 where S is smooth
MOST_NODES = 3000
_FIRST = 4  # nodes that are never skipped
_RUN = 64  # nodes to a polynomial: each turn in its evaluation may widen a ball by √2
_ALL = 1e300  # the end of an interval without end

Parts = Sequence[tuple[PrivacyLoss, int]]


def top(parts: Parts) -> Fraction:
    """Σ of the references: slack = top − ε is what the sum of the (top_j − L_j) must stay below for the loss to exceed ε."""
    return sum((law.top * count for law, count in parts), Fraction(0))


@dataclass(frozen=True)
class LossSaddle:
    """A contour through c, the slack whose saddle point c is, the step h, and log δ there in floats."""

    c: float
    slack: float
    step: float
    log_delta: float


def log_moment(parts: Parts, z: Complexes) -> Complexes:
    """log E e^{z(S−top)} in floats."""
    return np.asarray(sum(count * law.log_moment(z) for law, count in parts))


def saddle(parts: Parts, c: float) -> LossSaddle:
    """The slack x at which φ(c) e^{cx}/(c(c+1)) is least in c, and δ there in floats: a start for a search, never a bound."""
    shift = c / 100
    at, beside = log_moment(parts, np.array([c, c + 1j * shift]))
    slack = 1 / c + 1 / (1 + c) - float(beside.imag) / shift
    variance = max(0.0, 2 * float(at.real - beside.real) / shift**2)
    width = (variance + c**-2 + (1 + c) ** -2) ** -0.5
    height = float(at.real) + c * slack
    step = min(width / 2, 2 * math.pi * c / (30 + max(0.0, -height)))
    z = np.asarray(c + 1j * min(width / 2, c / 2) * np.arange(48), dtype=np.complex128)
    terms = np.exp(log_moment(parts, z) + z * slack - height) / (z * (z + 1))
    total = float(z[1].imag) / (2 * math.pi) * float(2 * terms.real.sum() - terms[0].real)
    return LossSaddle(c, slack, step, height + math.log(total) if total > 0 else height)


def saddle_at(parts: Parts, wanted: float, of: str) -> LossSaddle:
    """The saddle point whose ``of`` ("slack" or "log_delta") is as wanted: both fall in c."""
    low, high = -25.0, 60.0
    u = v = 0.0
    for turn in range(80):
        middle = low + (high - low) * u / (u - v) if u > 0 > v and turn % 3 else (low + high) / 2
        found = saddle(parts, math.exp(middle))
        miss = getattr(found, of) - wanted
        if abs(miss) * (found.c if of == "slack" else 1.0) < 1e-3 or high - low < 1e-4:
            return found
        low, high, u, v = (middle, high, miss, v) if miss > 0 else (low, middle, u, miss)
    return found


@dataclass(frozen=True)
class ContourPlan:
    """How to integrate: which nodes, as ranges of k; the smoothing τ, or 0; what nodes left out may add, over φ(c) e^{cx}.

    ``inner``: the part of φ that comes from atoms alone is left out, and summed elsewhere.
    """

    runs: Sequence[tuple[int, int]]
    tau: float
    tail: float
    inner: bool
    error: float  # roughly, relative to δ


class Contour:
    """The moments of a composition along a contour: δ at any slack near the one it was made for, at little cost."""

    def __init__(self, parts: Parts, at: LossSaddle, plan: ContourPlan) -> None:
        """At the precision of the caller, which ``delta`` needs too."""
        self.parts, self.at, self.plan = parts, at, plan
        self.c, self.h, self.tau = flint.arb(at.c), flint.arb(at.step), flint.arb(plan.tau)
        self.peak = self._moment(flint.acb(self.c), inner=False).real
        cut = [(k, min(k + _RUN, last)) for first, last in plan.runs for k in range(first, last, _RUN)]
        self.sums = [(first, *self._values(first, last)) for first, last in cut]

    def delta(self, slack: Fraction) -> tuple[Any, Any]:
        """(lower, upper) as ``arb`` around δ(top − slack), or around the part of it that is not from atoms alone."""
        x = ball(slack)
        turn, height = flint.acb(0, self.h * x).exp(), (self.c * x).exp()
        once, twice = flint.arb(0), flint.arb(0)
        for first, plain, smoother in self.sums:
            start = turn**first
            once += (start * plain(turn)).real
            if smoother is not None:
                twice += (start * smoother(turn)).real
        scale = height * self.h / (2 * flint.arb.pi())
        tail = self.peak * height * flint.arb(self.plan.tail)
        upper = once * scale + tail
        lower = once * scale - tail - self._aliases(x)
        if self.tau > 0:
            lower -= (self.tau * self.tau / 2).exp() * (twice * scale + tail - lower)
        return lower, upper

    def _moment(self, z: Any, *, inner: bool) -> Any:
        whole, atoms = flint.acb(1), flint.acb(1)
        for law, count in self.parts:
            value, part = law.moment(z)
            whole *= value**count
            if inner:
                atoms *= part**count
        return whole - atoms if inner else whole

    def _values(self, first: int, last: int) -> tuple[Any, Any]:
        """The integrand but for e^{zx} at the nodes first … last − 1, as polynomials in e^{ihx}, smoothed by τ and by 2τ."""
        once, twice = [], []
        for k in range(first, last):
            z = flint.acb(self.c, self.h * k)
            kernel = z * (z + 1)
            value = (1 if k == 0 else 2) * self._moment(z, inner=self.plan.inner) / kernel
            if self.tau > 0:
                damped = (self.tau * self.tau * kernel / 2).exp()
                value *= damped
                twice.append(value * damped**3)
            once.append(value)
        return flint.acb_poly(once), flint.acb_poly(twice) if twice else None

    def _aliases(self, x: Any) -> Any:
        """An upper bound on the terms m ≠ 0 of the smoothed sum."""
        c, q = self.at.c, 2 * math.pi / self.at.step
        left = self._alias([c * k / 16 for k in range(1, 16)], x, q)
        decay = (-2 * flint.arb.pi() / self.h * self.c).exp()
        plain = decay / (1 - decay)  # g ≤ 1
        return (left if left < plain else plain) + self._alias([c * (1 + 2.0 ** (k / 2)) for k in range(-12, 13)], x, q)

    def _alias(self, thetas: list[float], x: Any, q: float) -> Any:
        """Σ_{m≥1} K_θ E e^{θ(S−ε)} e^{−qm|c−θ|} at the best θ."""
        middle = float(x.mid())
        sizes = log_moment(self.parts, np.array(thetas, dtype=np.complex128)).real
        theta = min(zip(thetas, sizes, strict=True), key=lambda p: p[1] + p[0] * middle - abs(p[0] - self.at.c) * q)[0]
        at = flint.arb(theta)
        ratio = (-2 * flint.arb.pi() / self.h * abs(at - self.c)).exp()
        largest = at * at.log() - (1 + at) * (1 + at).log()
        grown = self._moment(flint.acb(at), inner=False).real
        grown *= (largest + at * x + self.tau * self.tau * at * (1 + at) / 2).exp()
        return grown * ratio / (1 - ratio)


def plan(parts: Parts, at: LossSaddle, *, inner: bool) -> ContourPlan:
    """Search stretches of doubling length for nodes where |φ| is not small, until all that is left is, or enough was seen."""
    c, step = at.c, at.step
    runs, nodes = [(0, _FIRST)], _FIRST
    start, enough = (_FIRST - 1) * step, math.sqrt(2 * SKIP * c * (c + 1)) / SMOOTHING
    skipped = math.exp(-SKIP) / (math.pi * start)
    typical = math.sqrt(8 * math.pi) * c * (c + 1) / (4 * step)  # φ(c) e^{cx}/δ, roughly
    while start < enough and _size(parts, c, np.array([start]), np.array([_ALL]), inner)[0] < SKIP:
        found = _awake(parts, c, step, start, 2 * start, MOST_NODES - nodes, inner)
        if found is None:
            break
        runs, nodes = runs + found, nodes + sum(last - first for first, last in found)
        start *= 2
    edges = np.asarray(start * 2.0 ** np.arange(200), dtype=np.float64)
    sizes = np.exp(-_size(parts, c, edges[:-1], edges[1:], inner))
    areas = 1 / (edges - step)  # h Σ 1/t² over nodes from some t on is at most 1/(t − h)
    tail = (float((sizes * (areas[:-1] - areas[1:])).sum()) + float(areas[-1])) / math.pi * (1 + 1e-9)
    tau = math.sqrt(2 * SKIP) / start
    if inner or typical * tail <= c * (c + 1) * tau**2 / 2 or tau**2 * c * (c + 1) > 1:
        return ContourPlan(_merged(runs), 0.0, skipped + tail, inner, typical * tail)
    tail = skipped * math.exp(2 * tau**2 * c * (c + 1))
    return ContourPlan(_merged(runs), tau, 2 * tail, inner, c * (c + 1) * tau**2 / 2)


def _size(parts: Parts, c: float, low: Floats, high: Floats, inner: bool) -> Floats:
    """A lower bound on −log |φ(c+it)/φ(c)| on each interval, or on that of the part that is not from atoms alone: of the
    product of (a + i)^k less that of the a^k, at most Σ k|i|/(|a|+|i|) of the product of (|a| + |i|)^k."""
    total, share = np.zeros_like(low), np.zeros_like(low)
    for law, count in parts:
        decay, part = law.decay(c, low, high)
        total, share = total + count * decay, share + count * part
    with np.errstate(divide="ignore"):
        return total - np.log(np.minimum(share, 1.0)) if inner else total


def _awake(
    parts: Parts, c: float, step: float, start: float, stop: float, most: int, inner: bool
) -> list[tuple[int, int]] | None:
    """Ranges of nodes in [start, stop] that cannot be skipped; None if they are more than ``most``."""
    low, high = np.array([start]), np.array([stop])
    while True:
        awake = _size(parts, c, low, high, inner) < SKIP
        low, high = low[awake], high[awake]
        if not len(low) or high[0] - low[0] <= _FIRST * step:
            break
        if len(low) > 4 * most:
            return None
        edges = low[:, None] + (high - low)[:, None] * np.arange(9) / 8
        low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    first, last = np.floor(low / step * (1 - 1e-12)).astype(int), np.ceil(high / step * (1 + 1e-12)).astype(int) + 1
    return None if int((last - first).sum()) > most else list(zip(first.tolist(), last.tolist(), strict=True))


def _merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges that touch or overlap; they come in order."""
    out = runs[:1]
    for first, last in runs[1:]:
        if first <= out[-1][1]:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out
