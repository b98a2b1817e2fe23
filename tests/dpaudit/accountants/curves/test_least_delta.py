"""δ at ε: never below the truth, and only what holds where parameters may have been chosen on the way."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import norm

import dpaudit as dp
from dpaudit.accountants.curves.least_delta import least_delta
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve

STEP = 2**20


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle & Wang 2018, Thm 8."""
    return float(norm.cdf(mu / 2 - epsilon / mu) - 2.718281828459045**epsilon * norm.cdf(-mu / 2 - epsilon / mu))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.5])
def test_gaussian_noise_has_its_closed_form(epsilon: float) -> None:
    truth = gaussian_delta(0.5, epsilon)
    group: Counter[AnyPart] = Counter({Part(dp.Gaussian(4), STEP): 4})
    fixed = float(least_delta([group], Fraction(epsilon), fixed=True))
    assert truth * (1 - 1e-9) <= fixed <= truth * (1 + 1e-6)
    assert float(least_delta([group], Fraction(epsilon), fixed=False)) > truth * 1.1  # Σρ alone


def test_pure_and_stated_parts_have_a_delta_of_their_own() -> None:
    group: Counter[AnyPart] = Counter({Part(dp.Laplace(2), STEP): 2, Known(Fraction(1), Fraction(1, 1000)): 3})
    assert least_delta([group], "4", fixed=False) == Fraction(3, 1000)
    assert least_delta([group], "4", fixed=True) <= Fraction(3, 1000)
    assert least_delta(
        [Counter({LossPart(((Fraction(1), Fraction(9, 10)),), Fraction(1, 10)): 1})], "1", fixed=False
    ) == Fraction(1, 10)


def test_moments_serve_where_no_law_is_known() -> None:
    group: Counter[AnyPart] = Counter({Concentrated(Fraction(1, 32)): 4})
    found = float(least_delta([group], "1", fixed=True))
    assert gaussian_delta(0.5, 1.0) < found < 10 * gaussian_delta(0.5, 1.0)
    curve: Counter[AnyPart] = Counter({RenyiCurve(((Fraction(8), Fraction(1)),)): 1})
    seven = math.exp(7 * 1 - 7 * 4 + 7 * math.log(7) - 8 * math.log(8))  # K(7) = 7 at order 8; e^{K + κ − cε}
    assert float(least_delta([curve], "4", fixed=True)) == pytest.approx(seven, rel=1e-9)


def test_the_record_that_pays_most_counts_and_nothing_costs_nothing() -> None:
    cheap: Counter[AnyPart] = Counter({Part(dp.Gaussian(9), STEP): 1})
    dear: Counter[AnyPart] = Counter({Part(dp.Gaussian(2), STEP): 1})
    assert least_delta([cheap, dear], "1", fixed=True) == least_delta([dear], "1", fixed=True)
    assert least_delta([Counter()], "0", fixed=True) == 0
