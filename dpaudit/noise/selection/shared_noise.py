"""P(all of several comparisons with one shared noisy number), exactly, for Laplace noise on whole numbers.

A shared Z, P(z) ∝ e^(−A|z|), and independent Z_j, P(k) ∝ e^(−a|k|): the probability that Z_j ≤ Z + k_j for some j and
Z_j > Z + k_j for the others is Σ_z P(z) Π_j P(Z_j ≤ z + k_j or not). Between the places −k_j, and 0, each factor is
1 − c r^(±z) or c r^(±z), r = e^-a: the product is a polynomial in r^±z, and the sum over z is one of geometric series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpaudit.noise.sampling.probability_bits import Ball, ball, precision

_ACCURATE = 80  # bits that a probability is asked for


@dataclass(frozen=True)
class Comparison:
    """Z_j ≤ Z + bound, or the opposite."""

    bound: int
    below: bool


def log_probability(shared: Fraction, own: Fraction, comparisons: Sequence[Comparison]) -> Ball:
    """log P of all comparisons: ``shared`` is the rate A of the shared noise, ``own`` the rate a of the others."""
    bits = 192 + 8 * len(comparisons)
    while True:
        with precision(bits):
            probability = _probability(shared, own, comparisons)
            if probability > 0 and probability.rel_accuracy_bits() >= _ACCURATE:
                return probability.log()
        bits *= 2


def _probability(shared: Fraction, own: Fraction, comparisons: Sequence[Comparison]) -> Ball:
    edges = sorted({0, *(-one.bound for one in comparisons)})  # from each on, one factor has another form
    ratio = ball(-own).exp()
    total = ball(0)
    for first, last in zip([None, *edges], [*(edge - 1 for edge in edges), None], strict=True):
        total += _between(first, last, shared, own, ratio, comparisons)
    t = ball(-shared).exp()
    return total * (1 - t) / (1 + t)


def _between(
    first: int | None, last: int | None, shared: Fraction, own: Fraction, ratio: Ball, comparisons: Sequence[Comparison]
) -> Ball:
    """Σ over first ≤ z ≤ last of e^(−A|z|) times all factors. Their product is y^power times a polynomial in y = r^side·z."""
    inside = first if first is not None else last
    assert inside is not None
    shift, product = 0, flint.arb_poly([1])
    for one in comparisons:
        after = first is not None and inside + one.bound >= 0  # P(K ≤ k) = 1 − r^(k+1)/(1+r) for k ≥ 0, r^-k/(1+r) for k < 0
        size = (ball(-own * (one.bound + 1)) if after else ball(own * one.bound)).exp() / (1 + ratio)
        if after == one.below:  # 1 − c r^z, or 1 − c r^-z
            product *= flint.arb_poly([1, -size] if after else [-size, 1])
            shift -= 0 if after else 1
        else:  # c r^z, or c r^-z
            product *= size
            shift += 1 if after else -1
    slope = shared if inside >= 0 and first is not None else -shared
    terms = zip(range(shift, shift + product.length()), product.coeffs(), strict=True)
    return sum((value * _geometric(own * power + slope, first, last) for power, value in terms), start=ball(0))


def _geometric(rate: Fraction, first: int | None, last: int | None) -> Ball:
    """Σ e^(−rate·z) over first ≤ z ≤ last; None: without end."""
    if first is None or last is None:
        end = last if first is None else first
        assert end is not None
        step = -abs(rate)  # it falls towards the open end, or there would be no sum
        return ball(-rate * end).exp() / -ball(step).expm1()
    if first > last:
        return ball(0)
    if not rate:
        return ball(last - first + 1)
    return ball(-rate * first).exp() * (ball(-rate * (last - first + 1)).expm1() / ball(-rate).expm1())
