"""The Bernstein bound of the good event against exact tails of unequal coefficients, and faults that must show."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest

from proofs_checks.linear_bandits.joint.noise_steps import (
    identity,
    lattice_mgf,
    lattice_step,
    logarithm_step,
    tail_steps,
    union_steps,
)
from proofs_checks.shared.laplace_tails import tail_of_distinct
from proofs_checks.shared.proof_steps import broken


def test_all_steps_hold():
    assert broken([*tail_steps(), *union_steps()]) == []
    assert logarithm_step()


@pytest.mark.parametrize("share", ["1/2", "9/10", "11/10"])
def test_another_width_is_not_the_identity(share):
    assert not identity(Fraction(share))


def test_more_batches_than_log_t_are_noticed():
    assert broken(union_steps(lambda x: flint.arb(1) / 2))


@pytest.mark.parametrize("coefficients", [["1"], ["1", "1/2"], ["1", "9/10", "4/5", "1/10"], ["1", "1/3", "1/4", "1/5", "1/6"]])
@pytest.mark.parametrize("level", [3.6, 12.0, 60.0])
def test_exact_tails_lie_below_the_bound_and_above_it_at_a_third_of_the_width(coefficients, level):
    terms = [Fraction(each) for each in coefficients]
    v, c = float(sum(each**2 for each in terms)), float(max(terms))
    width = 2 * math.sqrt(v * level) + c * level
    assert float(tail_of_distinct(terms, width)) <= math.exp(-level)
    assert float(tail_of_distinct(terms, width / 3)) > math.exp(-level)


def test_the_lattice_mgf_is_the_sum_of_its_terms_and_wider_noise_is_noticed():
    rate, step, scale = Fraction(1, 4), Fraction(1, 2), Fraction(3)
    weights = [(k, math.exp(-abs(k) / 6)) for k in range(-2000, 2001)]
    summed = sum(weight * math.exp(k / 8) for k, weight in weights) / sum(weight for _, weight in weights)
    assert float(lattice_mgf(rate, step, scale)) == pytest.approx(summed, rel=1e-12)
    assert lattice_step().holds
    assert lattice_step(Fraction(1001, 1000)).holds is False
