"""How fast moments fall: never claimed to fall faster than quadrature says."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpaudit.accountants.sampling.contours.decay import Decay, largest_sine, least_sine
from dpaudit.accountants.sampling.contours.panels import tilted_law
from dpaudit.accountants.sampling.contours.plans import float_log_moments
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup
from dpaudit.accountants.sampling.groups import Direction, SampledGaussian
from dpaudit.claims.balls import precision


def fallen(group: SampledGaussian, direction: Direction, c: float, t: float) -> float:
    """|E e^{(c+it)L}|/E e^{cL} by the trapezoid rule on a fine grid."""
    q, sigma = float(group.rate), float(group.sigma)
    u = np.linspace(-14, 14 + (1 + c) / sigma, 20_001)
    log_w = np.log1p(q * np.expm1(u / sigma - 1 / (2 * sigma**2)))
    s, loss = (1 + c, log_w) if direction == "remove" else (-c, -log_w)
    weight = np.exp(s * log_w - u * u / 2)
    return abs(complex((weight * np.exp(1j * t * loss)).sum())) / float(weight.sum())


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("rate", "sigma", "c"), [("0.04", "1.5", 2.0), ("0.3", "0.7", 0.5), ("0.01", "1", 8.0)])
def test_a_bound_holds_on_every_point_of_its_interval(direction: Direction, rate: str, sigma: str, c: float) -> None:
    group = SampledGaussian(rate, sigma, 1)
    floats = FloatGroup.of(group)
    moment = float(float_log_moments(floats, direction, np.array([c]))[0])
    decay = Decay.of(floats, direction, c, (moment - 1e-10, moment + 1e-10))
    claimed = 0
    for low in (0.3, 1.0, 4.0, 20.0, 100.0):
        bound = float(decay.log_bounds(np.array([low]), np.array([1.5 * low]))[0])
        truth = max(fallen(group, direction, c, t) for t in np.linspace(low, 1.5 * low, 5))
        assert math.log(truth) <= bound + 1e-12
        claimed += bound < -1e-3
        assert math.log(truth) <= decay.log_tail(low) + 1e-12
    assert claimed  # a bound of nothing would hold everywhere


def test_sines_are_bounded_from_their_sides() -> None:
    x = np.concatenate([np.geomspace(1e-12, 0.02, 200), np.linspace(0.009, math.pi / 2, 500)])
    true = np.sin(x)
    assert (least_sine(x) <= true).all()
    assert (least_sine(x) >= true * (1 - 1e-9) - 1e-14).all()
    wide = np.linspace(0, 50, 1001)
    assert (largest_sine(wide) >= np.sin(wide)).all()
    assert (largest_sine(wide) <= np.sin(wide) + 1e-14).all()
    assert (largest_sine(np.array([1e9])) == 1).all()


def precise(group: SampledGaussian, direction: Direction, c: float, t: float) -> float:
    """The same in 40 digits: for noise so small that ln w does not move in floats where the weight is."""
    with mpmath.workdps(40):
        q, sigma = mpmath.mpf(group.rate.numerator) / group.rate.denominator, mpmath.mpf(float(group.sigma))
        s = 1 + c if direction == "remove" else -c

        def integrand(u: mpmath.mpf, z: mpmath.mpc) -> mpmath.mpc:
            log_w = mpmath.log1p(q * mpmath.expm1(u / sigma - 1 / (2 * sigma**2)))
            return mpmath.exp(s * log_w - u * u / 2 + z * (log_w if direction == "remove" else -log_w))

        step = mpmath.mpf(1) / 64
        grid = [step * k for k in range(-14 * 64, int((14 + (1 + c) / float(sigma)) * 64))]
        top = mpmath.fsum(integrand(u, mpmath.mpc(0, t)) for u in grid)
        return float(abs(top) / mpmath.fsum(integrand(u, mpmath.mpf(0)) for u in grid))


@pytest.mark.parametrize(
    ("rate", "sigma", "c", "t"), [("0.3", "0.2", 0.01, 1.0), ("0.01", "0.25", 0.1, 0.5), ("0.999999999", "0.5", 0.5, 1)]
)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_losses_that_hardly_move_claim_no_more_than_there_is(
    direction: Direction, rate: str, sigma: str, c: float, t: float
) -> None:
    group = SampledGaussian(rate, sigma, 1)
    floats = FloatGroup.of(group)
    with precision(128):
        law, discrete = tilted_law(floats, direction, c, 0.0, 40.0)
        ball = law.log_moment(discrete)
        decay = Decay.of(floats, direction, c, (float(ball.lower()) - 1e-12, float(ball.upper()) + 1e-12))
    assert 0 < decay.masses.sum() <= 1
    assert decay.falls(np.array([t]), np.array([t * 1.0001]))[0] <= (1 - precise(group, direction, c, t)) * (1 + 1e-6)
