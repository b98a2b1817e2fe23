"""The noise of n reports behind their sum: against convolution, the known figures, and its own ordering."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accountants.shuffle.report_sums import FEWEST, Sum, summed

ON_GRID = 2 * 2**20  # rewards in [-1, 1] on the grid 2^-20


def convolved(rate: float, n: int) -> np.ndarray:
    """P(K = j), j = −reach…reach, by n convolutions: the independent route."""
    one = math.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(-60 * math.ceil(1 / rate), 60 * math.ceil(1 / rate) + 1)))
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, one)
    return law


def exact_delta(rate: float, n: int, k: int, epsilon: float) -> float:
    tails = np.cumsum(convolved(rate, n)[::-1])[::-1]
    return float((tails[:-k] - math.exp(epsilon) * tails[k:]).max())


CASES = [(8, Fraction(1, 2), 2), (12, Fraction(1), 3), (20, Fraction(1, 3), 5), (8, Fraction(2), 1), (33, Fraction(1, 4), 6)]


@pytest.mark.parametrize(("n", "rate", "k"), CASES)
@pytest.mark.parametrize("share", [Fraction(1, 20), Fraction(1, 4), Fraction(3, 5)])
def test_delta_agrees_with_the_convolution(n: int, rate: Fraction, k: int, share: Fraction) -> None:
    epsilon = share * k * rate
    low, high = Sum(rate, n).delta(epsilon, k)
    wanted = exact_delta(float(rate), n, k, float(epsilon))
    assert low <= high
    assert float(high - low) <= 1e-12
    assert float(low) == pytest.approx(wanted, abs=1e-13, rel=1e-9)
    assert abs(float(Sum(rate * Fraction(101, 100), n).delta(epsilon, k)[0]) - wanted) > 1e-3 * wanted  # twin: 1 % less noise


@pytest.mark.parametrize(("n", "wanted"), [(100, 0.260), (1000, 0.080), (10_000, 0.023)])
def test_the_known_figures_at_epsilon0_1(n: int, wanted: float) -> None:
    found = summed(dp.Laplace(scale=2), ON_GRID, n, "1e-6")
    assert found.lower <= found.upper < found.lower * (1 + Fraction(1, 10**6))
    assert float(found.upper) == pytest.approx(wanted, abs=5e-4)


def test_the_ends_lie_on_their_sides() -> None:
    found = summed(dp.Laplace(scale=2), ON_GRID, 100, "1e-6")
    law = Sum(dp.Laplace(scale=2).rate, 100)
    assert law.delta(found.upper, ON_GRID)[1] <= Fraction(1, 10**6) < law.delta(found.lower, ON_GRID)[0]


def test_more_reports_more_delta_and_less_movement_cost_less() -> None:
    noise = dp.Laplace(scale=2)
    by_n = [summed(noise, ON_GRID, n, "1e-6").upper for n in (FEWEST, 20, 100, 10**4, 10**6, 10**9)]
    assert by_n == sorted(by_n, reverse=True)
    by_delta = [summed(noise, ON_GRID, 100, d).upper for d in ("1e-12", "1e-6", "1e-3")]
    assert by_delta == sorted(by_delta, reverse=True)
    assert summed(noise, ON_GRID // 2, 100, "1e-6").upper < summed(noise, ON_GRID, 100, "1e-6").lower


@pytest.mark.parametrize(("n", "delta"), [(1, "1e-6"), (FEWEST - 1, "1e-6"), (10**6, "0"), (50, "1e-300")])
def test_it_never_exceeds_one_report_alone(n: int, delta: str) -> None:
    assert summed(dp.Laplace(scale=2), ON_GRID, n, delta).upper <= 1


def test_nothing_moves_nothing_costs() -> None:
    assert summed(dp.Laplace(scale=2), 0, 100, "1e-6").upper == 0


@pytest.mark.parametrize(("units", "n", "delta"), [(-1, 5, "0"), (1, 0, "0"), (1, 5, "1"), (1, 5, "-1e-6"), (1.5, 5, "0")])
def test_bad_input_is_named(units: object, n: int, delta: str) -> None:
    with pytest.raises(dp.DpauditError):
        summed(dp.Laplace(scale=2), units, n, delta)  # type: ignore[arg-type]
