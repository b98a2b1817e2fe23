"""What a door charges for equal releases together."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpaudit.accountants.sampling.repetitions import composed
from dpaudit.channel.release_cost import Repetition, plain_sums
from dpaudit.noise import GRID, Gaussian, Laplace

STEP = int(1 / GRID)


def test_pure_costs_add_up_and_need_no_delta() -> None:
    repeated = Repetition(Laplace(2), STEP, 3)
    assert composed(repeated, Fraction(1, 10**6)) == (Fraction(3, 2), 0) == plain_sums(repeated, Fraction(0))


def test_a_sample_costs_less_where_a_theorem_is_at_hand() -> None:
    repeated = Repetition(Laplace(1), STEP, 1, sampling=Fraction(1, 10))
    assert float(composed(repeated, Fraction(0))[0] or 0) == pytest.approx(0.1586, abs=1e-4)  # ln(1 + (e − 1)/10)
    assert plain_sums(repeated, Fraction(0)) == (1, 0)


def test_gaussian_noise_has_no_cost_without_delta() -> None:
    repeated = Repetition(Gaussian(5), STEP, 4)
    assert composed(repeated, Fraction(0)) == (None, 0) == plain_sums(repeated, Fraction(0))
    sharp, rough = (cost(repeated, Fraction(1, 10**6))[0] or 0 for cost in (composed, plain_sums))
    assert 1 < sharp < rough < 2.5
