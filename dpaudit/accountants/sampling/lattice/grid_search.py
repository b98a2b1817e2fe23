"""ε(δ) and δ(ε) of few sampled releases from laws on a grid of losses: coarse first, then as fine as the width asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import flint

from dpaudit.accountants.sampling.contours.search import Ends
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.accountants.sampling.lattice.grid_sum import GridSum
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw, grid_laws
from dpaudit.claims import float_down, float_up
from dpaudit.claims.balls import ball, precision

MOST_POINTS = 40_000
_COARSE = 500  # points up to ε at first
_WANTED = 5e-7  # relative width of ε
_MARGIN = 1e-11
_LOWEST = 700.0  # nats
_BITS = 96
_APART = 1e-3  # of a bracket: a secant stays away from its ends, so that both close in
_TILT = 0.7  # of the slope of ln δ: more costs range, less digits

Groups = Sequence[SampledGaussian]


@lru_cache(maxsize=8)
def _laws(group: SampledGaussian, unit: float, last: int) -> tuple[GridLaw, GridLaw]:
    return grid_laws(group, unit, last)


def _sums(groups: Groups, unit: float, epsilon: float, c: float) -> tuple[GridSum, GridSum | None]:
    """(above, below) for every ε up to this one; nothing below where the grid is too coarse for it."""
    least = sum(group.count * (math.floor(math.log1p(-float(group.rate)) / unit) - 1) for group in groups)
    last = math.ceil(epsilon / unit) - least + 2
    if last * len(groups) > MOST_POINTS:
        raise ArithmeticError("too many points on the grid")
    pairs = [(_laws(group, unit, last), group.count) for group in groups]
    length = 1 << math.ceil(math.log2(2.5 * (last - least)))
    above, below = ([(pair[side], count) for pair, count in pairs] for side in (0, 1))
    hopeless = any(not law.masses.any() for law, _ in below)
    return GridSum(above, unit, c, length), None if hopeless else GridSum(below, unit, c, length)


def grid_epsilon(groups: Groups, delta: Fraction, most: float) -> Ends:
    """The least ε with δ(ε) ≤ δ, known to be at most ``most``; for the direction remove."""
    target = float_down(delta)
    highest, c, unit = most, _TILT * max(1.0, -math.log(target)) / most, _power_of_two(most / _COARSE)
    ends = None
    for _ in range(8):
        above, below = _sums(groups, unit, highest, c)
        high = _root(above, target, highest, 1)
        top = high * (1 + _MARGIN)
        if above.delta(top)[1] > target:
            raise ArithmeticError("no ε is proven to meet δ")
        found = Ends(Fraction(_proven_below(below, float_up(delta), highest)), Fraction(top))
        ends = found if ends is None else Ends(max(ends.lower, found.lower), min(ends.upper, found.upper))
        if ends.width <= _WANTED or not ends.upper:
            break
        c = min(_TILT * _slope(above, high), 600 / highest)
        finer = unit * (0.25 if found.width > 0.1 else min(0.5, math.sqrt(0.5 * _WANTED / found.width)))
        shrunk = high * 1.01 + 2 * unit
        count = shrunk / finer
        unit = _power_of_two(finer if count < MOST_POINTS / 2 else shrunk / (MOST_POINTS / 2.2))
        if highest < high * 1.1 and unit >= above.unit:
            break
        highest = shrunk
    if ends is None:
        raise ArithmeticError("the grid fails")
    return ends


def _proven_below(below: GridSum | None, least: float, most: float) -> float:
    """An ε at which δ(ε) is proven to exceed ``least``; 0 if there is none."""
    if below is None:
        return 0.0
    low = _root(below, least, most, 0) * (1 - _MARGIN)
    return low if low > 0 and below.delta(low)[0] > least else 0.0


def grid_delta(groups: Groups, epsilon: float, c: float) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε); for the direction remove."""
    unit = _power_of_two(max(epsilon, 1e-6) / _COARSE)
    low, high = 0.0, 1.0
    for _ in range(6):
        above, below = _sums(groups, unit, epsilon, c)
        high = min(high, above.delta(epsilon)[1])
        low = low if below is None else max(low, below.delta(epsilon)[0])
        if high - low <= 1e-6 * high or unit * MOST_POINTS < 4 * epsilon:
            break
        unit, c = unit / 2, min(_TILT * _slope(above, epsilon), 600 / max(epsilon, 1e-300))
    return Fraction(low), Fraction(high)


