"""Half-lines: their probabilities are those of the mechanism, and the best threshold reaches the mechanism's own curve."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.events.tails import best_threshold, decimal, log_down


@pytest.mark.parametrize("noise", [dp.Laplace(3, grid=1), dp.Gaussian(2, grid=1)])
@pytest.mark.parametrize("query", [-2, 0, 5])
def test_tails_are_the_sums_of_the_noises_probabilities(noise: Any, query: int) -> None:
    weights = {k: math.exp(float(noise.log_prob(k, 30))) for k in range(-150, 151)}
    for threshold in (-4, 0, 3):
        upper = sum(w for k, w in weights.items() if query + k >= threshold)
        lower = sum(w for k, w in weights.items() if query + k <= threshold)
        assert float(noise.within(threshold, None, query)[0]) == pytest.approx(upper, abs=1e-9)
        assert float(noise.within(None, threshold, query)[1]) == pytest.approx(lower, abs=1e-9)


@pytest.mark.parametrize("query", [0, 1])
def test_randomised_response_flips_its_bit_and_adds_nothing(query: int) -> None:
    keep = math.e / (1 + math.e)
    one = keep if query else 1 - keep
    noise = dp.RandomizedResponse(1)
    assert [float(noise.within(t, None, query)[0]) for t in (-1, 0, 1, 2)] == pytest.approx([1, 1, one, 0])
    assert [float(noise.within(None, t, query)[1]) for t in (-1, 0, 1, 2)] == pytest.approx([0, 1 - one, 1, 1])


@given(st.fractions(min_value=1, max_value=10**30))
def test_logarithms_are_rounded_down_and_by_little(ratio: Fraction) -> None:
    found = log_down(ratio)
    if found is None:
        assert ratio - 1 < Fraction(1, 10**20)
    else:
        assert float(found) == pytest.approx(math.log(ratio), rel=1e-12)
        assert math.exp(float(found)) <= float(ratio) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("noise", "delta"),
    [
        (dp.Gaussian(4), "1e-6"),
        (dp.Gaussian(1), "1e-3"),
        (dp.Gaussian(20), "1e-9"),
        (dp.Laplace(1), "1e-3"),
        (dp.Laplace(1), "0.1"),
    ],
)
@pytest.mark.parametrize("claimed", ["0.01", "1", "20"])
def test_the_best_tail_event_reaches_the_mechanisms_own_curve(noise: Any, delta: str, claimed: str) -> None:
    """Whatever is claimed: δ(ε) of the mechanism is met at the ε found, and not 10^-6 above it."""
    found = best_threshold(noise, 2**20, 0, dp.Claim(claimed, delta))
    assert found is not None
    epsilon = found[0]
    assert noise.delta(max(epsilon - Fraction(1, 10**6), Fraction(0)), 2**20) >= Fraction(delta)
    assert noise.delta(epsilon + Fraction(1, 10**6), 2**20) <= Fraction(delta)


def test_probabilities_below_the_range_of_floats_are_still_told() -> None:
    assert decimal(Fraction(1, 8)) == "0.125"
    assert decimal(Fraction(1, 10**400)) == "about 1e-400"
