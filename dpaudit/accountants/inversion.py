"""From δ(ε), a curve for every ε0, to the least ε and to the largest ε0 that meet δ.

log(log δ(0) − log δ(ε)) is nearly a straight line in log ε, and log(−log δ) in log(ε0 − ε): secants on these scales
need few steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Protocol

from dpaudit.accountants.roots import Root, certified_ends, float_root
from dpaudit.accountants.search import log
from dpaudit.balls import decimal

_NEAR = 1e-9  # ε and ε0 are not told apart below this
_FAR = Fraction(1, 50)  # how far the two ends of an enclosure may be apart before an attack is tried
_LONGEST_STEP = 3.0
_FARTHEST = 30.0  # log(ε0 − ε): no report needs more


class Family(Protocol):
    """A shuffle bound or an attack: δ(ε) for every ε0, certified and estimated."""

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]: ...

    def estimate(self, epsilon0: float, n: int, epsilon: float) -> float: ...

    def hiding(self, epsilon0: float, n: int) -> float: ...  # the log of the expected number of reports that hide the target


def estimated_epsilon(family: Family, epsilon0: float, n: int, log_delta: float) -> float:
    """The least ε that meets δ, in floats: uncertified."""
    first = family.estimate(epsilon0, n, 0.0)
    if first <= log_delta:
        return 0.0
    if family.estimate(epsilon0, n, epsilon0 * (1 - _NEAR)) > log_delta:
        return epsilon0
    return _epsilon(epsilon0, _root_of_epsilon(family, epsilon0, n, log_delta, first).at)


def estimated_epsilon0(family: Family, epsilon: float, n: int, log_delta: float) -> float:
    """The largest ε0 that meets δ, in floats: uncertified."""
    if family.estimate(epsilon * (1 + _NEAR), n, epsilon) > log_delta:
        return epsilon
    return epsilon + math.exp(_root_of_epsilon0(family, epsilon, n, log_delta).at)


def least_epsilon(family: Family, epsilon0: Fraction, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the least ε with δ(ε) ≤ δ: proven to meet δ at upper, and not to meet it at lower."""
    return _least_epsilon(family, epsilon0, n, delta, both=True)


def epsilon_refuted(family: Family, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """An ε at which δ(ε) is proven to exceed δ, near the largest; 0 if there is none."""
    return _least_epsilon(family, epsilon0, n, delta, both=False)[0]


def _least_epsilon(family: Family, epsilon0: Fraction, n: int, delta: Fraction, *, both: bool) -> tuple[Fraction, Fraction]:
    local, target = float(epsilon0), log(delta)

    def curve(x: Fraction) -> tuple[Fraction, Fraction]:
        return family.delta(epsilon0, n, x, delta)

    first = family.estimate(local, n, 0.0)
    if first < target + 0.1 and curve(Fraction(0))[1] <= delta:
        return Fraction(0), Fraction(0)
    almost = epsilon0 * (1 - Fraction(_NEAR))
    if family.estimate(local, n, local * (1 - _NEAR)) > target:
        return (decimal(almost, 15, up=False) if curve(almost)[0] > delta else Fraction(0)), epsilon0
    root = _root_of_epsilon(family, local, n, target, max(first, target + 1e-3))
    safe, unsafe = certified_ends(curve, lambda t: min(almost, Fraction(_epsilon(local, t))), root, delta, both=both)
    low = Fraction(0) if unsafe is None else decimal(unsafe, 15, up=False)
    return low, epsilon0 if safe is None else min(epsilon0, decimal(safe, 15, up=True))


def largest_epsilon0(
    family: Family, epsilon: Fraction, n: int, delta: Fraction, attack: Callable[[Fraction, int, Fraction], Fraction]
) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the largest ε0 with δ(ε) ≤ δ: proven to meet δ at lower, and not to meet it at upper.

    The lower end is a short fraction. Where the curve's enclosure is too wide for an upper end, the attack gives one: an ε that
    n reports with ε0 do not keep at δ.
    """
    near = epsilon * (1 + Fraction(_NEAR))

    def curve(x: Fraction) -> tuple[Fraction, Fraction]:
        return family.delta(x, n, epsilon, delta)

    if family.estimate(float(near), n, float(epsilon)) > log(delta) and curve(near)[0] > delta:
        return epsilon, near
    root = _root_of_epsilon0(family, float(epsilon), n, log(delta))
    safe, unsafe = certified_ends(
        curve, lambda t: shorten(epsilon + Fraction(math.exp(min(t, _FARTHEST))), -t / math.log(2)), root, delta
    )
    low = epsilon if safe is None else max(safe, epsilon)
    if unsafe is None or unsafe > low * (1 + _FAR):
        refuted = _first_refuted(lambda x: attack(x, n, delta) > epsilon, low)
        unsafe = refuted if unsafe is None else min(unsafe, refuted)
    return low, unsafe


def _first_refuted(refuted: Callable[[Fraction], bool], low: Fraction) -> Fraction:
    """Where an attack begins to succeed, to about 1 %: doubling, then halving."""
    distance = low / 64
    while not refuted(low + distance):
        distance *= 2
    high, below = low + distance, low + distance / 2
    while high - below > high / 100:
        middle = (high + below) / 2
        below, high = (below, middle) if refuted(middle) else (middle, high)
    return high


def _epsilon(epsilon0: float, t: float) -> float:
    return epsilon0 / (1 + math.exp(min(-t, 700.0)))


def _root_of_epsilon(family: Family, epsilon0: float, n: int, target: float, first: float) -> Root:
    """In t = log(ε/(ε0−ε)); the slope is that of log δ."""

    def rise(t: float) -> float:
        fallen = first - family.estimate(epsilon0, n, _epsilon(epsilon0, t))
        return math.log(max(fallen, 1e-12)) - math.log(first - target)

    gap = _lonely_gap(family, epsilon0, n, target)
    start = math.log(3) - max(0.0, math.log(n) - epsilon0) / 2 if gap is None else math.log(max(epsilon0 / gap - 1, 1.0))
    found = float_root(rise, start, _LONGEST_STEP)
    return Root(found.at, -found.slope * (first - target))


def _root_of_epsilon0(family: Family, epsilon: float, n: int, target: float) -> Root:
    """In t = log(ε0−ε); the slope is that of log δ."""

    def rise(t: float) -> float:
        depth = -family.estimate(epsilon + math.exp(t), n, epsilon)
        return math.log(-target) - (math.log(max(depth, 1e-12)) if depth < math.inf else 700.0)

    gap = _lonely_gap(family, epsilon, n, target)
    found = float_root(rise, math.log(max(1.0, math.log(n) / 2) if gap is None else gap), _LONGEST_STEP)
    return Root(found.at, -found.slope * target)


def _lonely_gap(family: Family, epsilon0: float, n: int, target: float) -> float | None:
    """About ε0 − ε where few hide the target: δ is near (ε0 − ε)/2 times the chance that nobody does. None elsewhere."""
    hiding = family.hiding(epsilon0, n)
    log_gap = math.log(2) + target + math.exp(min(hiding, 20.0))
    return math.exp(log_gap) if hiding < 4 and log_gap < math.log(min(1.0, epsilon0) / 4) else None


def shorten(value: Fraction, finer: float = 0.0) -> Fraction:
    """The largest multiple of 2^-40 (finer below 1, or by that many bits) that is not above a positive ``value``."""
    places = 40 + max(0, value.denominator.bit_length() - value.numerator.bit_length(), math.ceil(finer))
    return Fraction(math.floor(value * 2**places), 2**places)
