"""δ(ε) of many different Laplace releases, and Gaussian ones: arrays of doubles, 200 in 11 ms, where balls take 172.

One Laplace loss has the moment φ(z) = e^{zε₁} ((1 + B) + w(1 − B))/2 with B = e^{−ε₁(1+2z)}, w = tanh(a/2) coth(a(1+2z)/2)
and a = ε₁/steps, also on a grid (equal_laplace.py). At real z, ln φ = zε₁ + ln(1 − (1−w)(1−B)/2). The integral, its Poisson
sum and its aliases are those of sampling/contours/contour.py; what is added here:
1. Nodes. With y = a(1+2z)/2, |y| ≤ 1/100, w = κ(1 + y²/3 − y⁴/45 + 2y⁶/945)/(1+2z), κ = tanh(a/2)/(a/2), cut below |y|⁸/4000.
   exp and turns have proven errors; each numerator is off by at most U(1+|w|)(1+|B|)(40 + 4|ε₁(1+2z)|), and at least 1 at t = 0.
2. Nodes left out. |(1+B) + w(1−B)| ≤ |1+B| + |w|(1+|B|) with |1+B|² = (1+b)² − 4b sin²(ε₁t), b = |B|, and |w| ≤ 1.4/(2t) where
   |y| ≤ 1; beyond, |φ| ≤ φ(c).
3. Without Gaussian noise, a Gaussian release of tiny μ = τ is added: U(τ) ≥ δ ≥ U(τ) − e^{τ²/2}(U(2τ) − U(τ)), as in
   loss_contour.py, 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, PrivacyLoss, least_sine
from dpaudit.accountants.numerics.elementary import EXP_ERROR, SLACK, Complexes, Floats, U, exp, log1p, turn
from dpaudit.accountants.numerics.roots import enclosed_root, log, newton
from dpaudit.accountants.sampling.contours.nodes import Nodes
from dpaudit.accountants.sampling.contours.plans import Place, best_place, saddle_guess, scan
from dpaudit.accountants.sampling.contours.tilted_law import short
from dpaudit.claims.balls import ball, lower, precision, upper

LEAST_LAWS = 8  # different ones; fewer are evaluated in balls
_BITS = 128
_CANCELLED = 6.0  # nats that may cancel
_TAIL = 26.0  # nats by which the nodes left out are below δ
_SMOOTHING = 1e-5  # τ√(c(c+1)): raises δ by a factor of about 1 + 5·10^-11
_MOST_PRODUCTS = 1_000_000  # laws × nodes
_SERIES = 0.01  # |y|: the first term left out is below 10^-19
_WIDEST = 1e-8  # relative width beyond which another method is asked
_FINE, _GROWTH = 1.05, 2.0  # from one stretch of t to the next, while most laws turn less than _TURNED radians, and beyond
_TURNED = 64.0
_CLOSER = 0.7  # of the step that is planned for aliases 20 nats below δ: then they are some 28 below


@dataclass(frozen=True)
class ManyLaplace:
    """Different laws ε₁, a with their counts, and the μ² of all Gaussian releases."""

    costs: Floats
    steps: Floats  # a
    counts: Floats
    exact: tuple[tuple[LaplaceLoss, int], ...]
    mu_squared: Fraction

    @classmethod
    def of(cls, laws: Sequence[tuple[PrivacyLoss, int]]) -> ManyLaplace:
        """Raises ``ArithmeticError`` where there are other laws, or few."""
        exact = tuple((law, count) for law, count in laws if isinstance(law, LaplaceLoss))
        mu_squared = sum((law.mu_squared * count for law, count in laws if isinstance(law, GaussianLoss)), Fraction(0))
        if len(exact) < LEAST_LAWS or any(not isinstance(law, LaplaceLoss | GaussianLoss) for law, _ in laws):
            raise ArithmeticError("not many Laplace releases")
        costs = np.array([float(law.epsilon) for law, _ in exact])
        steps = np.array([law.steps for law, _ in exact], dtype=np.float64)
        return cls(costs, costs / steps, np.array([float(count) for _, count in exact]), exact, mu_squared)

    def real_moments(self, c: float) -> tuple[Floats, Floats]:
        """ln(φ e^{−cε₁}) of every law at a real order, and bounds on their errors."""
        x = self.costs * (1 + 2 * c)
        back = exp(-x)
        w = _ratio(self.steps, np.full(1, 1 + 2 * c + 0j))[:, 0].real
        lost = (1 - w) * (1 - back) / 2
        return log1p(-lost, (24 * U * (1 + w) + (EXP_ERROR + 4 * U * x) * back) * np.ones_like(lost))

    def log_moment(self, c: float) -> Any:
        """A ball around K(c), less cΣε₁, without smoothing; at the precision of the caller."""
        values, errors = self.real_moments(c)
        total = math.fsum(self.counts * values)
        size = float((self.counts * (errors + 2 * U * np.abs(values))).sum()) * SLACK + 4 * U * abs(total)
        order = ball(Fraction(c))
        return flint.arb(total, size) + ball(self.mu_squared / 2) * order * (order + 1)

    def float_moments(self, c: Floats) -> Floats:
        """K at many orders, for searches."""
        x = np.multiply.outer(1 + 2 * c, self.costs)
        y = np.multiply.outer((1 + 2 * c) / 2, self.steps)
        w = np.tanh(self.steps / 2) / np.tanh(y)
        total = (np.log1p((1 - w) * np.expm1(-x) / 2) + np.multiply.outer(c, self.costs)) @ self.counts
        return np.asarray(total + float(self.mu_squared) / 2 * c * (c + 1))

    def nodes(self, c: float, t: Floats) -> Nodes:
        """Π φ(c+it)/φ(c) without e^{itΣε₁} and without Gaussian noise."""
        if len(t) * len(self.costs) > 2 * _MOST_PRODUCTS:
            raise ArithmeticError("too many nodes and laws")
        line = np.asarray(1 + 2 * c + 2j * t, dtype=np.complex128)
        w = _ratio(self.steps, line)
        angles = np.multiply.outer(self.costs, 2 * t)
        x = self.costs[:, None] * (1 + 2 * c)
        back = exp(-x) * turn(-angles)
        size = np.abs(back)
        top = (1 + back) + w * (1 - back)
        errors = U * (1 + np.abs(w)) * (1 + size) * (40 + 4 * (x + np.abs(angles))) * SLACK
        first = top[:, :1].real
        ratio = top / first
        errors = (errors + np.abs(ratio) * errors[:, :1]) / first * SLACK + 4 * U * np.abs(ratio)
        total: Nodes | None = None
        for count in np.unique(self.counts):
            chosen = self.counts == count
            part = _product(ratio[chosen], errors[chosen]).power(int(count))
            total = part if total is None else total * part
        if total is None:
            raise ArithmeticError("nothing to compose")
        return total

    def log_bound(self, c: float, low: Floats, high: Floats) -> Floats:
        """An upper bound on ln |Πφ(c+it)/φ(c)| for t in each [low, high], without Gaussian noise."""
        w = np.tanh(self.steps / 2) / np.tanh(self.steps * (1 + 2 * c) / 2)
        b = np.exp(-self.costs * (1 + 2 * c))
        first = (1 + b) + w * (1 - b)
        total = np.zeros_like(low)
        for i, (start, stop) in enumerate(zip(low, high, strict=True)):
            sine = least_sine_of(self.costs, float(start), float(stop))
            ends = np.sqrt(np.maximum((1 + b) ** 2 - 4 * b * sine**2, 0.0))
            inside = self.steps * (1 + 2 * c + 2 * stop) / 2 <= 1
            size = (ends + np.where(inside, 0.7 / start, 9.0) * (1 + b)) / first * (1 + 1e-9)
            total[i] = float((self.counts * np.minimum(np.log(size), 0.0)).sum()) * (1 - 1e-9)
        return total


def least_sine_of(rates: Floats, low: float, high: float) -> Floats:
    """The least |sin(rate·t)| over t in [low, high], for each rate."""
    return least_sine(1.0, rates * low, rates * high)


def _ratio(steps: Floats, line: Complexes) -> Complexes:
    """w for every law and node, off by less than 20U relatively; ``line`` = 1 + 2z."""
    y = np.multiply.outer(steps / 2, line)
    if not float(np.abs(y).max(initial=0.0)) <= _SERIES:
        raise ArithmeticError("a grid is too coarse for a series")
    square = y * y
    series = 1 + square * (1 / 3 - square * (1 / 45 - square * (2 / 945)))
    half = (steps / 2) ** 2
    kappa = 1 - half * (1 / 3 - half * (2 / 15 - half * (17 / 315)))
    return np.asarray(kappa[:, None] * series / line + 0.0, dtype=np.complex128)


def _product(ratios: Complexes, errors: Floats) -> Nodes:
    """The product over laws: |Πx̂ − Πx| ≤ Π|x̂| (e^{Σe/|x̂|} − 1) with √5U for each product; Σe where a factor is tiny."""
    sizes, each = np.abs(ratios), errors + 4 * U * np.abs(ratios)
    values = np.prod(ratios, axis=0)
    shares = (each / np.maximum(sizes, 1e-3)).sum(axis=0)
    plain = np.expm1(each.sum(axis=0)) * SLACK
    if not float(plain.max()) < 1e-3:
        raise ArithmeticError("rounding adds up")
    close = np.where(sizes.min(axis=0) > 1e-3, np.prod(sizes, axis=0) * np.expm1(np.minimum(shares, 1.0)) * 1.01, plain)
    return Nodes(values, np.where(shares < 0.5, np.minimum(close + 1e-300, plain), plain))


class ManyContour:
    """δ(ε) near the ε it was made for; ``float_delta`` for searches."""

    def __init__(self, many: ManyLaplace, place: Place) -> None:
        self.many, self.place = many, place
        c, h = place.c, place.step
        self.tau = 0.0 if many.mu_squared else _SMOOTHING / math.sqrt(c * (c + 1))
        count, self.tail = self._ending()
        self.t = np.asarray(h * np.arange(count), dtype=np.float64)
        nodes = many.nodes(c, self.t)
        with precision(_BITS):
            self.peak, self.above = many.log_moment(c), many.log_moment(place.above)
            self.below = many.log_moment(place.below) if place.below else None
            self.top = sum((ball(law.epsilon) * n for law, n in many.exact), start=flint.arb(0))
        size = (c * c + self.t**2) * ((c + 1) ** 2 + self.t**2)
        kernel = np.asarray(((c * c + c - self.t**2) - 1j * self.t * (2 * c + 1)) / size, dtype=np.complex128) * 2
        kernel[0] /= 2
        self.sizes = np.abs(kernel) * SLACK
        mu = float(many.mu_squared)
        self.once = nodes * self._gaussian(mu + self.tau**2)
        self.twice = nodes * self._gaussian(mu + 4 * self.tau**2) if self.tau else None
        self.kernel = kernel

    def _gaussian(self, mu_squared: float) -> Nodes:
        """e^{μ²(z(z+1) − c(c+1))/2}; the exponents are off by 4U relatively."""
        fall, angle = mu_squared * self.t**2 / 2, mu_squared * self.t * (2 * self.place.c + 1) / 2
        value = exp(-fall) * turn(angle)
        return Nodes(value, np.abs(value) * (U * (24 + 6 * (fall + np.abs(angle)))) + 1e-300)

    def _ending(self) -> tuple[int, float]:
        """How many nodes to take, and what the others may add, as in sampling/contours/contour.py."""
        c, h = self.place.c, self.place.step
        target = math.exp(-_TAIL - max(self.place.cancelled, 0.0)) / (c * (c + 1))
        mu = float(self.many.mu_squared) + self.tau**2
        reach = math.sqrt(2 * (_TAIL + 60) / mu)
        middle = min(reach, max(4 * h, _TURNED / float(np.median(self.many.costs))))
        edges = 4 * h * _FINE ** np.arange(1 + math.ceil(math.log(middle / (4 * h)) / math.log(_FINE)))
        more = 1 + math.ceil(math.log(max(reach / edges[-1], 1.0)) / math.log(_GROWTH))
        edges = np.append(edges, edges[-1] * _GROWTH ** np.arange(1, 1 + more))
        low, high = np.asarray(edges[:-1], dtype=np.float64), np.asarray(edges[1:], dtype=np.float64)
        bounds = self.many.log_bound(c, low, high) - mu * low**2 / 2 * (1 - 1e-9)
        tails = np.append(
            2 / h / (low - h) * np.exp(bounds), 2 / h / (edges[-1] - h) * math.exp(-mu * edges[-1] ** 2 / 2 * (1 - 1e-9))
        )
        sums = np.cumsum(tails[::-1])[::-1]
        enough = np.flatnonzero(sums < target)
        if not len(enough):
            raise ArithmeticError("the moments do not fall")
        index, affordable = int(enough[0]), h * _MOST_PRODUCTS / len(self.many.costs)
        if edges[index] > affordable:  # the enclosure is wider then
            index = max(0, int(np.searchsorted(edges, affordable)) - 1)
        return math.ceil(edges[index] / h) + 1, float(sums[index]) * (1 + 1e-6)

    def float_delta(self, epsilon: float) -> tuple[float, float]:
        """(ln δ, its slope) in floats."""
        z = self.place.c + 1j * self.t
        slack = float(self.top.mid()) - epsilon
        terms = self.once.values * self.kernel * np.exp(1j * self.t * slack)
        total, slope = float(terms.real.sum()), float((-z * terms).real.sum())
        base = float(self.peak.mid()) + self.place.c * slack + math.log(self.place.step / (2 * math.pi))
        return (base + math.log(total), slope / total) if total > 0 else (-math.inf, -self.place.c)

    def delta(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """(lower, upper) around δ(ε)."""
        with precision(_BITS):
            slack = self.top - ball(Fraction(epsilon))
            grown = self.peak + ball(Fraction(self.place.c)) * slack
            scale = grown.exp() * ball(Fraction(self.place.step)) / (2 * flint.arb.pi())
            near = float(slack.mid())
            angles = np.asarray(self.t * near, dtype=np.float64)
            turned = turn(angles)
            blur = U * (3 * np.abs(angles) + 40)
            tau = ball(Fraction(self.tau)) ** 2
            raised = (tau * ball(Fraction(self.place.c)) * ball(Fraction(self.place.c) + 1) / 2).exp()
            once = scale * raised * self._sum(self.once, turned, blur)
            high = once
            low = once - self._aliases(slack)
            if self.twice is not None:
                twice = scale * raised**4 * self._sum(self.twice, turned, blur)
                low = low - (tau / 2).exp() * (twice - low)
            least = lower(low) if low > 0 else Fraction(0)
            return min(least, Fraction(1)), upper(high) if high < 1 else Fraction(1)

    def _sum(self, nodes: Nodes, turned: Complexes, blur: Floats) -> Any:
        terms = (nodes.values * self.kernel * turned).real
        errors = (nodes.errors + np.abs(nodes.values) * blur) * self.sizes
        total = math.fsum(terms)
        return flint.arb(total, (float(errors.sum()) + self.tail + 8 * U * abs(total)) * SLACK)

    def _aliases(self, slack: Any) -> Any:
        place = self.place
        period, c = 2 * flint.arb.pi() / ball(Fraction(place.step)), ball(Fraction(place.c))

        def one(theta: float, moment: Any) -> Any:
            order = ball(Fraction(theta))
            ratio = (-period * abs(order - c)).exp()
            largest = order * order.log() - (1 + order) * (1 + order).log() if theta else flint.arb(0)
            smoothed = 2 * ball(Fraction(self.tau)) ** 2 * order * (order + 1)
            return (moment + largest + order * slack + smoothed).exp() * ratio / (1 - ratio)

        left = one(0.0, flint.arb(0)) if self.below is None else one(place.below, self.below)
        return left + one(place.above, self.above)


def many_laplace_epsilon(laws: Sequence[tuple[PrivacyLoss, int]], delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper): ε is proven to meet δ at ``upper``, and not to below ``lower``. Raises ``ArithmeticError``."""
    many = ManyLaplace.of(laws)
    log_delta = log(delta)
    with np.errstate(all="ignore"):
        known = scan(many.float_moments, lambda c, k: (k - log_delta) / c)
        guess = saddle_guess(known, log_delta)
        for _ in range(3):
            place = best_place(known, guess, log_delta, _CANCELLED)
            curve = ManyContour(many, replace(place, step=short(place.step * _CLOSER)))
            found = newton(curve.float_delta, guess, log_delta, curve.place.c)
            if not found.slope < 0:
                raise ArithmeticError("the contour cancels")
            if abs(found.at - guess) * curve.place.c < 1.0:
                break
            guess = found.at
        ends = enclosed_root(curve.delta, found, delta)
    if ends.width > _WIDEST:
        raise ArithmeticError("a wide enclosure")
    return ends.lower, ends.upper
