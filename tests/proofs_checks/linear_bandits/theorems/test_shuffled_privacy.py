"""Theorem 3's privacy, batch by batch, and the domain of f; with variants that must give the other verdict."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from proofs_checks.linear_bandits.algorithms.shuffled_batches import (
    LAST_BATCH,
    all_above,
    batch_sizes,
    clone_rule,
    closed_rule,
    examine,
    printed_rule,
)
from proofs_checks.linear_bandits.theorems.shuffled_privacy import domain, privacy

TWO, DELTA = Fraction(2), Fraction("1e-6")


def test_the_printed_algorithm_is_refuted_batch_by_batch_and_by_simulation() -> None:
    found = privacy(quick=True)
    assert found.verdict == "refuted"
    shown, simulated = found.evidence["counterexample"], found.evidence["simulated"]
    assert (shown["n"], shown["ε"]) == (3, 5)
    assert Fraction(shown["true ε ≥ log((P − δ)/P')"]) > Fraction("6.48")
    assert simulated["ε ≥, confidence 1−10^-6"] > 5
    for seen, expected in (("S, target +1", "expected"), ("S, target −1", "expected, target −1")):
        # within 5.5 standard errors of a Poisson count: error rate below 10^-6
        assert abs(simulated[seen] - simulated[expected]) < 5.5 * simulated[expected] ** 0.5
    assert found.evidence["the algorithm itself, audited"]["verdict"] == "refuted"


def test_twin_corrected_noise_and_rule_are_proven_in_every_batch() -> None:
    assert privacy(quick=True, rule=closed_rule, numerator=TWO, calibration="corrected").verdict == "verified"


def test_corrected_noise_alone_or_the_corrected_rule_alone_does_not_do() -> None:
    assert privacy(quick=True, numerator=TWO, calibration="corrected").verdict == "refuted"
    assert privacy(quick=True, rule=closed_rule, calibration="corrected").verdict == "refuted"


def test_the_last_batch_of_a_million_rounds_leaks_what_the_closed_form_says() -> None:
    cell = examine(Fraction(1), LAST_BATCH, DELTA, printed_rule, Fraction(1), TWO)
    assert 4.68 < cell.attacked < 4.70


def test_f_is_no_bound_outside_its_domain() -> None:
    found = domain(quick=True)
    assert found.verdict == "refuted"
    assert found.evidence["nine reports"]["above the claim"]
    assert all(not row["ε0 in f's domain"] for row in found.evidence["batches"])


@pytest.mark.parametrize("rule", [closed_rule, clone_rule])
def test_twin_rules_that_keep_to_what_is_proven_hold(rule: object) -> None:
    assert domain(quick=True, rule=rule).verdict == "verified"  # type: ignore[arg-type]


def test_the_closed_form_of_the_event_is_its_definition() -> None:
    """P(X > x) of Laplace noise by quadrature, to the power of the clients."""
    above = mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2, [-0.5, 0, mpmath.inf])
    low = mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2, [1.5, mpmath.inf])
    p, q = all_above(4, Fraction(1), TWO, mpmath.mpf("-0.5"))
    assert abs(p - above**4) < 1e-12
    assert abs(q - above**3 * low) < 1e-12


def test_batches_fit_into_the_horizon() -> None:
    power = (2 * mpmath.mpf(10) ** 6) ** (12 / mpmath.log(10**6))  # q^12
    assert (int(power), int(mpmath.ceil(power)), 2 * int(mpmath.ceil(power / 2))) == (297_170, LAST_BATCH, 297_172)
    assert batch_sizes(10**6)[-1] == LAST_BATCH == 297_171
    assert sum(batch_sizes(10**6)) <= 10**6
