"""Cuts: what lies beyond them is counted, and no more. The rule on panels itself is held to quadrature in test_tilted_law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accountants.sampling.contours import panels
from dpaudit.accountants.sampling.contours.panels import beyond, cut_for
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup
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


@pytest.mark.parametrize(("rate", "sigma"), [("0.01", "1"), ("0.3", "0.5"), ("0.2", "2"), ("0.001", "0.3")])
def test_no_point_of_an_ellipse_turns_further_than_is_said(rate: str, sigma: str) -> None:
    """Beyond a quarter turn the largest argument is not at the full height: there w may turn back."""
    group = FloatGroup.of(SampledGaussian(rate, sigma, 1))
    turned_back = False
    for height in (0.7, 1.6, 2.3):
        radius = height / panels._HIGH / group.inverse
        for right in np.linspace(-3, 8, 23):
            x, theta = np.meshgrid(np.linspace(right - 5, right, 40), np.linspace(0, height, 400))
            w = group.rest + group.q * np.exp(x * group.inverse - group.half + 1j * theta)
            said = panels._argument(group, float(right), radius)
            assert float(np.angle(w).max()) <= said * (1 + 1e-12)
            turned_back |= float(np.angle(w[-1]).max()) < 0.99 * said
    assert turned_back
