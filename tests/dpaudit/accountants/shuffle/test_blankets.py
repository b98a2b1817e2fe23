from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit.accountants.shuffle.blankets import (
    OPTIMISED,
    OPTIMISED_ATTACK,
    UNARY,
    UNARY_ATTACK,
    response_attack,
    response_blanket,
)
from dpaudit.accountants.shuffle.clone import CLONE, SAME
from dpaudit.accountants.shuffle.finite_family import FiniteFamily
from dpaudit.accountants.shuffle.inversion import epsilon_refuted, least_epsilon
from tests.dpaudit.accountants.shuffle.brute_force import exact_delta, random_channel, response, unary

EFFORT = Fraction(1, 10**9)


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_k_ary_response_is_bounded_and_attacked_as_enumeration_says(k: int, n: int) -> None:
    for epsilon in ("0", "0.2", "0.7"):
        low, high = response_blanket(k).delta(Fraction(1), n, Fraction(epsilon), EFFORT)
        truth = exact_delta(response(k, 1.0), n, float(epsilon))
        attack = response_attack(k).delta(Fraction(1), n, Fraction(epsilon), EFFORT)
        assert low <= high
        assert float(attack[0]) <= truth * (1 + 1e-12)
        assert truth <= float(high) * (1 + 1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_unary_encodings_are_bounded_and_attacked_as_enumeration_says(n: int) -> None:
    half, r = 1 / (1 + math.exp(-0.5)), 1 / (1 + math.e)
    for family, attack, channel in (
        (UNARY, UNARY_ATTACK, unary(3, half, 1 - half)),
        (OPTIMISED, OPTIMISED_ATTACK, unary(3, 0.5, r)),
    ):
        for epsilon in ("0", "0.3"):
            truth = exact_delta(channel, n, float(epsilon))
            assert truth <= float(family.delta(Fraction(1), n, Fraction(epsilon), EFFORT)[1]) * (1 + 1e-12)
            assert float(attack.delta(Fraction(1), n, Fraction(epsilon), EFFORT)[0]) <= truth * (1 + 1e-12)


def test_one_randomiser_for_all_is_bounded_by_same_for_random_channels() -> None:
    """Brute force over all other inputs, all ordered pairs; equality is reached to rounding, so a bound 1 % lower must fail."""
    rng, worst = np.random.default_rng(14), 0.0
    for trial in range(40):
        inputs, outputs, n = int(rng.integers(2, 5)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
        local = float(rng.uniform(0.3, 2.5))
        channel = random_channel(rng, inputs, outputs, local, staircase=trial % 2 == 0)
        for share in (0.0, 0.2, 0.6):
            bound = SAME.delta(Fraction(local), n, Fraction(share * local), EFFORT)[1]
            worst = max(worst, exact_delta(channel, n, share * local) / float(bound))
    for n in (1, 2, 3):
        worst = max(worst, exact_delta(response(2, 1.0), n, 0.2) / float(SAME.delta(Fraction(1), n, Fraction("0.2"), EFFORT)[1]))
    assert 0.99 < worst <= 1 + 1e-12


def test_a_public_label_with_others_on_another_is_not_covered_by_same() -> None:
    """Report (action, bit) where the other client has another action: nothing hides the target, δ is that of one report."""
    p = math.e
    alone = (p - math.exp(0.3)) / (1 + p)
    assert alone == pytest.approx(0.3680, abs=5e-5)
    assert float(SAME.delta(Fraction(1), 2, Fraction("0.3"), EFFORT)[1]) == pytest.approx(0.2690, abs=5e-5)
    assert float(SAME.delta(Fraction(1), 1, Fraction("0.3"), EFFORT)[1]) == pytest.approx(alone, rel=1e-12)  # n of its own label


MEASURED: dict[str, tuple[FiniteFamily | object, FiniteFamily, int, int, str, float, float]] = {
    "100-RR": (response_blanket(100), response_attack(100), 1, 10**4, "1e-6", 0.0071837, 1e-4),
    "10-RR": (response_blanket(10), response_attack(10), 3, 10**5, "1e-7", 0.0638706, 2e-6),
    "RAPPOR": (UNARY, UNARY_ATTACK, 1, 10**4, "1e-6", 0.0306878, 2e-6),
    "RAPPOR, ε0 = 4": (UNARY, UNARY_ATTACK, 4, 10**5, "1e-6", 0.1041244, 2e-6),
}


@pytest.mark.parametrize("name", MEASURED)
def test_measured_values_are_met_and_enclosed_closely(name: str) -> None:
    family, attack, local, n, delta, measured, within = MEASURED[name]
    low, high = least_epsilon(family, Fraction(local), n, Fraction(delta))  # type: ignore[arg-type]
    assert float(high) == pytest.approx(measured, rel=within)
    assert high - low <= high / 10**6
    refuted = epsilon_refuted(attack, Fraction(local), n, Fraction(delta))
    assert Fraction(4, 5) * high < refuted <= high


def three_value_delta(epsilon0: float, n: int, epsilon: float) -> float:
    """(1/n) E(ΣG)_+ by summing over how many reports are not idle: N ~ Bin(n, 2/(1+p)), of which A ~ Bin(N, 1/2) have p − e."""
    p, e = math.exp(epsilon0), math.exp(epsilon)
    share = 2 / (1 + p)
    spread = 40 * math.sqrt(n * share)
    count = np.arange(max(1, int(n * share - spread)), min(n, int(n * share + spread)) + 1)
    plus, minus = p - e, 1 - p * e
    least = np.floor(-minus * count / (plus - minus)) + 1  # A from here on make the sum positive
    more = binom.sf(least - 2, count - 1, 0.5) * count / 2  # E[A; A ≥ least]
    each = plus * more + minus * (count * binom.sf(least - 1, count, 0.5) - more)
    return float((binom.pmf(count, n, share) * each).sum() / n)


SAME_ROWS = [(4, 10**5, "1e-6", 0.1181532), (1, 10**4, "1e-6", 0.0432062), (2, 10**6, "1e-8", 0.0130369)]


@pytest.mark.parametrize(("epsilon0", "n", "delta", "measured"), SAME_ROWS)
def test_the_values_of_one_randomiser_for_all_are_met_to_a_millionth(epsilon0: int, n: int, delta: str, measured: float) -> None:
    """The printed digits, and an independent sum in floats on both sides of the enclosure."""
    low, high = least_epsilon(SAME, Fraction(epsilon0), n, Fraction(delta))  # type: ignore[arg-type]
    assert (
        -max(0.51e-7, 1.2e-6 * measured) <= float(high) - measured <= 0.51e-7
    )  # seven digits; the first row's upper end is loose
    assert high - low <= high / 10**6
    assert three_value_delta(epsilon0, n, float(high)) <= float(delta) * (1 + 1e-7)
    assert three_value_delta(epsilon0, n, float(high) * (1 - 1e-6)) > float(delta)


@pytest.mark.slow
def test_extreme_input_is_answered_for_every_randomiser() -> None:
    """Optimised unary encoding at ε = 100 overflowed."""
    found = dp.invert(100, 1000, "1e-6", method="oue")
    assert 100 <= found.lower <= found.upper < 110
    assert OPTIMISED.delta(found.lower, 1000, Fraction(100), EFFORT)[1] <= Fraction("1e-6")
    assert OPTIMISED.delta(found.upper, 1000, Fraction(100), EFFORT)[0] > Fraction("1e-6")


def test_a_blanket_lies_below_same_and_same_below_the_clones() -> None:
    arguments = Fraction(2), 500, Fraction("0.4"), EFFORT
    bounds = [family.delta(*arguments) for family in (response_blanket(8), SAME, CLONE)]
    assert bounds[0][1] < bounds[1][0] <= bounds[1][1] < bounds[2][0]


def test_two_engines_enclose_the_same_number() -> None:
    """Enumeration for 30 reports, doubles for 31 of a law that is all but the same: both near the exact sum of three values."""
    for n in (10, 30, 60, 400):
        exact, found = (family.delta(Fraction(1), n, Fraction("0.2"), EFFORT) for family in (SAME, response_blanket(2)))
        assert found[0] <= exact[1]
        assert exact[0] <= found[1]
        assert found[1] - found[0] <= found[1] / 10**5
