"""Sums of atoms on a lattice against direct sums over all their combinations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, LatticeLoss, PrivacyLoss, ResponseLoss
from dpaudit.accountants.losses.loss_lattice import MOST, lattice_sum, moved, spacing_for
from dpaudit.claims.balls import precision

BITS = 200
ALIKE: list[tuple[PrivacyLoss, int]] = [(ResponseLoss(Fraction("0.3")), 4), (LaplaceLoss(Fraction("0.6"), 3), 2)]
UNLIKE: list[tuple[PrivacyLoss, int]] = [
    (ResponseLoss(Fraction("0.3")), 2),
    (ResponseLoss(Fraction(100003, 700001)), 2),
    (LatticeLoss(Fraction(1), Fraction(1, 3), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))), 1),
]


def direct(parts: list[tuple[PrivacyLoss, int]], slack: Any) -> Any:
    """δ, over every combination of atoms: L − ε = slack − Σ below."""
    with precision(BITS):
        tables = [[(float(b), float(p)) for b, p in law.atoms()] for law, count in parts for _ in range(count)]
    total = 0.0
    for combination in itertools.product(*tables):
        left = slack - sum(below for below, _ in combination)
        total = total + math.prod(p for _, p in combination) * -np.expm1(-np.maximum(left, 0))
    return total


@pytest.mark.parametrize("slack", ["0", "0.1", "0.75", "2.4", "4"])
def test_sums_on_a_common_lattice_are_exact(slack: str) -> None:
    with precision(BITS):
        low, high = lattice_sum(ALIKE, Fraction(5), math.log(1e-6)).delta(Fraction(slack))
        assert float(low) == pytest.approx(direct(ALIKE, float(slack)), rel=1e-10)
        assert 0 <= float(high - low) <= 1e-12


@pytest.mark.parametrize("slack", ["0.05", "0.3", "0.9", "1.5"])
def test_atoms_off_the_lattice_are_moved_to_the_safe_side(slack: str) -> None:
    with precision(BITS):
        low, high = lattice_sum(UNLIKE, Fraction(2), math.log(1e-6)).delta(Fraction(slack))
    truth = direct(UNLIKE, float(slack))
    assert float(low) <= truth * (1 + 1e-12)
    assert truth <= float(high) * (1 + 1e-12)
    assert float(high) - truth <= 1e-6
    assert truth - float(low) <= 5 * 2 / MOST


def test_beyond_its_reach_a_sum_promises_nothing() -> None:
    with precision(BITS):
        found = lattice_sum(ALIKE, Fraction("0.5"), math.log(1e-6))
        low, high = found.delta(Fraction(4))
    assert float(high) == 1
    assert 0 < float(low) <= direct(ALIKE, 4.0)


def test_the_spacing_divides_every_gap_if_it_can() -> None:
    spacing = spacing_for(ALIKE, Fraction(5))
    assert all((law.gap / spacing).denominator == 1 for law, _ in ALIKE)
    spacing = spacing_for(UNLIKE, Fraction(2))
    assert moved(ALIKE, spacing_for(ALIKE, Fraction(5)), 1.0) == 0 < moved(UNLIKE, spacing, 1.0)
    assert (Fraction(1, 3) / spacing).denominator == 1
    assert Fraction(2, MOST) <= spacing < Fraction(4, MOST)


@pytest.mark.parametrize("slack", ["-1", "0", "0.3", "2.5"])
@pytest.mark.parametrize("mu_squared", ["0.0001", "0.3"])
def test_a_gaussian_loss_is_added_to_every_atom(slack: str, mu_squared: str) -> None:
    """By a fine sum over the normal law of the loss."""
    parts = [*ALIKE, (GaussianLoss(Fraction(mu_squared)), 1)]
    with precision(BITS):
        low, high = lattice_sum(parts, Fraction(5), math.log(1e-6)).delta(Fraction(slack))
    mu = math.sqrt(float(Fraction(mu_squared)))
    x = np.linspace(-9, 9, 20_001)
    weights = stats.norm.pdf(x) * (x[1] - x[0])
    truth = float(weights @ direct(ALIKE, float(slack) + mu * x + mu**2 / 2))
    assert float(low) == pytest.approx(float(high), rel=1e-9, abs=1e-15)
    assert float(low) == pytest.approx(truth, rel=1e-6, abs=1e-12)


def test_one_gaussian_release_alone_has_its_curve() -> None:
    with precision(BITS):
        low, high = lattice_sum([(GaussianLoss(Fraction(1, 4)), 1)], Fraction(0), -30.0).delta(Fraction(-1))
    truth = stats.norm.cdf(0.25 - 2) - math.e * stats.norm.cdf(-0.25 - 2)
    assert float(low) <= truth * (1 + 1e-9)
    assert float(high) == pytest.approx(truth, rel=1e-9)
