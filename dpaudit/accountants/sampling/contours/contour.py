"""δ(ε) of a composition of sampled losses by a contour integral, certified, at a cost that does not depend on their number.

For c > 0, δ(ε) = (1/2π) ∫ φ(c+it) e^{−(c+it)ε}/((c+it)(c+1+it)) dt with φ(z) = E e^{zS}; the trapezoid sum with step h over
the whole line is Σ_m e^{−pmc} E g(S − ε + pm), p = 2π/h, g(y) = (1 − e^{−y})_+: an upper bound at any h (see
loss_contour.py, 1). The terms m ≠ 0 are bounded by g(y) ≤ min(1, e^{κ(θ)+θy}). Nodes that are left out are bounded by ``decay``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.sampling.contours.decay import Decay
from dpaudit.accountants.sampling.contours.elementary import LIBRARY, SLACK, Complexes, U, exp_up, turn
from dpaudit.accountants.sampling.contours.nodes import Nodes, ratios
from dpaudit.accountants.sampling.contours.panels import beyond, cut_for, tilted_law
from dpaudit.accountants.sampling.contours.plans import Place
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup, TooMany
from dpaudit.accountants.sampling.groups import Direction, SampledGaussian
from dpaudit.claims.balls import ball, lower, precision, upper

BITS = 192
MOST_NODES = 20_000
MOST_PRODUCTS, PATIENT = 40_000_000, 400_000_000  # nodes × abscissae: usually, and as a last resort
_GROWTH = 1.25  # from one stretch of t to the next
_TAIL = 18.0  # nats by which the nodes left out are below δ
_DISCRETE = 39.0


@dataclass(frozen=True)
class Composition:
    """Sampled groups, the μ² of plain Gaussian releases, and other losses, seen in one direction."""

    groups: tuple[SampledGaussian, ...]
    mu_squared: Fraction
    direction: Direction
    others: tuple[tuple[Any, int], ...] = ()
    cuts: tuple[float, ...] = ()

    @property
    def floats(self) -> list[FloatGroup]:
        """The groups as floats, each with its cut if there are any."""
        cuts = self.cuts or (math.inf,) * len(self.groups)
        return [FloatGroup.of(group, cut) for group, cut in zip(self.groups, cuts, strict=True)]

    def with_cuts(self, mass: Fraction) -> Composition:
        """The same, each group cut so that all that is beyond has at most ``mass``."""
        each = mass / len(self.groups)
        return replace(self, cuts=tuple(cut_for(group, self.direction, each) for group in self.groups))

    def beyond(self) -> Fraction:
        """What the cuts may add to δ."""
        pairs = zip(self.groups, self.cuts, strict=True) if self.cuts else ()
        return sum((beyond(group, self.direction, cut) for group, cut in pairs), Fraction(0))

    def single_moments(self, order: float) -> list[Any]:
        """Balls around ln E e^{cL} of one release of each group, at the precision of the caller."""
        laws = (tilted_law(group, self.direction, order, 0.0, 40.0) for group in self.floats)
        return [law.log_moment(discrete) for law, discrete in laws]

    def log_moment(self, order: float, singles: Sequence[Any] | None = None) -> Any:
        """A ball around K(order), at the precision of the caller."""
        total = flint.arb(0)
        for group, single in zip(self.groups, self.single_moments(order) if singles is None else singles, strict=True):
            total += group.count * single
        z = ball(Fraction(order))
        total += ball(self.mu_squared / 2) * z * (z + 1)
        for law, count in self.others:
            total += count * (law.moment(flint.acb(z))[0].real.log() + ball(law.top) * z)
        return total


class Contour:
    """δ(ε) near the ε it was made for."""

    def __init__(self, composed: Composition, place: Place, most: int = MOST_PRODUCTS) -> None:
        self.composed, self.place, self.most = composed, place, most
        c, h = place.c, place.step
        floats = composed.floats
        self.added = composed.beyond()
        with precision(BITS):
            singles = composed.single_moments(c)
            self.peak = composed.log_moment(c, singles)
            self.below = composed.log_moment(place.below) if place.below else None
            self.above = composed.log_moment(place.above)
        decays = [
            (Decay.of(group, composed.direction, c, _around(one)), group.count)
            for group, one in zip(floats, singles, strict=True)
        ]
        count, self.tail = _ending(decays, float(composed.mu_squared), place, max(_TAIL + place.cancelled, 10.0))
        self.nodes = self._nodes(floats, count)
        t = h * np.arange(count)
        size = (c * c + t * t) * ((c + 1) * (c + 1) + t * t)
        self.kernel = np.asarray(((c * c + c - t * t) - 1j * t * (2 * c + 1)) / size, dtype=np.complex128)
        self.kernel[0] /= 2
        self.sizes = 2 * np.abs(self.kernel) * SLACK
        self.t = t
        self.terms: Complexes = self.nodes.values * self.kernel * 2

    def _nodes(self, floats: Sequence[FloatGroup], count: int) -> Nodes:
        place, direction = self.place, self.composed.direction
        c, h, last = place.c, place.step, place.step * (count - 1)
        total: Nodes | None = None
        for group in floats:
            law, discrete = tilted_law(group, direction, c, last, _DISCRETE)
            if count * len(law.losses) > self.most:
                raise TooMany("too many nodes and abscissae")
            part = ratios(law, h, count, discrete).power(group.count)
            total = part if total is None else total * part
        for factor in self._exact_factors(count):
            total = factor if total is None else total * factor
        if total is None:
            raise ArithmeticError("nothing to compose")
        return total

    def _exact_factors(self, count: int) -> list[Nodes]:
        """The plain Gaussian part and the other losses, from balls."""
        composed, place = self.composed, self.place
        if not composed.mu_squared and not composed.others:
            return []
        factors = []
        with precision(BITS + 64):
            c = ball(Fraction(place.c))
            zs = [flint.acb(c, ball(Fraction(place.step) * k)) for k in range(count)]
            if composed.mu_squared:
                half = ball(composed.mu_squared / 2)
                factors.append(_from_balls([(half * (z * (z + 1) - c * (c + 1))).exp() for z in zs]))
            for law, times in composed.others:
                values = [law.moment(z)[0] for z in zs]
                top = ball(law.top)
                factors.append(
                    _from_balls(
                        [(v / values[0]) ** times * (times * top * (z - c)).exp() for z, v in zip(zs, values, strict=True)]
                    )
                )
        return factors

    def float_delta(self, epsilon: float) -> tuple[float, float]:
        """(ln δ, its slope) in floats: for searches only."""
        z = self.place.c + 1j * self.t
        terms = self.terms * np.exp(-1j * self.t * epsilon)
        total, slope = float(terms.real.sum()), float((-z * terms).real.sum())
        base = float(self.peak.mid()) - self.place.c * epsilon + math.log(self.place.step / (2 * math.pi))
        return (base + math.log(total), slope / total) if total > 0 else (-math.inf, -self.place.c)

    def delta(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """(lower, upper) around δ(ε)."""
        angles = np.asarray(self.t * epsilon, dtype=np.float64)  # t has at most 16 + 20 bits: exact; the product is rounded
        terms = np.asarray(self.terms * turn(-angles), dtype=np.complex128)
        modulus = np.abs(self.nodes.values)
        errors = self.nodes.errors + modulus * (U * np.abs(angles) + 32 * U)
        total, error = math.fsum(terms.real), float((errors * self.sizes).sum()) * SLACK
        with precision(BITS):
            at = ball(Fraction(epsilon))
            scale = (self.peak - ball(Fraction(self.place.c)) * at).exp() * ball(Fraction(self.place.step)) / (2 * flint.arb.pi())
            high = scale * flint.arb(total + error + self.tail) * (1 + flint.arb(2) ** -50)
            low = scale * flint.arb(total - error - self.tail) - abs(scale * flint.arb(total)) * flint.arb(2) ** -50
            low -= self._aliases(at)
            least = lower(low) if low > 0 else Fraction(0)
            most = upper(high) + self.added if high < 1 else Fraction(1)
            return min(least, Fraction(1)), min(most, Fraction(1))

    def _aliases(self, at: Any) -> Any:
        place = self.place
        period = 2 * flint.arb.pi() / ball(Fraction(place.step))
        c = ball(Fraction(place.c))

        def one(theta: float, moment: Any) -> Any:
            order = ball(Fraction(theta))
            ratio = (-period * abs(order - c)).exp()
            largest = order * order.log() - (1 + order) * (1 + order).log() if theta else flint.arb(0)
            return (moment + largest - order * at).exp() * ratio / (1 - ratio)

        left = one(0.0, flint.arb(0)) if self.below is None else one(place.below, self.below)
        return left + one(place.above, self.above)


def _around(value: Any) -> tuple[float, float]:
    """Floats not above and not below a ball."""
    return math.nextafter(float(value.lower()), -math.inf), math.nextafter(float(value.upper()), math.inf)


def _from_balls(values: Sequence[Any]) -> Nodes:
    middles = np.array([complex(float(v.real.mid()), float(v.imag.mid())) for v in values])
    errors = np.array([float(v.real.rad()) + float(v.imag.rad()) for v in values]) + 4 * U * np.abs(middles)
    return Nodes(middles, errors * SLACK)


def _ending(decays: Sequence[tuple[Decay, int]], mu_squared: float, place: Place, nats: float) -> tuple[int, float]:
    """How many nodes to take, and a bound on what the others add to the sum over φ(c)e^{−cε}h/(2π).

    Over nodes t in [a, b], Σ 2/|z(z+1)| ≤ Σ 2/t² ≤ (2/h)(1/(a−h) − 1/(b+h)) and (2/h)/(a−h) for all beyond a.
    """
    h = place.step
    target = math.exp(-nats) / (place.c * (place.c + 1))

    def log_bound(low: float, high: float) -> float:
        total = sum(count * decay.log_bound(low, high) for decay, count in decays)
        return (total - mu_squared * low * low / 2) * (1 - LIBRARY)  # each summand is ≤ 0 and rounded a few times

    edges = [max(4 * h, _first_guess(decays, mu_squared, nats))]
    while edges[0] > 8 * h and 2 / h / edges[0] * exp_up(log_bound(edges[0], edges[0] * _GROWTH)) < target:
        edges[0] = max(4 * h, edges[0] / _GROWTH)
    tails: list[float] = []
    while True:
        low = edges[-1]
        beyond = 2 / h / (low - h) * exp_up(log_bound(low, math.inf))
        if beyond < target / 4 or low > 1e3 * MOST_NODES * h:
            break
        high = low * min(2.0, _GROWTH * 1.07 ** len(tails))  # far out, coarse stretches do
        tails.append(2 / h / (low - h) * exp_up(log_bound(low, high)))
        edges.append(high)
    tails.append(beyond)
    sums = np.cumsum(tails[::-1])[::-1]  # from edge i on
    enough = np.flatnonzero(sums < target)
    index = int(enough[0]) if len(enough) else len(sums) - 1
    count = math.ceil(edges[index] / h) + 1
    if count > MOST_NODES:
        affordable = [i for i, edge in enumerate(edges) if edge / h < MOST_NODES]
        if not affordable:
            raise TooMany("too many nodes")
        index = affordable[-1]
        count = math.ceil(edges[index] / h) + 1
    return count, float(sums[index]) * (1 + 16 * LIBRARY)


def _first_guess(decays: Sequence[tuple[Decay, int]], mu_squared: float, nats: float) -> float:
    """Where a Gaussian of the same variance would have fallen by so many nats."""
    variance = mu_squared
    for decay, count in decays:
        middle = decay.starts + decay.widths / 2
        mass = float(decay.masses.sum())
        mean = float((decay.masses * middle).sum()) / mass
        variance += count * float((decay.masses * (middle - mean) ** 2).sum()) / mass
    return math.sqrt(nats / max(variance, 1e-300))
