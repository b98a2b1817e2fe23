"""The law that dominates every bounded-range release: its moments, its curve, and its decay."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from dpaudit.accountants.losses.laws.range_loss import RangeLoss
from dpaudit.accountants.losses.numerical import compose, composed_delta
from dpaudit.accountants.losses.parts import Part
from dpaudit.claims.balls import precision
from dpaudit.noise import Exponential

LAW = RangeLoss(Fraction(1, 2))


def density(s: np.ndarray) -> np.ndarray:
    return np.exp((0.5 + s) / 2) / (2 * math.expm1(0.5))


def test_moments_are_those_of_the_density() -> None:
    s, step = np.linspace(-0.5, 0.5, 100_001, retstep=True)
    for z in (0.5 + 0j, 2.0 + 3j, 7.0 - 40j):
        terms = density(s) * np.exp(z * (s - 0.5))
        expected = (terms.sum() - (terms[0] + terms[-1]) / 2) * step
        with precision(128):
            value = LAW.moment(flint.acb(z.real, z.imag))[0]
        assert complex(value) == pytest.approx(expected, rel=1e-6)
        assert np.exp(LAW.log_moment(np.array([z])))[0] == pytest.approx(expected, rel=1e-6)


def test_decay_is_a_lower_bound() -> None:
    for c in (0.2, 3.0, 50.0):
        low = np.array([0.0, 1.0, 10.0, 300.0])
        bound, share = LAW.decay(c, low, low + 1)
        inside = [np.linspace(a, a + 1, 50) for a in low]
        true = [float((LAW.log_moment(np.array([c + 0j])).real - LAW.log_moment(c + 1j * t).real).min()) for t in inside]
        assert (bound <= np.array(true) + 1e-9).all()
        assert share.tolist() == [1.0] * 4


def test_one_release_has_its_closed_form_and_no_lower_end() -> None:
    part = Part(Exponential(2, 1, True), 1)
    for s in (Fraction(0), Fraction(1, 4)):
        low, high = composed_delta([part], s)
        exact = (math.exp(0.25) - math.exp(float(s) / 2)) ** 2 / math.expm1(0.5)
        assert low == 0
        assert exact <= float(high) <= exact * (1 + 1e-3)


@pytest.mark.parametrize(("count", "epsilon", "figure"), [(10, "1/2", 3.813), (100, "1/10", 2.612), (1000, "1/10", 9.838)])
def test_published_figures_of_one_pair_for_all(count: int, epsilon: str, figure: float) -> None:
    part = Part(Exponential(1 / Fraction(epsilon), 1, True), 1, count)
    assert float(compose([part], Fraction(1, 10**6)).upper) == pytest.approx(figure, abs=6e-4)
