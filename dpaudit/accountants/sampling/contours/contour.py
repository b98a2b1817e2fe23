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

from dpaudit.accountants.numerics.elementary import LIBRARY, SLACK, Complexes, Floats, U, exp_up, turn
from dpaudit.accountants.sampling.contours.decay import Decay
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
_BACK, _FASTER = 3, 1.07  # so many stretches before where a Gaussian would have fallen enough, and after; then they grow
_COARSE, _FINER = 1.4, 5  # a stretch from which on the last one is divided, and into how many
_REST, _NEARLY = 1e-3, 8.0  # of what may be left out: what is beyond the last stretch; what is left out to save many nodes
_TAIL = 20.0  # nats by which the nodes left out are below δ
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

    def beyond(edge: float) -> float:
        total = sum(count * decay.log_tail(edge) for decay, count in decays) - mu_squared * edge**2 / 2
        return 2 / h / (edge - h) * exp_up(total * (1 - LIBRARY))

    def from_edges(edges: Floats, last: float) -> Floats:
        """What nodes from each edge on add, ``last`` from the last one on."""
        sizes = [exp_up(bound) for bound in _log_bounds(decays, mu_squared, edges[:-1], edges[1:])]
        return np.cumsum([last, *(2 / h / (edges[:-1] - h) * sizes)[::-1]])[::-1]

    stretches = [max(4 * h, _first_guess(decays, mu_squared, nats) / _GROWTH**_BACK)]
    while (last := beyond(stretches[-1])) >= target * _REST and stretches[-1] <= 1e3 * MOST_NODES * h:
        growth = _GROWTH * _FASTER ** max(0, len(stretches) - 2 * _BACK)  # far out, coarse ones do
        stretches.append(stretches[-1] * min(2.0, growth))
    edges = np.array(stretches)
    sums = from_edges(edges, last)
    index = _first_below(edges, sums, target)
    if index and edges[index] > _COARSE * edges[index - 1]:  # the last stretch again, and finer
        finer = np.append(np.geomspace(edges[index - 1], edges[index], _FINER, endpoint=False), edges[index])
        finer[0] = edges[index - 1]
        within = from_edges(finer, float(sums[index]))
        edges, sums = (np.concatenate([a[: index - 1], b, a[index + 1 :]]) for a, b in ((edges, finer), (sums, within)))
        index = _first_below(edges, sums, target)
    if edges[index] / h > MOST_NODES - 2:
        index = int(np.searchsorted(edges, h * (MOST_NODES - 2))) - 1
        if index < 0:
            raise TooMany("too many nodes")
    return math.ceil(edges[index] / h) + 1, float(sums[index]) * (1 + 16 * LIBRARY)


def _first_below(edges: Floats, sums: Floats, target: float) -> int:
    """The first edge from which on less than the target is left, or somewhat more where that saves many nodes; else the last."""
    strict, nearly = (int(np.argmax(sums < most)) if sums[-1] < most else len(sums) - 1 for most in (target, _NEARLY * target))
    return nearly if edges[strict] > _COARSE * edges[nearly] else strict


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
