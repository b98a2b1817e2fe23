from fractions import Fraction

import mpmath
import pytest

from dpaudit.accountants.sampling import SampledGaussian
from dpaudit.accountants.sampling.closed_forms import one_release


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("q", "sigma", "epsilon"), [("0.1", "1", "0.5"), ("0.01", "0.7", "0.003"), ("0.5", "2", "0.3")])
def test_one_release_agrees_with_quadrature(direction, q, sigma, epsilon):
    mpmath.mp.dps = 30
    rate, s, e = mpmath.mpf(q), mpmath.mpf(sigma), mpmath.mpf(epsilon)

    def ratio(u):
        return 1 - rate + rate * mpmath.exp(u / s - 1 / (2 * s * s))

    def gain(u):
        w = ratio(u)
        p, other = (w, 1) if direction == "remove" else (1, w)
        return mpmath.npdf(u) * max(0, p - mpmath.exp(e) * other)

    a = mpmath.exp(e) if direction == "remove" else mpmath.exp(-e)
    kink = s * mpmath.log((a - 1 + rate) / rate) + 1 / (2 * s) if a > 1 - rate else mpmath.mpf(0)
    exact = mpmath.quad(gain, [-20, -5, kink, kink + 5, 25])
    mpmath.mp.dps = 15
    low, high = one_release(SampledGaussian(q, sigma), direction, Fraction(epsilon))
    assert float(low) <= float(exact) * (1 + 1e-12) + 1e-25
    assert float(high) >= float(exact) * (1 - 1e-12)
    assert high - low <= Fraction(1, 10**30)
