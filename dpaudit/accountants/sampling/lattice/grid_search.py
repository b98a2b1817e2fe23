"""ε(δ) and δ(ε) of few sampled releases on a grid: 10 (q = .01, σ = 1) in 40 ms, where no contour ends in 4·10^7 terms.

Coarse first, then as fine as the width asks for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import flint

from dpaudit.accountants.numerics.roots import Ends, float_root, log, step_out
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw, grid_laws
from dpaudit.accountants.sampling.lattice.loss_sum import GridSum
from dpaudit.claims import float_down, float_up
from dpaudit.claims.balls import ball, precision

MOST_POINTS = 40_000
_COARSE = 500  # points up to ε at first
_WANTED = 5e-7  # relative width of ε
_MARGIN = 1e-11
_LOWEST = 700.0  # nats
_STRIDE, _SMALL = 8.0, 1e-7  # nats: the longest step of a search, and how near it comes before its last
_BITS = 96
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
    highest, c, unit, start = most, _TILT * max(1.0, -log(delta)) / most, _power_of_two(most / _COARSE), most
    ends = None
    for _ in range(8):
        above, below = _sums(groups, unit, highest, c)
        found = proven_ends(above, below, delta, start)
        high = float(found.upper)
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
        highest, start = shrunk, high
    if ends is None:
        raise ArithmeticError("the grid fails")
    return ends


def proven_ends(above: GridSum, below: GridSum | None, delta: Fraction, start: float) -> Ends:
    """(an ε at which δ(ε) is proven to exceed δ, or 0; one at which it is proven to meet δ), from sums on both sides."""
    meets, exceeds = float_down(delta), float_up(delta)
    if above.delta(0.0)[1] <= meets:
        return Ends(Fraction(0), Fraction(0))
    root = _root(above, meets, start, 1)
    top = step_out(lambda at: above.delta(at)[1] <= meets, root, root * _MARGIN)
    if top is None:
        raise ArithmeticError("no ε is proven to meet δ")
    bottom = None
    if below is not None:
        root = _root(below, exceeds, top, 0)
        bottom = step_out(lambda at: below.delta(at)[0] > exceeds, root, -root * _MARGIN)
    return Ends(Fraction(bottom or 0.0), Fraction(top))


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


def _root(law: GridSum, target: float, start: float, end: int) -> float:
    """Where one end of δ(ε) passes the target, from a start on; in nats, ε times the order, ln δ is nearly straight."""

    def fallen(nats: float) -> float:
        value = law.delta(max(0.0, nats / law.c))[end]
        return math.log(target / value) if value > 0 else _LOWEST

    return max(float_root(fallen, start * law.c, _STRIDE, slope=1 / _TILT, small=_SMALL).at, 0.0) / law.c


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
