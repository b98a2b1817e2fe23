"""Cuts: what lies beyond them is counted, and no more. The rule on panels itself is held to quadrature in test_tilted_law."""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accountants.sampling.contours.panels import beyond, cut_for
from dpaudit.accountants.sampling.groups import DIRECTIONS, SampledGaussian


def test_a_cut_leaves_out_no_more_than_it_says() -> None:
    group = SampledGaussian("0.01", "1", 1000)
    for direction in DIRECTIONS:
        cut = cut_for(group, direction, Fraction(1, 10**9))
        tail = math.erfc(cut / math.sqrt(2)) / 2
        moved = math.erfc((cut - 1) / math.sqrt(2)) / 2
        truth = 1000 * (0.99 * tail + 0.01 * moved if direction == "remove" else tail)
        assert truth * (1 - 1e-9) <= float(beyond(group, direction, cut)) <= 1e-9
        assert float(beyond(group, direction, cut - 1 / 8)) > 1e-9
