"""The least ε with δ(ε) ≤ δ for one direction: floats find it, certified values of δ on both sides prove it."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import numpy as np

from dpaudit.accountants.numerics.elementary import Floats
from dpaudit.accountants.numerics.roots import Ends, certified, log, newton
from dpaudit.accountants.sampling.contours.contour import BITS, Composition, Contour
from dpaudit.accountants.sampling.contours.plans import (
    Scan,
    best_place,
    float_log_moments,
    kappa,
    saddle_guess,
    saddle_log_delta,
    scan,
)
from dpaudit.accountants.sampling.contours.tilted_law import short_orders
from dpaudit.claims import float_down
from dpaudit.claims.balls import Ball, ball, precision, upper

_QUICK = np.geomspace(0.1, 4.0, 28)
_QUICK_PRODUCTS = 200_000
GOOD = 3e-7  # relative width of ε at which nothing else is tried
_HALVINGS = 40  # of an order whose moment takes too many abscissae
_ALIASED = 5e-9  # of δ, e^−ALIAS and a little more


def moments_of(composed: Composition) -> Callable[[Floats], Floats]:
    """K(c) in floats."""
    floats = composed.floats
    half = float(composed.mu_squared) / 2

    def moments(c: Floats) -> Floats:
        total = half * c * (c + 1)
        for group in floats:
            total = total + group.count * float_log_moments(group, composed.direction, c)
        for law, count in composed.others:
            total = total + count * (law.log_moment(c.astype(np.complex128)).real + float(law.top) * c)
        return np.asarray(total)

    return moments


def cancellation_limit(steps: int) -> float:
    """Nats that may cancel: rounding is about 10^-14 a step."""
    return min(10.0, max(1.5, math.log(1e7 / max(steps, 1))))


def moment_bound(composed: Composition, delta: Fraction) -> Fraction:
    """ε from the best single moment, certified: (K(c) + κ(c) − ln δ)/c."""
    log_delta = log(delta)
    with np.errstate(all="ignore"):
        known = scan(moments_of(composed), lambda c, k: (k - log_delta) / c)
    return _certified_bound(composed, delta, float(known.orders[known.best]))


def quick_bound(composed: Composition, delta: Fraction, near: Fraction) -> Fraction:
    """ε by the best of a few moments around that of a loss with about the ε ``near``; or ``near``, where a contour proves it.

    No search of its own: for a direction that another one is expected to exceed.
    """
    log_delta, epsilon = log(delta), float_down(near)
    c = short_orders(-log_delta / epsilon * _QUICK)
    with np.errstate(all="ignore"):
        k = moments_of(composed)(c)
        values = (k + kappa(c) - log_delta) / c
    best = int(np.nanargmin(values))
    if values[best] > epsilon:
        with suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
            limit = cancellation_limit(sum(group.count for group in composed.groups))
            place = best_place(Scan(c, k, best), epsilon, log_delta, limit)
            if Contour(composed, place, _QUICK_PRODUCTS, both=False).upper(epsilon) <= delta:
                return near
    return _certified_bound(composed, delta, float(c[best]))


def _certified_bound(composed: Composition, delta: Fraction, order: float) -> Fraction:
    with precision(BITS):
        c, moment = _moment_near(composed, order)
        bound = (moment + c * c.log() - (1 + c) * (1 + c).log() - ball(delta).log()) / c
        return max(Fraction(0), upper(bound))


def _moment_near(composed: Composition, order: float) -> tuple[Ball, Ball]:
    """An order c, and K(c): the order asked for, or halves of it where K is not determined, as every order gives a bound."""
    for _ in range(_HALVINGS):
        try:
            return ball(Fraction(order)), composed.log_moment(order)
        except ArithmeticError:
            order /= 2
    raise ArithmeticError("no moment is determined")


def moment_delta(composed: Composition, epsilon: Fraction) -> Fraction:
    """δ(ε) from the best single moment, certified: e^{K(c) + κ(c) − cε}, at most 1."""
    with np.errstate(all="ignore"):
        known = scan(moments_of(composed), lambda c, k: k - c * float(epsilon))
    order = float(known.orders[known.best])
    with precision(BITS):
        c, moment = _moment_near(composed, order)
        bound = (moment + c * c.log() - (1 + c) * (1 + c).log() - c * ball(epsilon)).exp()
        return upper(bound) if bound < 1 else Fraction(1)


def contour_epsilon(composed: Composition, delta: Fraction, most: int) -> Ends:
    """Enclose ε by one contour. Raises ``ArithmeticError`` where that fails, or costs more than ``most``."""
    log_delta = log(delta)
    known = scan(moments_of(composed), lambda c, k: (k - log_delta) / c)
    guess = saddle_guess(known, log_delta)
    limit = cancellation_limit(sum(group.count for group in composed.groups))
    for _ in range(3):
        place = best_place(known, guess, log_delta, limit)
        curve = Contour(composed, place, most)
        found = newton(curve.float_delta, guess, log_delta, place.c)
        root, slope = found.at, found.slope if found.slope < 0 else -place.c
        if abs(root - guess) * place.c < 1.0:
            break
        guess = root
    if root * abs(slope) < 1e-3:
        if curve.upper(0.0) <= delta:
            return Ends(Fraction(0), Fraction(0))
        root = max(root, 0.0)
    unit, off = max(1e-15 * root * abs(slope), 1e-13), 1.1 * curve.relative_error(root)
    first = max(unit, off + _ALIASED) / abs(slope), max(unit, off + float(curve.added / delta)) / abs(slope)
    return certified(curve.upper, curve.lower, root, delta, first)


def contour_delta(composed: Composition, epsilon: float, cut: int | None) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε) by one contour; ``cut``: leave out what is so many times less likely than δ."""
    known = scan(moments_of(composed), lambda c, k: k - c * epsilon)
    limit = cancellation_limit(sum(group.count for group in composed.groups))
    log_delta = saddle_log_delta(known, epsilon)
    for _ in range(3):
        law = composed.with_cuts(Fraction(math.exp(max(-600.0, log_delta))) / cut) if cut else composed
        known = scan(moments_of(law), lambda c, k: k - c * epsilon) if cut else known
        place = best_place(known, epsilon, log_delta, limit)
        curve = Contour(law, place)
        value = curve.float_delta(epsilon)[0]
        if not math.isfinite(value):
            raise ArithmeticError("the contour cancels")
        if abs(value - log_delta) < 2.0:
            break
        log_delta = value
    return curve.delta(epsilon)
