import cmath
import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from dpaudit.accountants.numerics.contour import SKIP, enclose, estimate, saddle
from dpaudit.accountants.shuffle.clone import CLONE, RESPONSE, sign_family
from dpaudit.accountants.shuffle.laplace.contour_law import BlanketLaw, EndLaw
from dpaudit.accountants.shuffle.laplace.lattice import lattice
from dpaudit.claims.balls import precision

BITS = 400
LAWS = {
    "clone": lambda: CLONE.enclosures(Fraction(4), 10**5, Fraction("0.1"))[0],
    "response": lambda: RESPONSE.enclosures(Fraction(1), 10**4, Fraction("0.04"))[0],
    "sides": lambda: sign_family(2**21).enclosures(Fraction(2), 10**5, Fraction("0.01"))[0],
    "fine lattice": lambda: BlanketLaw(lattice(Fraction(4), 2**21, BITS), 10**5, Fraction("0.1")),
    "fine lattice, others at an end": lambda: EndLaw(lattice(Fraction(1), 2**21, BITS, True), 10**4, Fraction("0.03")),
    "coarse lattice": lambda: BlanketLaw(lattice(Fraction(2), 6, BITS), 10**4, Fraction("0.1")).few_values(),
    "coarse lattice, others at an end": lambda: EndLaw(lattice(Fraction(2), 6, BITS, True), 10**4, Fraction("0.1")).few_values(),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_loss_bound_holds_at_random_points_of_random_intervals(name):
    """A node may be skipped only if −log|φ(c+it)/φ(c)| is at least the bound everywhere in the interval."""
    generator = np.random.default_rng(7)
    with precision(BITS):
        law = LAWS[name]()
        at = saddle(law.floats)
        tilt = law.tilt(at.c)
        peak = law.moment(flint.acb(at.c)).real
        useful = 0
        for _ in range(60):
            low = at.step * 10 ** generator.uniform(0, 3.5)
            high = low * (1 + 10 ** generator.uniform(-4, -0.5))
            if high >= 0.9 * tilt.reach or high * 60 > 2000 * at.step * 10**3:
                continue
            bound = tilt.loss(low, high)
            useful += bound * law.n >= SKIP
            for t in generator.uniform(low, high, 5):
                try:
                    value = law.moment(flint.acb(at.c, t))
                except ArithmeticError:
                    continue
                assert float((value.abs_lower() / peak).log().lower()) <= -bound * (1 - 1e-9) + 1e-15
        assert useful > 5


@pytest.mark.parametrize("name", LAWS)
def test_floats_agree_with_the_enclosure(name):
    with precision(BITS):
        law = LAWS[name]()
        low, high = enclose(law)
        assert 0 < low.lower() <= high.upper()
        assert estimate(law.floats) == pytest.approx(float(high.log()), abs=2e-3)


def test_moment_and_its_float_twin_agree_off_the_real_line():
    with precision(BITS):
        for make in LAWS.values():
            law = make()
            at = saddle(law.floats)
            z = at.c + 1j * at.step * np.arange(1, 20, 4)
            for point, value in zip(z, law.floats.log_moment(z), strict=True):
                enclosed = law.moment(flint.acb(point.real, point.imag))
                assert cmath.exp(value) == pytest.approx(complex(enclosed.real, enclosed.imag), rel=1e-9)


def test_any_step_gives_an_upper_bound_and_smoothing_too():
    """Bernoulli-like law with a known E[S_+]: n summands ±1 with equal chance, shifted by a negative mean."""
    with precision(BITS):
        (law,) = CLONE.enclosures(Fraction(1), 30, Fraction("0.4"))
        low, high = enclose(law)
    # brute force over the multinomial counts
    p, e = math.e, math.exp(0.4)
    scale = 2 * p / (1 + p)
    plus, minus, weight = (p - e) * scale, (1 - e * p) * scale, 1 / (2 * p)
    total = 0.0
    for a in range(31):
        for b in range(31 - a):
            ways = math.comb(30, a) * math.comb(30 - a, b)
            total += ways * weight ** (a + b) * (1 - 2 * weight) ** (30 - a - b) * max(0.0, a * plus + b * minus)
    assert float(low.lower()) <= total / 30 <= float(high.upper()) * (1 + 1e-14)
    assert float(high.upper()) / float(low.lower()) < 1.02  # few summands, and the smoothing ends a tail that never falls
