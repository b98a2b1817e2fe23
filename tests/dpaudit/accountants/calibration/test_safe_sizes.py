"""Noise from which on every larger one keeps δ: the trap of coarse grids, and that fine grids are not made worse."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants.calibration.least_noise import calibrate
from dpaudit.accountants.calibration.safe_sizes import GaussianTask, interval_delta, safe_size

TRAP = GaussianTask(Fraction(16), Fraction(1, 10**5), 2, 1)


def delta(spread: Fraction, task: GaussianTask = TRAP) -> Fraction:
    return dp.Gaussian(spread, grid=1).delta(task.epsilon, task.steps)


def test_the_trap_is_there() -> None:
    assert delta(Fraction(6124, 10000)) <= TRAP.delta
    assert all(delta(Fraction(s, 1000)) > TRAP.delta for s in (650, 680, 703))


def test_calibration_returns_noise_from_which_on_all_larger_noise_holds() -> None:
    found = calibrate("gaussian", 16, "1e-5", sensitivity=2, grid=1).rule.value
    assert Fraction(703, 1000) < found < Fraction(704, 1000)
    assert delta(found * (1 - Fraction(1, 10**7))) > TRAP.delta  # the least such noise
    larger = [found * (1 + Fraction(k, 200)) for k in range(100)]
    assert max(map(delta, larger)) <= TRAP.delta


@pytest.mark.parametrize(("epsilon", "delta_", "steps"), [("8", "1e-5", 1), ("3", "1e-3", 1), ("0.5", "1e-4", 1)])
def test_no_larger_noise_breaks_delta(epsilon: str, delta_: str, steps: int) -> None:
    task = GaussianTask(Fraction(epsilon), Fraction(delta_), steps, 1)
    found = calibrate("gaussian", epsilon, delta_, sensitivity=steps, grid=1).rule.value
    assert max(delta(found * (1 + Fraction(k, 60)), task) for k in range(60)) <= task.delta


@pytest.mark.parametrize("low", ["0.6", "0.66", "0.7", "1.3"])
def test_an_interval_is_bounded_at_each_of_its_points(low: str) -> None:
    first = Fraction(low)
    for width in (Fraction(1, 50), Fraction(1, 5000)):
        bound = interval_delta(TRAP, first, first * (1 + width))
        points = [delta(first * (1 + width * Fraction(k, 8))) for k in range(9)]
        assert max(points) <= bound + TRAP.delta / 10**9
    assert bound <= max(*points, TRAP.delta) * Fraction(105, 100)  # and comes close, above half of δ


def test_the_noise_that_was_just_enough_is_not_safe() -> None:
    """The twin: to return any σ that keeps δ, as the search before did."""
    assert safe_size(TRAP, Fraction(6124, 10000)) > Fraction(7, 10)


def test_a_fine_grid_and_several_releases_fall_by_themselves() -> None:
    fine = GaussianTask(Fraction(1), Fraction(1, 10**6), 2**20, 1)
    spread = calibrate("gaussian", 1, "1e-6").rule.noise.spread
    assert spread is not None
    assert fine.holds_from(spread * (1 + Fraction(1, 10**9)))
    assert safe_size(fine, spread) <= spread * (1 + Fraction(1, 10**9))
    assert not fine.holds_from(spread * Fraction(999, 1000))
    several = GaussianTask(Fraction(4), Fraction(1, 10**5), 1, 5)
    assert several.holds_from(safe_size(several, Fraction(2)))
