"""Mixtures of moved noise against quadrature, closed forms and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpaudit.accountants.pairs.shifted_noise import ShiftedNoise, mixture_pair
from dpaudit.accountants.sampling.closed_forms import one_release
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.claims import InvalidValue

ONE, ZERO = Fraction(1), Fraction(0)


def _quadrature(pair: ShiftedNoise, epsilon: float) -> float:
    """∫(p − e^ε q)_+ on a fine grid."""
    scale = float(pair.scale)
    x = np.linspace(-40 * scale - 5, 40 * scale + 5, 200_001)
    shape = (lambda u: np.exp(-u * u / 2) / math.sqrt(2 * math.pi)) if pair.law == "gaussian" else (lambda u: np.exp(-abs(u)) / 2)
    p, q = (sum(float(w) * shape((x - float(s)) / scale) / scale for w, s in side) for side in (pair.first, pair.second))
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0]))


@pytest.mark.parametrize("relation", ["remove", "add", "replace"])
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
@pytest.mark.parametrize("epsilon", ["-0.25", "0", "0.15", "0.6"])
def test_delta_encloses_the_integral(law: str, relation: str, epsilon: str) -> None:
    pair = ShiftedNoise.sampled(law, Fraction(3, 2), ONE, Fraction(2, 5), relation)  # type: ignore[arg-type]
    low, high = pair.delta(Fraction(epsilon))
    assert 0 <= high - low < Fraction(1, 10**20)
    assert float(high) == pytest.approx(_quadrature(pair, float(epsilon)), abs=2e-5)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_sampled_gaussian_release_has_its_closed_form(direction: str) -> None:
    group = SampledGaussian("0.1", "0.8")
    low, high = one_release(group, direction, Fraction(1, 20))  # type: ignore[arg-type]
    mine = ShiftedNoise.sampled("gaussian", group.sigma, ONE, group.rate, direction).delta(Fraction(1, 20))
    assert mine[0] <= high
    assert low <= mine[1]
    assert mine[1] - mine[0] < Fraction(1, 10**20)


def test_a_ratio_that_ends_below_leaves_nothing() -> None:
    assert ShiftedNoise.sampled("laplace", ONE, ONE, ONE, "remove").delta(ONE)[1] < Fraction(1, 10**40)
    assert ShiftedNoise.sampled("gaussian", ONE, ONE, Fraction(1, 5), "add").delta(ONE) == (0, 0)


def test_hit_rates_are_those_of_a_threshold() -> None:
    pair = ShiftedNoise.sampled("gaussian", ONE, ONE, ONE, "remove")
    low, high = pair.true_positive_rate(Fraction("1e-8"))
    exact = mpmath.ncdf(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf("1e-8") - 1) + 1)
    assert float(low) <= float(exact) * (1 + 1e-6)
    assert float(high) >= float(exact) * (1 - 1e-6)
    assert high - low < Fraction(1, 10**20)


def test_a_mixture_of_sizes_lies_between_its_sizes() -> None:
    mixed = mixture_pair(ONE, [ZERO, ONE, Fraction(2)], [Fraction(1, 5), Fraction(3, 5), Fraction(1, 5)], add=False)
    alone = [ShiftedNoise.sampled("gaussian", ONE, Fraction(size), Fraction(4, 5), "remove") for size in (1, 2)]
    values = [float(pair.delta(ONE)[1]) for pair in (alone[0], mixed, alone[1])]
    assert values == sorted(values)
    assert values[0] < values[2]


def test_moves_and_weights_are_checked() -> None:
    with pytest.raises(InvalidValue):
        ShiftedNoise("gaussian", ONE, ((ONE, -ONE),), ((ONE, ZERO),))
    with pytest.raises(InvalidValue):
        ShiftedNoise("gaussian", ONE, ((Fraction(1, 2), ONE),), ((ONE, ZERO),))
