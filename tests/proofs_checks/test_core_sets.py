"""Lemma 2 and the remark on Frank–Wolfe, as printed and planted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from algorithms.core_set import leverage
from proofs_checks.action_families import FAMILIES
from proofs_checks.frank_wolfe import descend, farthest, initialisation, iterations, line_search, steps_at_most, support, uniform
from proofs_checks.lemma_core import B, core_set_leverage, simplex_leverage, sparsification_suffices, sparsify


def test_core_sets_exist_and_take_time_polynomial_in_the_size_of_the_action_set():
    found = core_set_leverage(True)
    assert found.verdict == "conditional"
    assert found.correction == "polynomial in d and |A|"


def test_as_many_actions_as_dimensions_are_too_few():
    assert core_set_leverage(True, size=lambda d: d).verdict == "refuted"


def test_with_polynomially_many_actions_the_lemma_is_verified():
    assert core_set_leverage(True, inputs=lambda d: d**3).verdict == "verified"


def test_thirty_four_is_the_least_constant_of_the_sparsification_argument():
    assert sparsification_suffices(B)
    assert not sparsification_suffices(B - 1)


def test_any_d_actions_of_a_simplex_have_leverage_d_squared():
    actions = np.concatenate([np.eye(4), -np.ones((1, 4))]) / 2
    reached = [leverage(actions, [k for k in range(5) if k != left], np.full(4, 0.25)) for left in range(5)]
    assert min(reached) == pytest.approx(simplex_leverage(4))


def test_sparsified_weights_are_few_and_have_twice_the_leverage_at_most():
    actions = FAMILIES["scales"](np.random.default_rng(1), 80, 3)
    _, weights, g = descend(actions, uniform(actions), line_search, 500)
    few = sparsify(actions, weights, B)
    assert few.sum() == pytest.approx(1)
    assert leverage(actions, np.flatnonzero(few), few[few > 0]) <= 2 * g


def test_frank_wolfe_from_uniform_weights_is_fast_with_its_line_search():
    assert iterations(True).verdict == "verified"


def test_another_step_size_or_a_smaller_number_of_steps_is_refuted():
    assert iterations(True, step=lambda g, d, i: 2 / (i + 2)).verdict == "refuted"
    assert iterations(True, claimed=lambda d, k: 2 * math.log(math.log(k))).verdict == "refuted"


def test_the_support_from_uniform_weights_is_everything():
    found = support(True)
    assert found.verdict == "refuted"
    assert all(row["support"] == row["|A|"] for row in found.evidence["runs"])


def test_the_support_from_the_farthest_actions_is_a_core_set():
    assert support(True, start=farthest).verdict == "verified"


def test_the_better_start_is_proven_for_d_log_log_d():
    assert initialisation(True).verdict == "conditional"
    assert initialisation(True, guarantee=lambda d: d + steps_at_most(d, math.log(d))).verdict == "verified"


def test_uniform_weights_are_not_a_better_start():
    assert initialisation(True, start=uniform).verdict == "refuted"


@pytest.mark.parametrize("name", FAMILIES)
def test_hard_action_sets_lie_in_the_ball_and_span(name):
    actions = FAMILIES[name](np.random.default_rng(2), 60, 5)
    assert np.linalg.norm(actions, axis=1).max() <= 1 + 1e-12
    assert np.linalg.matrix_rank(actions) == 5
