"""Comparisons with one shared noisy number, against sums in floats."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpaudit.noise.selection.shared_noise import Comparison, log_probability


def direct(shared: Fraction, own: Fraction, comparisons: list[Comparison]) -> float:
    z, a, b = np.arange(-300, 301), float(shared), float(own)
    total = np.tanh(a / 2) * np.exp(-a * np.abs(z))
    for one in comparisons:
        k = z + one.bound
        below = np.where(k >= 0, 1 - np.exp(-b * (k + 1.0)) / (1 + np.exp(-b)), np.exp(b * k) / (1 + np.exp(-b)))
        total = total * (below if one.below else 1 - below)
    return float(total.sum())


@pytest.mark.parametrize(("shared", "own"), [("1/3", "1/3"), ("1/2", "1/8"), ("1/5", "2/5")])
def test_probabilities_are_those_of_the_sum(shared: str, own: str) -> None:
    rates = Fraction(shared), Fraction(own)
    for bounds in ((0,), (-3, 2), (1, 1, -4)):
        for sides in product((True, False), repeat=len(bounds)):
            comparisons = [Comparison(bound, side) for bound, side in zip(bounds, sides, strict=True)]
            found = log_probability(*rates, comparisons)
            assert found.rel_accuracy_bits() > 60 or abs(float(found.mid())) < 1e-3
            assert float(np.exp(float(found.mid()))) == pytest.approx(direct(*rates, comparisons), rel=1e-9)


def test_nothing_to_compare_is_certain() -> None:
    assert float(log_probability(Fraction(1, 2), Fraction(1, 3), []).mid()) == pytest.approx(0, abs=1e-20)


def test_a_fine_grid_tends_to_continuous_noise() -> None:
    """Two equal numbers with equal noise: one is above the other with probability 1/2, and a hair less where they may tie."""
    rate = Fraction(1, 2**20)
    strict = float(np.exp(float(log_probability(rate, rate, [Comparison(-1, True)]).mid())))
    assert 0.5 - 2**-20 < strict < 0.5
