"""Optimal composition against enumeration of all outcomes, and against the numerical composition of randomised responses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.accountants import Known, Part, compose, kairouz_delta, kairouz_epsilon
from dpaudit.claims import InvalidValue


def enumerated(epsilon: float, delta: float, k: int, level: float) -> float:
    """sup_S P(S) − e^level Q(S) over all 4^k outcomes of the worst (ε, δ)-DP mechanism: revealed 0 or 1, or a response."""
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    outcomes = [(delta, 0.0), (0.0, delta), ((1 - delta) * p, (1 - delta) * (1 - p)), ((1 - delta) * (1 - p), (1 - delta) * p)]
    total = 0.0
    for chosen in itertools.product(outcomes, repeat=k):
        total += max(0.0, math.prod(a for a, _ in chosen) - math.exp(level) * math.prod(b for _, b in chosen))
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize(("epsilon", "delta"), [("0.5", "0"), ("0.1", "0.01"), ("2", "1e-4")])
def test_delta_is_what_enumeration_gives(epsilon: str, delta: str, k: int) -> None:
    for share in (0, 1, 3, 7, 9):
        level = Fraction(epsilon) * k * share / 10
        low, high = kairouz_delta(epsilon, delta, k, level)
        truth = enumerated(float(epsilon), float(delta), k, float(level))
        assert float(low) == pytest.approx(truth, rel=1e-9, abs=1e-14)
        assert low <= high <= low + Fraction(1, 10**30)


@given(st.sampled_from(["0.01", "0.1", "1", "5/2"]), st.integers(1, 300), st.sampled_from(["1e-9", "1e-6", "0.01", "0.3"]))
@settings(deadline=None, max_examples=60)
def test_epsilon_is_where_delta_passes_the_target(epsilon: str, k: int, target: str) -> None:
    found = kairouz_epsilon(epsilon, "0", k, target)
    assert found.upper <= Fraction(epsilon) * k
    assert kairouz_delta(epsilon, "0", k, found.upper)[1] <= Fraction(target)
    if found.lower > 0:
        assert kairouz_delta(epsilon, "0", k, found.lower * (1 - Fraction(1, 10**10)))[0] > Fraction(target)


@pytest.mark.parametrize(
    ("epsilon", "k", "delta"), [("0.1", 100, "1e-6"), ("1", 30, "1e-6"), ("0.5", 7, "1e-3"), ("0.1", 4, "0.04")]
)
def test_numerical_composition_of_responses_is_the_same(epsilon: str, k: int, delta: str) -> None:
    numerical = compose([Part(dp.RandomizedResponse(epsilon), 1, k)], delta)
    optimal = kairouz_epsilon(epsilon, "0", k, delta)
    assert numerical.lower <= optimal.upper
    assert optimal.lower <= numerical.upper
    assert float(numerical.upper) == pytest.approx(float(optimal.upper), rel=1e-8)


def test_releases_of_which_only_epsilon_and_delta_are_known_cost_at_most_a_little_more() -> None:
    """Numerically their δ add up; optimally, 1 − (1−δ)^k."""
    known = compose([Known(Fraction("0.1"), Fraction(1, 10**8), 10)], "1e-6").upper
    optimal = kairouz_epsilon("0.1", "1e-8", 10, "1e-6").upper
    assert optimal <= known <= optimal * (1 + Fraction(1, 10**6))


def test_the_theorems_own_values() -> None:
    """Thm 3.3 at ε' = (k − 2i)ε: δ_i = Σ_{l<i} C(k,l) (e^{(k−l)ε} − e^{(k−2i+l)ε})/(1+e^ε)^k."""
    e, k = 0.3, 9
    for i in range(1, 5):
        delta = sum(
            math.comb(k, j) * (math.exp((k - j) * e) - math.exp((k - 2 * i + j) * e)) for j in range(i)
        ) / (1 + math.exp(e)) ** k  # fmt: skip
        assert float(kairouz_delta("0.3", "0", k, Fraction("0.3") * (k - 2 * i))[0]) == pytest.approx(delta, rel=1e-12)


def test_a_target_below_what_may_be_revealed_is_refused() -> None:
    with pytest.raises(InvalidValue, match="target"):
        kairouz_epsilon("0.1", "1e-6", 10, "1e-6")
    assert kairouz_epsilon("0.1", "1e-6", 1, "1e-6").upper == Fraction(1, 10)
    assert kairouz_epsilon("0.1", "0", 10, "0").upper == 1


def test_a_wrong_binomial_weight_would_be_noticed() -> None:
    """The twin of the enumeration: two responses less are another figure."""
    level = Fraction("0.5")
    assert float(kairouz_delta("0.5", "0", 4, level)[0]) != pytest.approx(enumerated(0.5, 0.0, 6, 0.5), rel=1e-3)
