from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpaudit.accountants.shuffle.attacks import any_randomiser_attack, response_attack
from dpaudit.accountants.shuffle.clone import last_one_out
from tests.dpaudit.accountants.shuffle.brute_force import exact_delta, response


@pytest.mark.parametrize("k", [2, 3, 5])
def test_an_attack_on_k_ary_response_never_exceeds_the_truth(k: int) -> None:
    """At the ε that it refutes, δ(ε) by enumeration is above δ."""
    for n in (1, 2, 3):
        epsilon = response_attack(k, Fraction(1), n, Fraction(1, 50))
        assert epsilon > 0
        assert exact_delta(response(k, 1.0), n, float(epsilon)) >= 0.02 * (1 - 1e-9)


def test_nobody_reports_one_is_refuted_exactly() -> None:
    n, k, delta, a = 3, 5, 0.01, 1 / (math.exp(4) + 4)
    expected = math.log(((1 - a) ** n - delta) / ((1 - a) ** (n - 1) * (k - 1) * a))
    found = float(last_one_out(Fraction(4), n, Fraction(1, 100), k))
    assert found == pytest.approx(expected, rel=1e-12)
    assert found <= expected * (1 + 1e-14)


def test_the_worst_known_randomiser_is_no_weaker_than_three_categories() -> None:
    arguments = Fraction(2), 1000, Fraction(1, 10**6)
    assert any_randomiser_attack(*arguments) >= response_attack(3, *arguments) * (1 - Fraction(1, 10**5))
