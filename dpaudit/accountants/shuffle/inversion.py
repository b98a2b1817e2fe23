"""From δ(ε), a curve for every ε0, to the least ε and to the largest ε0 that meet δ.

log(log δ(0) − log δ(ε)) is nearly a straight line in log ε, and log(−log δ) in log(ε0 − ε): secants on these scales
need few steps. Most of them are taken on the saddle-point approximation, at a tenth of the cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from dpaudit.accountants.numerics.roots import Root, bracketed, certified_ends, float_root, log
from dpaudit.claims import InvalidValue
from dpaudit.claims.balls import decimal

_NEAR = 1e-9  # ε and ε0 are not told apart below this
_FAR = Fraction(1, 50)  # how far the two ends of an enclosure may be apart before an attack is tried
_LONGEST_STEP = 3.0
_LEAST = 2.0**-50  # of ε0: smaller ε are not looked for where floats lead astray
_FARTHEST = 30.0  # log(ε0 − ε): no report needs more
_FARTHEST_EPSILON = 10**7  # above any ε0 that is looked at
_UNSURE = 1.0  # the quick estimate is off by less where reports hide the target,
_LONELY = 4.0  # and by less where none does
_NORMAL = 0.9  # n ε² is near this times (2 sinh(ε0/2))² log(1/δ) where many reports hide the target
_STRAIGHT = 0.1  # (ε0 − ε)(1 + number of others at the largest value)² below which δ(ε) is nearly a straight line
# how far from its zero a scale may be before the last step: on the quick estimate, on the other, and before a certificate
_PLACE, _VALUE, _CAREFUL = 1e-3, 5e-4, 1e-6


class ShuffleFamily(Protocol):
    """A shuffle bound or an attack: δ(ε) for every ε0, certified and estimated."""

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]: ...

    def estimate(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> float: ...

    def quick(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> tuple[float, float | None]: ...

    def last(self, epsilon0: float, n: int) -> tuple[float, float]: ...  # as in contour.last_slope


Curve = Callable[[float, float], float]  # log δ(ε) for ε0 and ε


def estimated_epsilon(family: ShuffleFamily, epsilon0: float, n: int, log_delta: float) -> float:
    """The least ε that meets δ, in floats: uncertified."""
    first = _without_gap(family, epsilon0, n, log_delta)
    if first <= log_delta:
        return 0.0
    if _exceeds(family, epsilon0, n, epsilon0 * (1 - _NEAR), log_delta):
        return epsilon0
    return _epsilon(epsilon0, _root_of_epsilon(family, epsilon0, n, log_delta, first, _VALUE).at)


def estimated_epsilon0(family: ShuffleFamily, epsilon: float, n: int, log_delta: float) -> float:
    """The largest ε0 that meets δ, in floats: uncertified."""
    if _exceeds(family, epsilon * (1 + _NEAR), n, epsilon, log_delta):
        return epsilon
    return epsilon + math.exp(_root_of_epsilon0(family, epsilon, n, log_delta, _VALUE).at)


def least_epsilon(family: ShuffleFamily, epsilon0: Fraction, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the least ε with δ(ε) ≤ δ: proven to meet δ at upper, and not to meet it at lower."""
    return _least_epsilon(family, epsilon0, n, delta, both=True)


