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
from dpaudit.accountants.sampling.contours.elementary import LIBRARY, SLACK, Complexes, Floats, U, exp_up, turn
from dpaudit.accountants.sampling.contours.nodes import Nodes, ratios
from dpaudit.accountants.sampling.contours.panels import beyond, cut_for, tilted_law, tilted_laws
from dpaudit.accountants.sampling.contours.plans import Place
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup, TooMany
from dpaudit.accountants.sampling.groups import Direction, SampledGaussian
from dpaudit.claims.balls import ball, lower, precision, upper

BITS = 192
MOST_NODES = 20_000
MOST_PRODUCTS, PATIENT = 40_000_000, 400_000_000  # nodes × abscissae: usually, and as a last resort
_GROWTH = 1.25  # from one stretch of t to the next
_STRETCHES, _BACK = 12, 3  # bounded at once; of these so many before where a Gaussian would have fallen enough
_TAIL = 18.0  # nats by which the nodes left out are below δ
_DISCRETE, _MOMENT = 39.0, 40.0  # nats by which discretisation is below a ratio of moments, and below a moment


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

    def log_moment(self, order: float) -> Any:
        """A ball around K(order), at the precision of the caller."""
        return self.log_moments((order,))[0][0]

    def log_moments(self, orders: Sequence[float]) -> list[tuple[Any, list[Any]]]:
        """For each order a ball around K, and around ln E e^{cL} of one release of each group; at the precision of the caller."""
        singles = [
            [law.log_moment(discrete) for law, discrete in tilted_laws(group, self.direction, orders, 0.0, _MOMENT)]
            for group in self.floats
        ]
        found = []
        for place, order in enumerate(orders):
            z = ball(Fraction(order))
            total = ball(self.mu_squared / 2) * z * (z + 1)
            for group, one in zip(self.groups, singles, strict=True):
                total += group.count * one[place]
            for law, count in self.others:
                total += count * (law.moment(flint.acb(z))[0].real.log() + ball(law.top) * z)
            found.append((total, [one[place] for one in singles]))
        return found


