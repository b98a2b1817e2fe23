"""Sums of losses on a grid against exact convolution, sums that come round included."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpaudit.accountants.sampling.lattice.loss_grid import GridLaw
from dpaudit.accountants.sampling.lattice.loss_sum import GridSum

UNIT = 0.125
FIRST = GridLaw(-2, np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.049]), 0.001)
SECOND = GridLaw(-1, np.array([0.3, 0.4, 0.2, 0.1]), 0.0)


def exact(laws: list[tuple[GridLaw, int]], epsilon: float) -> float:
    """δ(ε) by convolving in 40 digits."""
    with mpmath.workdps(40):
        masses, start, whole = [mpmath.mpf(1)], 0, mpmath.mpf(1)
        for law, count in laws:
            for _ in range(count):
                grown = [mpmath.mpf(0)] * (len(masses) + len(law.masses) - 1)
                for i, a in enumerate(masses):
                    for j, b in enumerate(law.masses):
                        grown[i + j] += a * mpmath.mpf(float(b))
                masses, start = grown, start + law.first
                whole *= mpmath.fsum(map(mpmath.mpf, map(float, law.masses))) + mpmath.mpf(law.infinite)
        infinite = whole - mpmath.fsum(masses)
        losses = [(start + place) * UNIT for place in range(len(masses))]
        finite = [m * (1 - mpmath.exp(epsilon - s)) for m, s in zip(masses, losses, strict=True) if s > epsilon]
        return float(infinite + mpmath.fsum(finite))


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.7])
@pytest.mark.parametrize("c", [1.0, 6.0])
@pytest.mark.parametrize("length", [64, 256])
def test_delta_lies_between_the_ends(epsilon: float, c: float, length: int) -> None:
    """64 points do not hold all sums of 15 losses: the ends are wider there, and still ends."""
    laws = [(FIRST, 12), (SECOND, 3)]
    below, above = GridSum(laws, UNIT, c, length).delta(epsilon)
    truth = exact(laws, epsilon)
    assert below <= truth <= above
    if length == 256:
        assert above - below <= 1e-9 * truth


def test_ends_are_probabilities_and_nothing_is_not_summed() -> None:
    with pytest.raises(ArithmeticError):
        GridSum([], UNIT, 1.0, 64)
    with pytest.raises(ArithmeticError):
        GridSum([(GridLaw(0, np.zeros(3), 1.0), 2)], UNIT, 1.0, 64)
    assert math.isclose(exact([(SECOND, 1)], 0.0), 0.2 * -math.expm1(-0.125) + 0.1 * -math.expm1(-0.25))


@pytest.mark.parametrize("infinite", [1e-17, 3e-16, 1e-13])
def test_infinite_losses_far_less_likely_than_a_float_of_one_can_show_are_counted(infinite: float) -> None:
    """1 + 1e-17 is 1 in floats: a sum of logarithms would lose them, and δ with them."""
    laws = [(GridLaw(-2, np.array([0.5, 0.2, 0.1, 0.1, 0.1]), infinite), 20)]
    below, above = GridSum(laws, UNIT, 12.0, 256).delta(6.0)  # above every finite sum
    truth = exact(laws, 6.0)
    assert below <= truth <= above <= truth * (1 + 1e-9)
    assert truth > 19 * infinite


def test_a_tilt_beyond_all_floats_is_refused() -> None:
    with pytest.raises(ArithmeticError):
        GridSum([(FIRST, 2)], 200.0, 1.0, 64)


def test_many_small_contributions_are_enclosed_at_small_delta() -> None:
    laws = [(GridLaw(-3, np.array([0.9, 0.05, 0.03, 0.0199, 1e-4, 1e-6, 1e-8]), 1e-15), 8)]
    for epsilon in (0.5, 1.5, 2.1):
        below, above = GridSum(laws, UNIT, 20.0, 256).delta(epsilon)
        assert below <= exact(laws, epsilon) <= above
        assert above - below <= 1e-6 * above
