"""Certified ε(δ), δ(ε) and moments of releases from Poisson samples, for adding and for removing one record.

Valid where rates and noise were fixed in advance: each release has a dominating pair for each direction, and those compose,
adaptive queries included (Zhu, Dong, Wang 2022, Thm 10). The answer is the larger of the two directions' compositions, never
the composition of the larger curve: neither direction dominates in general (Lebeda, Regehr, Kamath, Steinke 2024).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accountants.losses.gaussian_sum import gaussian_sum_delta, gaussian_sum_epsilon
from dpaudit.accountants.numerics.roots import Ends
from dpaudit.accountants.sampling import closed_forms
from dpaudit.accountants.sampling.contours.contour import BITS, MOST_PRODUCTS, PATIENT, Composition
from dpaudit.accountants.sampling.contours.search import (
    GOOD,
    contour_delta,
    contour_epsilon,
    moment_bound,
    moment_delta,
    quick_bound,
)
from dpaudit.accountants.sampling.contours.tilted_law import short
from dpaudit.accountants.sampling.groups import DIRECTIONS, Direction, SampledGaussian, canonical, plain_part, sampled_part, steps
from dpaudit.accountants.sampling.lattice.grid_search import added_delta, added_epsilon, grid_delta, grid_epsilon
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, exact_epsilon, float_down, float_up, positive
from dpaudit.claims.balls import ball, decimal, precision, upper

METHOD = "Poisson-subsampled Gaussian, certified contour"
_DIGITS = 15
_FEW, _VERY_FEW = 600, 12  # releases up to which a grid of losses is tried, and tried first
_GOOD_DELTA = 1e-6
_CUT = 10**10  # what is so many times less likely than δ is left out
_COARSE_CUTS = (3 * 10**6, 3 * 10**5)  # cost up to 3·10^-6 of δ, where digits that cancel cost more: ε is 4 to 200 times narrower
_RARE = Fraction(1, 2000)  # rates below are cut at once: high orders are ruled by what never happens


def sampled_epsilon(
    groups: Iterable[SampledGaussian], delta: Number, others: Sequence[tuple[Any, int]] = (), plain: Fraction = Fraction(0)
) -> Enclosure:
    """Enclose the least ε with δ(ε) ≤ δ: proven to meet δ at ``upper``, and not to below ``lower``.

    ``others``: losses of other mechanisms with their counts, symmetric in P and Q, as ``losses.privacy_loss`` has them;
    ``plain``: μ² of Gaussian releases without sampling, added to that of groups with rate 1.
    Raises ``InvalidValue`` where no finite ε exists (δ = 0).
    """
    failure, composed = exact_delta(delta), canonical(groups)
    if not composed and not others and not plain:
        return Enclosure(Fraction(0), Fraction(0), True, METHOD)
    if not failure:
        raise InvalidValue("delta", delta, "above 0: Gaussian noise has no finite ε at 0")
    remove = _epsilon(_composition(composed, "remove", others, plain), failure)
    add = _epsilon(_composition(composed, "add", others, plain), failure, enough=remove.upper)
    low, high = max(remove.lower, add.lower), max(remove.upper, add.upper)
    high = decimal(high, _DIGITS, up=True)
    return Enclosure(min(decimal(low, _DIGITS, up=False), high), high, True, METHOD)


def sampled_delta(
    groups: Iterable[SampledGaussian], epsilon: Number, others: Sequence[tuple[Any, int]] = (), plain: Fraction = Fraction(0)
) -> Enclosure:
    """Enclose δ(ε), the larger of both directions."""
    level, composed = exact_epsilon(epsilon), canonical(groups)
    if not composed and not others and not plain:
        return Enclosure(Fraction(0), Fraction(0), True, METHOD)
    remove = _delta(_composition(composed, "remove", others, plain), level)
    add = _delta(_composition(composed, "add", others, plain), level, enough=remove[0])
    low, high = max(remove[0], add[0]), max(remove[1], add[1])
    return Enclosure(min(low, high), high, True, METHOD)


def sampled_moment(groups: Iterable[SampledGaussian], order: Number) -> Fraction:
    """An upper bound on K(c) = ln E e^{cL} of all releases together at the order c > 0: the larger of both directions'.

    At one order fixed in advance these may be added up while rates and noise depend on what was released (Feldman & Zrnic 2021);
    then ε = (K + c ln c − (1+c) ln(1+c) − ln δ)/c. Rounded up to a c with 20 bits, where K/c is larger.
    """
    c = positive(order, "order")
    if not Fraction(1, 2**20) <= c <= 10**6:
        raise InvalidValue("order", order, "from 2^-20 to 10^6")
    near = short(float(c))
    rounded = near if Fraction(near) >= c else short(near * (1 + 2.0**-19))
    composed, bounds = canonical(groups), [Fraction(0)]
    with precision(BITS):
        for direction in DIRECTIONS:
            bounds.append(upper(_composition(composed, direction, (), Fraction(0)).log_moment(rounded)))
    # K is convex with K(0) = 0, so K(c) ≤ K(c') c/c' for c ≤ c'
    return max(bounds) * c / Fraction(rounded)


def _composition(
    groups: Sequence[SampledGaussian], direction: Direction, others: Sequence[tuple[Any, int]], plain: Fraction
) -> Composition:
    return Composition(sampled_part(groups), plain_part(groups) + plain, direction, tuple(others))


def _closed(composed: Composition) -> Callable[[Fraction], tuple[Fraction, Fraction]] | None:
    """δ(ε) in closed form, where there is one."""
    if composed.others:
        return None
    if not composed.groups:
        return lambda epsilon: gaussian_sum_delta(composed.mu_squared, epsilon)
    if steps(composed.groups) == 1 and not composed.mu_squared:
        return lambda epsilon: closed_forms.one_release(composed.groups[0], composed.direction, epsilon)
    return None


def _epsilon(composed: Composition, delta: Fraction, enough: Fraction | None = None) -> Ends:
    """Enclose ε of one direction; an upper end that is at most ``enough`` need not be improved."""
    if not composed.groups and not composed.others:
        return Ends(*gaussian_sum_epsilon(composed.mu_squared, delta))
    curve = _closed(composed)
    if curve is not None:
        return closed_forms.least_epsilon(curve, delta)
    attempts = _attempts(composed, delta)
    if enough is None and not _on_grid_first(composed):
        with suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
            first = attempts.pop(0)(Ends(Fraction(0), Fraction(0)))
            if first.width <= GOOD:
                return first
    elif enough:
        with suppress(ArithmeticError, ValueError):
            quick = quick_bound(composed, delta, enough)
            if quick <= enough:
                return Ends(Fraction(0), quick)
    ends = Ends(Fraction(0), _simple_bound(composed, delta))
    if enough is not None and ends.upper <= enough:
        return ends
    for attempt in attempts:
        try:
            with np.errstate(all="ignore"):
                found = attempt(ends)
        except (ArithmeticError, ValueError):  # the latter: a logarithm of nothing, far from where floats are of use
            continue
        ends = Ends(max(ends.lower, found.lower), min(ends.upper, found.upper))
        if ends.width <= GOOD or (enough is not None and ends.upper <= enough):
            break
    return ends


def _simple_bound(composed: Composition, delta: Fraction) -> Fraction:
    """ε by one moment, or the largest loss there is."""
    largest, most = _largest_loss(composed), moment_bound(composed, delta)
    return most if largest is None else min(most, largest)


def _largest_loss(composed: Composition) -> Fraction | None:
    """For add, L = −ln w < −ln(1−q): no more than the sum of these, rounded up; None where something has no largest loss."""
    if composed.direction == "remove" or composed.mu_squared or composed.others:
        return None
    with precision(BITS):
        return upper(sum((-group.count * (-ball(group.rate)).log1p() for group in composed.groups), start=ball(0)))


def _attempts(composed: Composition, delta: Fraction) -> list[Callable[[Ends], Ends]]:
    """Ways to enclose ε, cheap ones first; the grid alone needs to know an upper end."""
    attempts: list[Callable[[Ends], Ends]] = [lambda _: contour_epsilon(composed, delta, MOST_PRODUCTS)]
    if not composed.groups:
        return attempts
    attempts.append(lambda _: contour_epsilon(composed.with_cuts(delta / _CUT), delta, MOST_PRODUCTS))
    if max(group.rate for group in composed.groups) < _RARE:
        attempts.reverse()
    if _has_grid(composed):
        by_grid = grid_epsilon if composed.direction == "remove" else added_epsilon
        place = 0 if _on_grid_first(composed) else len(attempts)
        attempts.insert(place, lambda known: by_grid(composed.groups, delta, float(known.upper)))
    for mass in (delta / cut for cut in (*_COARSE_CUTS, _CUT)):
        attempts.append(lambda _, mass=mass: contour_epsilon(composed.with_cuts(mass), delta, PATIENT))  # type: ignore[misc]
    return attempts


def _has_grid(composed: Composition) -> bool:
    return 0 < steps(composed.groups) <= _FEW and not composed.mu_squared and not composed.others


def _on_grid_first(composed: Composition) -> bool:
    return _has_grid(composed) and steps(composed.groups) <= _VERY_FEW


def _delta(composed: Composition, epsilon: Fraction, enough: Fraction = Fraction(0)) -> tuple[Fraction, Fraction]:
    """Enclose δ(ε) of one direction; an upper end that is at most ``enough`` need not be improved."""
    curve = _closed(composed)
    if curve is not None:
        return curve(epsilon)
    largest = _largest_loss(composed)
    if largest is not None and epsilon >= largest:
        return Fraction(0), Fraction(0)
    below, above = float_down(epsilon), float_up(epsilon)  # δ falls: its upper end at the smaller, its lower at the larger ε
    low, high = Fraction(0), moment_delta(composed, epsilon)
    if high <= enough:
        return low, high
    for attempt in _delta_attempts(composed):
        try:
            with np.errstate(all="ignore"):
                first = attempt(below)
                second = first if above == below else attempt(above)
        except (ArithmeticError, ValueError):
            continue
        low, high = max(low, second[0]), min(high, first[1])
        if high - low <= _GOOD_DELTA * high:
            break
    return min(low, high), high


def _delta_attempts(composed: Composition) -> list[Callable[[float], tuple[Fraction, Fraction]]]:
    attempts: list[Callable[[float], tuple[Fraction, Fraction]]] = [lambda at: contour_delta(composed, at, None)]
    if composed.groups:
        attempts.append(lambda at: contour_delta(composed, at, _CUT))
        few = _has_grid(composed)
        if few and composed.direction == "remove":
            attempts.append(lambda at: grid_delta(composed.groups, at, 10 / max(at, 1e-3)))
        elif few:
            attempts.append(lambda at: added_delta(composed.groups, at))
    return attempts
