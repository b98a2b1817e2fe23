"""δ(ε) of binomial noise against enumeration, and the least ε at a failure."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dpaudit as dp


def _masses(coins: int) -> list[Fraction]:
    return [Fraction(math.comb(coins, heads), 2**coins) for heads in range(coins + 1)]


def _enumerated_delta(coins: int, steps: int, epsilon: float) -> float:
    """Σ max(0, P(o) − e^ε Q(o)) over all outputs."""
    here = [*_masses(coins), *[Fraction(0)] * steps]
    there = [*[Fraction(0)] * steps, *_masses(coins)]
    return sum(max(0.0, float(p) - math.exp(epsilon) * float(q)) for p, q in zip(here, there, strict=True))


@pytest.mark.parametrize(("coins", "steps"), [(2, 1), (2, 3), (8, 1), (60, 3), (400, 1), (400, 25)])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "5"])
def test_delta_is_the_hockey_stick_by_enumeration(coins: int, steps: int, epsilon: str) -> None:
    certified = dp.Binomial(coins).delta(Fraction(epsilon), steps)
    assert float(certified) == pytest.approx(_enumerated_delta(coins, steps, float(epsilon)), rel=1e-9, abs=1e-18)


def test_epsilon_holds_at_the_failure_and_a_little_less_does_not() -> None:
    for coins, steps, failure in ((400, 1, "1e-6"), (400, 3, "1e-3"), (10**7, 1, "1e-6"), (10**12, 254, "1e-9")):
        noise = dp.Binomial(coins, failure)
        epsilon = noise.epsilon(steps)
        assert epsilon is not None
        assert noise.delta(epsilon, steps) <= noise.failure < noise.delta(epsilon * Fraction(99999, 100000), steps)


def test_no_finite_epsilon_where_outputs_that_tell_all_are_likelier_than_the_failure() -> None:
    assert dp.Binomial(8, "1e-6").epsilon(1) is None  # all heads: 1/256
    assert dp.Binomial(8, "1/255").epsilon(1) is not None