def _power_of_two(unit: float) -> float:
    """At most ``unit``, with few bits."""
    mantissa, exponent = math.frexp(unit)
    return math.ldexp(math.floor(mantissa * 64) / 64, exponent)


def _root(law: GridSum, target: float, most: float, end: int) -> float:
    """Where the end of δ(ε) passes the target: secants on its logarithm, kept in a bracket (Illinois), to 12 digits."""
    if law.delta(0.0)[end] <= target:
        return 0.0

    def excess(x: float) -> float:
        value = law.delta(x)[end]
        return math.log(value / target) if value > 0 else -_LOWEST

    low, high = 0.0, most
    left, right = min(_LOWEST, excess(low)), excess(high)
    if right > 0:
        return most
    for _ in range(200):
        middle = (low * -right + high * left) / (left - right) if left > 0 > right else (low + high) / 2
        middle = min(max(middle, low + _APART * (high - low)), high - _APART * (high - low))
        value = excess(middle)
        if value > 0:
            low, left, right = middle, value, right / 2
        else:
            high, right, left = middle, value, left / 2
        if high - low <= 1e-12 * high:
            break
    return high if end == 1 else low


def _slope(law: GridSum, epsilon: float) -> float:
    """−d ln δ/dε, roughly."""
    step = max(4 * law.unit, 1e-4 * epsilon)
    first, second = law.delta(max(0.0, epsilon - step))[1], law.delta(epsilon)[1]
    return max(law.c / 4, math.log(first / second) / min(step, epsilon)) if first > second > 0 and epsilon else law.c


def added_epsilon(groups: Groups, delta: Fraction, most: float) -> Ends:
    """The same for the direction add, known to be at most ``most``, from the curve of remove.

    δ of (Q, P) at ε is 1 − e^ε(1 − δ of (P, Q) at −ε), of compositions too. Accurate to about 10^-12 in δ, not relatively.
    """
    targets = float_up(delta), float_down(delta)  # what δ must exceed below the lower end, and meet at the upper
    sums = _sums(groups, _power_of_two(most / (4 * _COARSE)), most, 1 / most)
    if _turned(sums, 0.0)[1] <= targets[1]:
        return Ends(Fraction(0), Fraction(0))
    ends = [0.0, most]
    for end in (0, 1):
        low, high = 0.0, most
        while high - low > 1e-10 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if _turned(sums, middle)[end] > targets[end] else (low, middle)
        ends[end] = low if end == 0 else high
    return Ends(Fraction(min(ends)), Fraction(ends[1]))


def added_delta(groups: Groups, epsilon: float) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε) for the direction add, as above."""
    scale = max(epsilon, sum(-group.count * math.log1p(-float(group.rate)) for group in groups))
    low, high = _turned(_sums(groups, _power_of_two(scale / (4 * _COARSE)), scale, 1 / scale), epsilon)
    return Fraction(low), Fraction(high)


def _turned(sums: tuple[GridSum, GridSum | None], epsilon: float) -> tuple[float, float]:
    above, below = sums
    with precision(_BITS):
        grown = ball(Fraction(epsilon)).exp()
        high = 1 - grown * (1 - flint.arb(above.delta(-epsilon)[1]))
        low = flint.arb(0) if below is None else 1 - grown * (1 - flint.arb(below.delta(-epsilon)[0]))
        ends = math.nextafter(float(low.lower()), -math.inf), math.nextafter(float(high.upper()), math.inf)
    return max(0.0, ends[0]), min(1.0, max(0.0, ends[1]))
