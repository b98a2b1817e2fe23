"""Lemma 2 and the remark on Frank–Wolfe, as printed and planted."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from algorithms.actions.core_set import leverage
from proofs_checks.linear_bandits.lemmas.action_families import FAMILIES
from proofs_checks.linear_bandits.lemmas.better_start import EXCHANGED, FARTHEST, Promise, initialisation
from proofs_checks.linear_bandits.lemmas.core_set import SMALL, B, core_set_leverage, simplex_leverage
from proofs_checks.linear_bandits.lemmas.exchange_design import (
    enough,
    exchange,
    exchanged,
    exchanges_at_most,
    leverage_at_most,
    worst_local_optimum,
)
from proofs_checks.linear_bandits.lemmas.frank_wolfe import farthest, iterations, support, uniform


def test_core_sets_exist_and_take_time_polynomial_in_the_size_of_the_action_set():
    found = core_set_leverage(True)
    assert found.verdict == "conditional"
    assert found.correction == "polynomial in d and |A|"


def test_as_many_actions_as_dimensions_are_too_few():
    assert core_set_leverage(True, size=lambda d: d).verdict == "refuted"


def test_with_polynomially_many_actions_the_lemma_is_verified():
    assert core_set_leverage(True, inputs=lambda d: d**3).verdict == "verified"


def test_two_is_the_least_constant_of_the_exchange_argument():
    assert enough(B)
    assert enough(B + 1)
    assert not enough(B - 1)


def test_any_d_actions_of_a_simplex_have_leverage_d_squared():
    actions = np.concatenate([np.eye(4), -np.ones((1, 4))]) / 2
    reached = [leverage(actions, [k for k in range(5) if k != left], np.full(4, 0.25)) for left in range(5)]
    assert min(reached) == pytest.approx(simplex_leverage(4))


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("dim", [1, 2, 7])
def test_twice_as_many_exchanged_actions_as_dimensions_have_leverage_2d(name, dim):
    actions = FAMILIES[name](np.random.default_rng(1), 200, dim)
    chosen, swaps = exchange(actions)
    used, share = np.unique(chosen, return_counts=True)
    assert len(chosen) == 2 * dim
    assert leverage(actions, used, share / len(chosen)) <= 2 * dim
    assert swaps <= exchanges_at_most(dim)
    assert exchanged(actions).sum() == pytest.approx(1)


@pytest.mark.parametrize("points", SMALL)
@pytest.mark.parametrize("extra", [0, 1, 2])
def test_every_set_that_no_exchange_improves_keeps_the_bound_exactly(points, extra):
    dim = len(points[0])
    count, worst = worst_local_optimum(points, dim + extra)
    assert count > 0
    assert dim <= worst <= leverage_at_most(dim, dim + extra)


def test_twin_sets_that_an_exchange_improves_do_not():
    """(1, 0) and (3, 1), twice each, are not a local optimum; (3, 1) and (3, 5) are."""
    points = np.array([(1, 0), (3, 1), (3, 2), (3, 4), (3, 5)]) / 6
    assert leverage(points, [0, 1], [0.5, 0.5]) > leverage_at_most(2, 4)
    assert leverage(points, [1, 4], [0.5, 0.5]) <= leverage_at_most(2, 4)


def test_frank_wolfe_from_uniform_weights_is_fast_with_its_line_search():
    assert iterations(True).verdict == "verified"


def test_another_step_size_or_a_smaller_number_of_steps_is_refuted():
    assert iterations(True, step=lambda g, d, i: 2 / (i + 2)).verdict == "refuted"
    assert iterations(True, claimed=lambda d, k: 2 * math.log(math.log(k))).verdict == "refuted"


def test_the_support_from_uniform_weights_is_everything():
    found = support(True)
    assert found.verdict == "conditional"  # the remark cites Lemma 2's inequality, which holds, and not its size
    assert all(row["support"] == row["|A|"] for row in found.evidence["runs"])


def test_the_support_from_the_farthest_actions_is_a_core_set():
    assert support(True, start=farthest).verdict == "verified"


def test_from_exchanged_actions_the_size_is_at_most_2d_in_every_dimension():
    found = initialisation(True)
    assert found.verdict == "verified"
    assert EXCHANGED.most == 2


def test_the_start_of_the_literature_is_proven_for_d_log_log_d_only():
    found = initialisation(True, promise=FARTHEST)
    assert found.verdict == "conditional"
    assert FARTHEST.most == math.inf
    assert FARTHEST.size(10**300) / 10**300 > FARTHEST.size(10**100) / 10**100 + 3


def test_a_bounded_gap_has_a_bounded_size_in_closed_form():
    bounded = Promise("bounded gap", farthest, 1, 1.0, 0)
    assert bounded.most == pytest.approx(max(bounded.size(d) / d for d in (1, 10, 10**9)))


@pytest.mark.parametrize(
    "planted",
    [
        Promise("uniform weights", uniform, 2, math.log(2), 0, leverage=2),
        Promise("farthest actions, as if they were a core set", farthest, 1, math.log(2), 0, leverage=2),
        Promise("farthest actions, as if their gap were small", farthest, 1, 0.1, 0),
    ],
)
def test_twin_a_promise_that_a_start_does_not_keep_is_refuted(planted):
    assert initialisation(True, promise=planted).verdict == "refuted"


@pytest.mark.parametrize("name", FAMILIES)
def test_hard_action_sets_lie_in_the_ball_and_span(name):
    actions = FAMILIES[name](np.random.default_rng(2), 60, 5)
    assert np.linalg.norm(actions, axis=1).max() <= 1 + 1e-12
    assert np.linalg.matrix_rank(actions) == 5


def test_the_bound_of_an_approximate_optimum_is_rounded_nowhere():
    assert leverage_at_most(3, 6) == Fraction(9, 2)
    assert leverage_at_most(3, 6, Fraction(1, 6)) == 6
