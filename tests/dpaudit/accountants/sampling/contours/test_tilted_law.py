"""Tilted laws on grids, on panels and at the nodes of a contour: every error bound contains the true error."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit.accountants.sampling.contours.nodes import ratios
from dpaudit.accountants.sampling.contours.panels import tilted_law
from dpaudit.accountants.sampling.contours.tilted_law import SHARE_ERROR, FloatGroup, discretisation, log_ratio, spacing
from dpaudit.accountants.sampling.groups import Direction, SampledGaussian
from dpaudit.claims.balls import lower, precision, upper


def moment(group: SampledGaussian, direction: Direction, z: complex, cut: float = 40.0) -> Any:
    """E e^{zL}, u up to the cut, to 25 digits."""
    with mpmath.workdps(30):
        q, inverse = mpmath.mpf(group.rate.numerator) / group.rate.denominator, 1 / mpmath.mpf(str(float(group.sigma)))

        def integrand(u: Any) -> Any:
            w = 1 - q + q * mpmath.exp(u * inverse - inverse**2 / 2)
            return mpmath.npdf(u) * w ** (1 + mpmath.mpc(z) if direction == "remove" else -mpmath.mpc(z))

        return mpmath.quad(integrand, [-20, *range(-16, math.ceil(cut), 4), cut])


GROUP = SampledGaussian("1/16", "1.5", 1)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("cut", [math.inf, 5.0])
def test_moments_and_their_ratios_are_enclosed(direction: Direction, cut: float) -> None:
    floats, c, step = FloatGroup.of(GROUP, cut), 2.0, 0.5
    law, discrete = tilted_law(floats, direction, c, 4 * step, 39.0)
    end = 40.0 if cut == math.inf else cut
    truth = moment(GROUP, direction, complex(c), end)
    with precision(96):
        ball = law.log_moment(discrete)
        assert lower(ball) <= Fraction(mpmath.nstr(mpmath.log(truth.real), 25)) <= upper(ball)
        assert upper(ball) - lower(ball) < Fraction(1, 10**10)
    nodes = ratios(law, step, 5, discrete)
    for k in (0, 1, 4):
        exact = complex(moment(GROUP, direction, complex(c, k * step), end) / truth)
        assert abs(complex(nodes.values[k]) - exact) <= nodes.errors[k] + 1e-16
        assert nodes.errors[k] < 1e-9


def test_the_logarithm_of_the_ratio_is_within_its_error() -> None:
    u = np.linspace(-9, 30, 79)
    value, error, share = log_ratio(FloatGroup.of(GROUP), u)
    with mpmath.workdps(40):
        for place, at in enumerate(u):
            grown = mpmath.exp(mpmath.mpf(float(at)) / mpmath.mpf("1.5") - mpmath.mpf(2) / 9)
            w = 1 + (grown - 1) / 16
            assert abs(mpmath.log(w) - mpmath.mpf(float(value[place]))) <= error[place]
            assert float(share[place]) == pytest.approx(float(grown / 16 / w), rel=1e-12)
    assert error.max() < 1e-13


def test_slopes_stay_within_their_error_also_where_nothing_is_left_of_the_records_outside() -> None:
    """1 − q of 10^-12 is no difference of floats; and p must be right where e^y is 10^-200."""
    for rate, sigma in (("0.999999999999", "0.5"), ("1e-4", "0.1"), ("0.3", "1")):
        group = SampledGaussian(rate, sigma, 1)
        u = np.linspace(-30, 30, 61)
        share = log_ratio(FloatGroup.of(group), u)[2]
        with mpmath.workdps(60):
            q, s = (mpmath.mpf(each.numerator) / each.denominator for each in (group.rate, group.sigma))
            for at, found in zip(u, share, strict=True):
                grown = q * mpmath.exp(mpmath.mpf(float(at)) / s - 1 / (2 * s * s))
                true = grown / (1 - q + grown)
                assert abs(mpmath.mpf(float(found)) / true - 1) <= SHARE_ERROR


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_the_discretisation_error_is_rounded_up(direction: Direction) -> None:
    """Against the same bound in 40 digits, on steps that make it large and small."""
    floats = FloatGroup.of(GROUP)
    for c, t, nats in ((0.5, 0.0, 5.0), (2.0, 10.0, 39.0), (100.0, 1000.0, 39.0)):
        eta = spacing(floats, direction, c, t, nats)
        with mpmath.workdps(40):
            bounds = []
            for theta in map(mpmath.mpf, map(float, np.linspace(0.05, 3.1, 40))):
                a = theta * mpmath.mpf("1.5")
                x = 2 * mpmath.pi * a / mpmath.mpf(eta)
                extra = -c * mpmath.log(mpmath.cos(theta / 2)) if direction == "add" else 0
                bounds.append(2 * mpmath.exp(a * a / 2 + t * theta - x + extra) / (1 - mpmath.exp(-x)))
            assert min(bounds) <= mpmath.mpf(discretisation(floats, direction, c, t, eta)) <= min(bounds) * mpmath.mpf("1.001")
