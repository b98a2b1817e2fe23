"""Inversions at extremes, and the attack beside them."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants.shuffle import amplification
from dpaudit.claims import Contradiction


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


@pytest.mark.parametrize(
    ("epsilon", "n", "delta"), [("12.5468", 610667, "5.878e-18"), ("21.2992", 1113605407, "1.1394e-16"), ("1", 2, "1e-200")]
)
def test_an_epsilon0_that_floats_cannot_tell_from_epsilon_is_answered(epsilon: str, n: int, delta: str) -> None:
    found = dp.invert(epsilon, n, delta, method="laplace", steps=1)
    assert Fraction(epsilon) <= found.lower <= found.upper <= Fraction(epsilon) * Fraction(1000001, 1000000)


@pytest.mark.parametrize(
    ("epsilon0", "n", "delta", "steps", "most"),
    [("10.871538", 297485, "0.192006", 2**21, "0.0043"), ("3.3855", 150, "0.200987", 5, "0.00066")],
)
def test_a_delta_just_below_that_at_zero_is_met_by_a_small_epsilon(
    epsilon0: str, n: int, delta: str, steps: int, most: str
) -> None:
    """The float estimate of δ(0) is below δ there, the certified one above: the search must not give up and take the clones'."""
    found = dp.amplify(epsilon0, n, delta, method="laplace", steps=steps)
    assert 0 < found.lower <= found.upper < Fraction(most)


def test_tiny_reports_are_never_charged_more_than_clones() -> None:
    case = "0.00014875528455", 58, "1.02467e-09"
    assert dp.amplify(*case, method="laplace", steps=49).upper <= dp.amplify(*case, method="clone").upper


def test_an_attack_above_the_bound_is_an_error_and_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: an attack that claims too much."""
    monkeypatch.setattr(amplification, "any_randomiser_attack", lambda *_: Fraction(1, 2))
    with pytest.raises(Contradiction, match="please report"):
        dp.amplify(1, 10**4, "1e-6", method="clone")
