"""Inversions at extremes, and the attack beside them."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp


@pytest.mark.parametrize(
    ("epsilon", "n", "delta", "method"),
    [
        ("1e-6", 10**15, "0.3", "clone"),
        ("1e-12", 10**15, "0.3", "clone"),
        ("0.00107", 5118440484879012, "0.44", "clone"),
        ("8", 10**12, "0.9", "laplace"),
    ],
)
def test_large_failure_probabilities_and_crowds_that_once_took_for_ever_or_failed(
    epsilon: str, n: int, delta: str, method: str
) -> None:
    found = dp.invert(epsilon, n, delta, method=method, attack=True)
    assert Fraction(epsilon) < found.lower <= found.upper < found.lower * (1.2 if method == "laplace" else 1.000001)
    assert found.attack is not None
    assert found.attack <= Fraction(epsilon)


def test_an_inversion_outside_the_domain_is_refuted_by_the_attack_beside_it() -> None:
    printed = dp.invert("5", 1000, "1e-6", method="closed", attack=True)
    assert not printed.in_domain
    inside = dp.invert("1", 10**6, "1e-6", method="closed", attack=True)
    assert inside.attack is not None
    assert inside.attack <= 1
    assert dp.invert("1", 10**6, "1e-6", method="closed").attack is None