def epsilon_refuted(family: ShuffleFamily, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """An ε at which δ(ε) is proven to exceed δ, near the largest; 0 if there is none."""
    return _least_epsilon(family, epsilon0, n, delta, both=False)[0]


def _least_epsilon(
    family: ShuffleFamily, epsilon0: Fraction, n: int, delta: Fraction, *, both: bool
) -> tuple[Fraction, Fraction]:
    local, target = float(epsilon0), log(delta)

    def curve(x: Fraction) -> tuple[Fraction, Fraction]:
        return family.delta(epsilon0, n, x, delta)

    first = _without_gap(family, local, n, target)
    if first < target + 0.1 and curve(Fraction(0))[1] <= delta:
        return Fraction(0), Fraction(0)
    almost = epsilon0 * (1 - Fraction(_NEAR))
    if _exceeds(family, local, n, local * (1 - _NEAR), target):
        return (decimal(almost, 15, up=False) if curve(almost)[0] > delta else Fraction(0)), epsilon0
    root = _root_of_epsilon(family, local, n, target, max(first, target + 1e-3), _CAREFUL)
    safe, unsafe = certified_ends(curve, lambda t: min(almost, Fraction(_epsilon(local, t))), root, delta, both=both)
    if both and safe is None:
        safe, higher = bracketed(curve, almost, Fraction(_LEAST) * epsilon0, delta)
        unsafe = max((x for x in (unsafe, higher) if x is not None), default=None)
    low = Fraction(0) if unsafe is None else decimal(unsafe, 15, up=False)
    return low, epsilon0 if safe is None else min(epsilon0, decimal(safe, 15, up=True))


def largest_epsilon0(
    family: ShuffleFamily, epsilon: Fraction, n: int, delta: Fraction, attack: Callable[[Fraction, int, Fraction], Fraction]
) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the largest ε0 with δ(ε) ≤ δ: proven to meet δ at lower, and not to meet it at upper.

    The lower end is a short fraction. Where the curve's enclosure is too wide for an upper end, the attack gives one: an ε that
    n reports with ε0 do not keep at δ.
    """
    near = epsilon * (1 + Fraction(_NEAR))

    def curve(x: Fraction) -> tuple[Fraction, Fraction]:
        return family.delta(x, n, epsilon, delta)

    if _exceeds(family, float(near), n, float(epsilon), log(delta)) and curve(near)[0] > delta:
        return epsilon, near
    root = _root_of_epsilon0(family, float(epsilon), n, log(delta), _CAREFUL)
    safe, unsafe = certified_ends(
        curve, lambda t: shorten(epsilon + Fraction(math.exp(min(t, _FARTHEST))), -t / math.log(2)), root, delta
    )
    low = epsilon if safe is None else max(safe, epsilon)
    if unsafe is None or unsafe > low * (1 + _FAR):
        refuted = _first_refuted(lambda x: curve(x)[0] > delta or attack(x, n, delta) > epsilon, low)
        unsafe = refuted if unsafe is None else min(unsafe, refuted)
        higher, lower = bracketed(curve, low, unsafe, delta, shorten, 1 + _FAR / 1000)
        low, unsafe = higher or low, lower or unsafe
    return low, unsafe


def _first_refuted(refuted: Callable[[Fraction], bool], low: Fraction) -> Fraction:
    """Where an attack begins to succeed, to about 1 %: doubling, then halving."""
    distance = low / 64
    while not refuted(low + distance):
        distance *= 2
        if distance > _FARTHEST_EPSILON:
            raise InvalidValue("epsilon", float(low), "smaller for this randomiser: no larger ε0 can be refuted here")
    high, below = low + distance, low + distance / 2
    while high - below > high / 100:
        middle = (high + below) / 2
        below, high = (below, middle) if refuted(middle) else (middle, high)
    return high


def _epsilon(epsilon0: float, t: float) -> float:
    return epsilon0 / (1 + math.exp(min(-t, 700.0)))


def _root_of_epsilon(family: ShuffleFamily, epsilon0: float, n: int, target: float, first: float, small: float) -> Root:
    """In t = log(ε/(ε0−ε)); the slope is that of log δ."""
    if (gap := _last_gap(family, epsilon0, n, target)) is not None:
        start = math.log(epsilon0 / gap - 1)
        found = _last(lambda t: target - family.estimate(epsilon0, n, _epsilon(epsilon0, t)), start, small)
        return Root(found.at, -found.slope)

    def rise(log_delta: Curve, t: float) -> float:
        fallen = first - log_delta(epsilon0, _epsilon(epsilon0, t))
        return math.log(max(fallen, 1e-12)) - math.log(first - target)

    normal = 2 * math.sinh(min(epsilon0 / 2, 300.0)) * math.sqrt(_NORMAL * -target / n)
    start = math.log(normal / (epsilon0 - normal)) if normal < 0.9 * epsilon0 else 3.0
    found = _meeting(family, n, rise, start, None, small)
    return Root(found.at, -found.slope * (first - target))


def _root_of_epsilon0(family: ShuffleFamily, epsilon: float, n: int, target: float, small: float) -> Root:
    """In t = log(ε0−ε); the slope is that of log δ."""
    if (gap := _last_gap(family, epsilon, n, target)) is not None:
        return _last(lambda t: family.estimate(epsilon + math.exp(t), n, epsilon) - target, math.log(gap), small)

    def rise(log_delta: Curve, t: float) -> float:
        depth = -log_delta(epsilon + math.exp(t), epsilon)
        return math.log(-target) - (math.log(max(depth, 1e-12)) if depth < math.inf else 700.0)

    normal = 2 * math.asinh(epsilon / 2 * math.sqrt(n / (_NORMAL * -target)))
    gap = max(normal - epsilon, 0.1 * epsilon)
    found = _meeting(family, n, rise, math.log(gap), gap / math.tanh((epsilon + gap) / 2), small)
    return Root(found.at, -found.slope * target)


def _meeting(
    family: ShuffleFamily, n: int, rise: Callable[[Curve, float], float], start: float, slope: float | None, small: float
) -> Root:
    """A zero of ``rise``: the quick estimate finds the place and the slope, the estimate the rest."""
    near: float | None = None

    def quick(epsilon0: float, epsilon: float) -> float:
        nonlocal near
        value, near = family.quick(epsilon0, n, epsilon, near)
        return value

    def slow(epsilon0: float, epsilon: float) -> float:
        return family.estimate(epsilon0, n, epsilon, near)

    place = float_root(lambda t: rise(quick, t), start, _LONGEST_STEP, slope, small=_PLACE)
    return float_root(lambda t: rise(slow, t), place.at, _LONGEST_STEP, place.slope, small)


def _without_gap(family: ShuffleFamily, epsilon0: float, n: int, target: float) -> float:
    """log δ(0): estimated with care only where it matters."""
    first, near = family.quick(epsilon0, n, 0.0)
    return first if first > target + _UNSURE else family.estimate(epsilon0, n, 0.0, near)


def _exceeds(family: ShuffleFamily, epsilon0: float, n: int, epsilon: float, target: float) -> bool:
    """Is log δ(ε) above the target, where ε is hardly below ε0?"""
    slope, crowd = family.last(epsilon0, n)
    if (epsilon0 - epsilon) * (1 + crowd) ** 2 < _STRAIGHT:
        return slope + math.log(epsilon0 - epsilon) > target
    last, near = family.quick(epsilon0, n, epsilon)
    return last > target - _LONELY and family.estimate(epsilon0, n, epsilon, near) > target


def _last_gap(family: ShuffleFamily, epsilon0: float, n: int, target: float) -> float | None:
    """About ε0 − ε where δ(ε) is nearly a straight line down to 0 at ε0; None elsewhere."""
    slope, crowd = family.last(epsilon0, n)
    if target - slope > math.log(min(_STRAIGHT, epsilon0) / 4) - 2 * math.log1p(crowd):
        return None
    return math.exp(target - slope)


def _last(curve: Callable[[float], float], start: float, small: float) -> Root:
    """log δ is nearly log(ε0 − ε) up to a constant."""
    return float_root(curve, start, _LONGEST_STEP, 1.0, small)


def shorten(value: Fraction, finer: float = 0.0) -> Fraction:
    """The largest multiple of 2^-40 (finer below 1, or by that many bits) that is not above a positive ``value``."""
    places = 40 + max(0, value.denominator.bit_length() - value.numerator.bit_length(), math.ceil(finer))
    return Fraction(math.floor(value * 2**places), 2**places)
