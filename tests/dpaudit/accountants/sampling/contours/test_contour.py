"""A contour's bound on the nodes that it leaves out, against the nodes themselves."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.sampling import SampledGaussian
from dpaudit.accountants.sampling.contours.contour import MOST_NODES, Composition, Contour
from dpaudit.accountants.sampling.contours.nodes import ratios
from dpaudit.accountants.sampling.contours.panels import tilted_law
from dpaudit.accountants.sampling.contours.plans import best_place, saddle_guess, scan
from dpaudit.accountants.sampling.contours.search import cancellation_limit, moments_of


def contour(rate: str, sigma: str, count: int, delta: str) -> Contour:
    composed = Composition((SampledGaussian(rate, sigma, count),), Fraction(0), "remove")
    log_delta = log(Fraction(delta))
    known = scan(moments_of(composed), lambda c, k: (k - log_delta) / c)
    place = best_place(known, saddle_guess(known, log_delta), log_delta, cancellation_limit(count))
    return Contour(composed, place)


@pytest.mark.parametrize(
    ("rate", "sigma", "count", "delta"),
    [("0.04", "1.5", 2250, "1e-5"), ("0.02", "1", 100, "1e-5"), ("0.01", "0.5", 1000, "1e-6"), ("0.01", "1", 1000, "1e-12")],
)
def test_nodes_that_are_left_out_add_less_than_is_said(rate: str, sigma: str, count: int, delta: str) -> None:
    curve = contour(rate, sigma, count, delta)
    taken, (c, h) = len(curve.t), (curve.place.c, curve.place.step)
    more = min(3 * taken, MOST_NODES)
    law, discrete = tilted_law(curve.composed.floats[0], "remove", c, h * more, 39.0)
    sizes = np.abs(ratios(law, h, more, discrete).values)[taken:] ** count
    t = h * np.arange(taken, more)
    assert float((2 * sizes / np.hypot(c, t) / np.hypot(c + 1, t)).sum()) <= curve.tail
    assert curve.tail <= 8 * math.exp(-20 - max(curve.place.cancelled, -10)) / (c * (c + 1))  # the twin: no more than is asked