class Contour:
    """δ(ε) near the ε it was made for; ``both`` false: its upper end only, which needs no bound on aliases."""

    def __init__(self, composed: Composition, place: Place, most: int = MOST_PRODUCTS, *, both: bool = True) -> None:
        self.composed, self.place, self.most = composed, place, most
        c, h = place.c, place.step
        floats = composed.floats
        self.added = composed.beyond()
        orders = [c, *([place.above, place.below] if both and place.below else [place.above] if both else [])]
        with precision(BITS):
            (self.peak, singles), *others = composed.log_moments(orders)
        self.aliases = [(order, total) for order, (total, _) in zip(orders[1:], others, strict=True)]
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
        sizes = 2 * np.abs(self.kernel) * SLACK
        self.t = t
        self.terms: Complexes = self.nodes.values * self.kernel * 2
        moduli = np.abs(self.nodes.values) * sizes
        # the kernel, its products and the turn; besides, U of the angle, per unit of it
        self.node_errors, self.moduli = self.nodes.errors * sizes + 32 * U * moduli, U * moduli

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

    def upper(self, epsilon: float) -> Fraction:
        """δ(ε) is at most this."""
        return self._most(epsilon, *self._sum(epsilon))

    def lower(self, epsilon: float) -> Fraction:
        """δ(ε) is at least this."""
        return self._least(epsilon, *self._sum(epsilon))

    def delta(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """(lower, upper) around δ(ε)."""
        total, error = self._sum(epsilon)
        return self._least(epsilon, total, error), self._most(epsilon, total, error)

    def _sum(self, epsilon: float) -> tuple[float, float]:
        """The trapezoid sum over φ(c)e^{−cε}h/(2π), and what it may be off, nodes left out included."""
        angles = np.asarray(self.t * epsilon, dtype=np.float64)  # t has at most 16 + 20 bits: exact; the product is rounded
        terms = self.terms * turn(-angles)
        errors = self.node_errors + self.moduli * np.abs(angles)
        return math.fsum(terms.real), (float(errors.sum()) + self.tail) * SLACK

    def relative_error(self, epsilon: float) -> float:
        """What both ends are off, roughly: for searches only."""
        total, error = self._sum(epsilon)
        return error / total if total > 0 else 1.0

    def _scale(self, at: Any) -> Any:
        return (self.peak - ball(Fraction(self.place.c)) * at).exp() * ball(Fraction(self.place.step)) / (2 * flint.arb.pi())

    def _most(self, epsilon: float, total: float, error: float) -> Fraction:
        with precision(BITS):
            high = self._scale(ball(Fraction(epsilon))) * (flint.arb(total) + flint.arb(error))
            return min(upper(high) + self.added, Fraction(1)) if high < 1 else Fraction(1)

    def _least(self, epsilon: float, total: float, error: float) -> Fraction:
        with precision(BITS):
            at = ball(Fraction(epsilon))
            low = self._scale(at) * (flint.arb(total) - flint.arb(error)) - self._aliased(at)
            return min(lower(low), Fraction(1)) if low > 0 else Fraction(0)

    def _aliased(self, at: Any) -> Any:
        place, total = self.place, flint.arb(0)
        period, c = 2 * flint.arb.pi() / ball(Fraction(place.step)), ball(Fraction(place.c))
        if not place.below:
            ratio = (-period * c).exp()
            total += ratio / (1 - ratio)
        for theta, moment in self.aliases:
            order = ball(Fraction(theta))
            ratio = (-period * abs(order - c)).exp()
            largest = order * order.log() - (1 + order) * (1 + order).log()
            total += (moment + largest - order * at).exp() * ratio / (1 - ratio)
        return total


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
    guess = _first_guess(decays, mu_squared, nats)
    edges, tails = [max(4 * h, guess / _GROWTH**_BACK)], [math.inf]
    while tails[-1] >= target / 4 and edges[-1] <= 1e3 * MOST_NODES * h:
        ratios = np.minimum(2.0, _GROWTH * 1.07 ** np.maximum(0, np.arange(_STRETCHES) + len(edges) - 1 - 2 * _BACK))
        ends = np.asarray(edges[-1] * np.cumprod(ratios), dtype=np.float64)  # far out, coarse stretches do
        starts = np.concatenate([edges[-1:], ends[:-1]])
        sizes = [exp_up(bound) for bound in _log_bounds(decays, mu_squared, starts, ends)]
        tails[-1:] = [2 / h / (low - h) * size for low, size in zip(starts, sizes, strict=True)]
        edges += ends.tolist()
        total = sum(count * decay.log_tail(edges[-1]) for decay, count in decays) - mu_squared * edges[-1] ** 2 / 2
        tails.append(2 / h / (edges[-1] - h) * exp_up(total * (1 - LIBRARY)))
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


def _log_bounds(decays: Sequence[tuple[Decay, int]], mu_squared: float, starts: Floats, ends: Floats) -> Floats:
    """Upper bounds on ln |φ(c+it)/φ(c)| of all releases on stretches of t; each summand is ≤ 0 and rounded a few times."""
    total = -mu_squared * starts * starts / 2
    for decay, count in decays:
        total = total + count * decay.log_bounds(starts, ends)
    return np.asarray(total * (1 - LIBRARY))


def _first_guess(decays: Sequence[tuple[Decay, int]], mu_squared: float, nats: float) -> float:
    """Where a Gaussian of the same variance would have fallen by so many nats."""
    variance = mu_squared
    for decay, count in decays:
        middle = decay.starts + decay.widths / 2
        mass = float(decay.masses.sum())
        mean = float((decay.masses * middle).sum()) / mass
        variance += count * float((decay.masses * (middle - mean) ** 2).sum()) / mass
    return math.sqrt(nats / max(variance, 1e-300))
