"""Where to put a contour, in floats: nothing here is proven, and nothing that is proven depends on it.

K(c) = Σ n_g ln E e^{cL_g}. One moment bounds δ(ε) ≤ e^{K(c)+κ(c)−cε}, κ(c) = c ln c − (1+c) ln(1+c).
For small q the tilted law has two modes (bulk, and a rare jump of about (1+c)/σ²); at the saddle point the step would be tiny. So
c is taken at or left of the best moment, with the largest step among those that do not cancel too many digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpaudit.accountants.numerics.elementary import Floats
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup, short_orders
from dpaudit.accountants.sampling.groups import Direction

ALIAS = 20.0  # nats by which the aliases are below δ
_LEAST, _LARGEST = 2.0**-12, 2.0**24
_MOST_POINTS = 4000
_POINTS = 48

Moments = Callable[[Floats], Floats]


def float_log_moments(group: FloatGroup, direction: Direction, c: Floats) -> Floats:
    """ln E e^{cL} of one release, to about 14 digits of E e^{cL}."""
    if (9 + float(c.max()) * group.inverse) * len(c) < 4000:  # few abscissae serve all orders
        return _log_moments(group, direction, c)
    out = np.empty_like(c)
    order = np.argsort(c)
    for part in np.array_split(order, max(1, min(len(c), 4))):
        out[part] = _log_moments(group, direction, c[part])
    return out


def _log_moments(group: FloatGroup, direction: Direction, c: Floats) -> Floats:
    s = 1 + c if direction == "remove" else -c
    step = min(0.5, 0.5 / group.inverse)
    low, high = group.reach(float(s.min()))[0], group.reach(float(s.max()))[1]
    points = min(_MOST_POINTS, (high - low) / step)
    if group.cut < math.inf:
        u = np.linspace(low, high, 1 + 2 * math.ceil(points))
    elif points < _MOST_POINTS or low < -60 or high < 60:
        u = np.linspace(low, high, 1 + math.ceil(points))
    else:
        u = np.concatenate([np.arange(low, 40.0, step), np.linspace(40.0, high, _MOST_POINTS)])
    log_w = log_ratio_floats(group, u)
    exponents = np.multiply.outer(s, log_w) - u * u / 2
    top = exponents.max(axis=1)
    sums = (np.exp(exponents - top[:, None]) * np.gradient(u)).sum(axis=1)
    return np.asarray(top + np.log(sums) - math.log(2 * math.pi) / 2)


def log_ratio_floats(group: FloatGroup, u: Floats) -> Floats:
    """ln w(u)."""
    y = u * group.inverse - group.half
    return np.asarray(np.where(y < 30, np.log1p(group.q * np.expm1(np.minimum(y, 30.0))), y + math.log(group.q)))


def kappa(c: Floats) -> Floats:
    """ln max_y (1 − e^{−y}) e^{−cy}."""
    return np.asarray(c * np.log(c) - (1 + c) * np.log1p(c))


@dataclass(frozen=True)
class Scan:
    """K on a grid of orders, fine around the best one-moment bound; ``best`` is the place of that."""

    orders: Floats
    moments: Floats
    best: int


def scan(moments: Moments, objective: Callable[[Floats, Floats], Floats]) -> Scan:
    """K on a grid around the minimum of ``objective(c, K(c) + κ(c))``, from far below to somewhat above it."""
    c = np.array([0.25, 1.0, 4.0])
    k = moments(c)
    while True:
        value = objective(c, k + kappa(c))
        best = int(value.argmin())
        if best == len(c) - 1 and c[-1] < _LARGEST:
            more = np.array([c[-1] * 4, c[-1] * 16])
            c, k = np.concatenate([c, more]), np.concatenate([k, moments(more)])
        elif best == 0 and c[0] > _LEAST:
            more = np.array([c[0] / 16, c[0] / 4])
            c, k = np.concatenate([more, c]), np.concatenate([moments(more), k])
        else:
            break
    low, high = float(c[max(best - 1, 0)]), float(c[min(best + 1, len(c) - 1)])
    fine = np.geomspace(low, high, 12)
    values = objective(fine, moments(fine) + kappa(fine))
    centre = float(fine[int(values.argmin())])
    grid = np.concatenate([centre * np.geomspace(1 / 64, 1, _POINTS - 16), centre * np.geomspace(1.02, 6, 16)])
    grid = short_orders(grid)
    k = moments(grid)
    return Scan(grid, k, int(np.where(np.isfinite(k), objective(grid, k + kappa(grid)), np.inf).argmin()))


@dataclass(frozen=True)
class Place:
    """A contour through c with step h; the orders θ below and above c that bound the aliases best; cancelled nats."""

    c: float
    step: float
    below: float
    above: float
    cancelled: float


def best_place(known: Scan, epsilon: float, log_delta: float, most_cancelled: float) -> Place:
    """The contour for δ(ε) ≈ e^{log_delta} with the widest step among those that do not cancel too much."""
    orders, size = known.orders, known.moments + kappa(known.orders) - known.orders * epsilon - log_delta + ALIAS
    cancelled = known.moments - orders * epsilon - np.log(orders * (orders + 1)) - log_delta
    inner = np.arange(2, len(orders) - 2)
    allowed = inner[cancelled[inner] <= most_cancelled]
    if not len(allowed):
        allowed = inner[[int(np.nanargmin(cancelled[inner]))]]
    with np.errstate(all="ignore"):
        ratios = size / np.abs(orders - orders[allowed, None])
    after = np.arange(len(orders)) > allowed[:, None]
    right = np.where(after, ratios, np.inf).min(axis=1)
    left = np.where(after | (np.arange(len(orders)) == allowed[:, None]), np.inf, ratios).min(axis=1)
    periods = np.maximum(right, np.minimum(left, (ALIAS - log_delta) / orders[allowed]))
    index = int(allowed[int(np.nanargmin(periods))])
    return _place(orders, size, index, log_delta, float(cancelled[index]))


def _place(orders: Floats, size: Floats, index: int, log_delta: float, cancelled: float) -> Place:
    """The contour through one order: the period is such that the aliases on both sides are far below δ."""
    c = float(orders[index])
    right = size[index + 1 :] / (orders[index + 1 :] - c)
    left = size[:index] / (c - orders[:index])
    above, below, plain = int(right.argmin()), int(left.argmin()), (ALIAS - log_delta) / c
    period = max(float(right[above]), min(float(left[below]), plain))
    mantissa, exponent = math.frexp(2 * math.pi / max(period, 1e-12))
    step = math.ldexp(math.floor(mantissa * 2**16), exponent - 16)
    return Place(c, step, float(orders[below]) if left[below] < plain else 0.0, float(orders[index + 1 + above]), cancelled)


def _saddles(known: Scan) -> tuple[Floats, Floats]:
    """ε and ln δ by the saddle point approximation through every order of the grid."""
    c, k = known.orders, known.moments
    first = np.gradient(k, c)
    second = np.maximum(np.gradient(first, c), 0.0)
    epsilon = first - 1 / c - 1 / (1 + c)
    return epsilon, k - c * epsilon - np.log(c * (c + 1)) - np.log(2 * math.pi * (second + c**-2 + (1 + c) ** -2)) / 2


def saddle_guess(known: Scan, log_delta: float) -> float:
    """ε where the saddle point approximation of ln δ(ε) is ``log_delta``; a start for a search."""
    epsilon, log_size = _saddles(known)
    order = np.argsort(-log_size)
    return float(np.interp(-log_delta, -log_size[order], epsilon[order]))


def saddle_log_delta(known: Scan, epsilon: float) -> float:
    """ln δ(ε) by the saddle point approximation; a start for a search."""
    at, log_size = _saddles(known)
    order = np.argsort(at)
    return min(-1e-9, float(np.interp(epsilon, at[order], log_size[order])))
