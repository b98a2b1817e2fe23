"""The adaptive optimum of bounded range: against brute force, against the closed form of one release, and its direction."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

from dpaudit.accountants.selection.adaptive_optimum import adaptive_curve, adaptive_epsilon, most_steps

EPSILON = 0.5
GROWN = math.exp(EPSILON)


@lru_cache(maxsize=2**20)
def optimum(count: int, s: float, parts: int) -> float:
    """The best that an adversary reaches who chooses t among ``parts`` + 1 values before every release: a lower bound."""
    if not count:
        return max(0.0, 1 - math.exp(s))
    best = 0.0
    for t in np.linspace(0, EPSILON, parts + 1):
        share = (GROWN - math.exp(t)) / (GROWN - 1)
        nearer, further = round(s - float(t), 12), round(s - float(t) + EPSILON, 12)
        best = max(best, share * optimum(count - 1, nearer, parts) + (1 - share) * optimum(count - 1, further, parts))
    return best


@pytest.mark.parametrize(("count", "parts"), [(1, 200), (2, 60), (3, 24)])
def test_no_adaptive_choice_of_intervals_does_better_and_some_do_nearly_as_well(count: int, parts: int) -> None:
    points, values = adaptive_curve(EPSILON, count, 48)
    for place in range(0, len(points), 29):
        found = optimum(count, round(math.log(points[place]), 12), parts)
        assert found <= values[place] + 1e-11  # the search rounds s to 12 digits
        assert values[place] - found < 4e-4 * count


def test_one_release_has_the_closed_form() -> None:
    points, values = adaptive_curve(EPSILON, 1, 64)
    s = np.log(points)
    expected = (math.exp(EPSILON / 2) - np.exp(s / 2)) ** 2 / (GROWN - 1)
    assert (values >= expected - 1e-15).all()
    assert np.abs(values - expected).max() < 2e-5


def test_a_finer_grid_is_never_above_a_coarser_one_that_it_refines() -> None:
    coarse, fine = adaptive_curve(EPSILON, 3, 8)[1], adaptive_curve(EPSILON, 3, 32)[1]
    assert (fine[::4] <= coarse + 1e-12).all()


@pytest.mark.parametrize(("count", "epsilon", "figure"), [(10, "1/2", 3.579), (50, "1/5", 3.291)])
def test_published_figures_are_reached(count: int, epsilon: str, figure: float) -> None:
    """Floats on a grid of ε/40 gave these; a certified bound lies at most a thousandth above, and not below but by its digits."""
    found = float(adaptive_epsilon(Fraction(epsilon), count, Fraction(1, 10**6)))
    assert figure - 5e-4 <= found <= figure + 1e-3


def test_where_nothing_is_gained_the_sum_stays() -> None:
    assert adaptive_epsilon(Fraction(1), 2, Fraction(1, 10**30)) == 2
    assert adaptive_epsilon(Fraction(1, 10), 1, Fraction(99, 100)) == 0
    assert most_steps(1) >= most_steps(100) >= 16
