"""Least squares in the span of the active actions, with its dimension in the widths; and ways to get it wrong."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from proofs_checks.linear_bandits.lemmas.net import rank
from proofs_checks.linear_bandits.repairs.span import batch_of, code, flat_set, in_the_span, inverse, ridge, span


def test_working_in_the_span_gives_the_estimates_leverage_and_widths_of_its_dimension() -> None:
    found = span(quick=True)
    assert found.verdict == "verified"
    bought = found.evidence["regret without noise, m_i against d in γ"]
    assert [row["regret, m_i"] for row in bought] == [bought[0]["regret, m_i"]] * 3  # d does not matter
    assert bought[0]["regret, d"] < bought[1]["regret, d"] < bought[2]["regret, d"]
    assert found.evidence["privacy it buys"]["verdict"] == "certified"


def test_twin_a_ridge_in_place_of_the_pseudo_inverse_is_refuted() -> None:
    found = span(quick=True, estimator=ridge)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["bias without noise"] > 1e-3


def test_twin_a_dimension_that_is_too_small_is_refuted_and_one_that_is_too_large_is_not_the_codes() -> None:
    assert span(quick=True, dimension=lambda size, dim: 1).verdict == "refuted"
    assert span(quick=True, dimension=lambda size, dim: dim).verdict == "conditional"


@pytest.mark.parametrize(("dim", "size"), [(2, 1), (3, 2), (5, 3), (4, 4)])
def test_the_exact_coefficients_are_those_of_a_pseudo_inverse(dim: int, size: int) -> None:
    points = flat_set(np.random.default_rng(dim), 7, dim, size)
    assert rank(points) == size
    assert all(sum(x * x for x in point) <= 1 for point in points)
    actions = np.array([[float(x) for x in point] for point in points])
    plan = batch_of(actions, 5)
    support, counts = plan.support[0].tolist(), plan.counts[0].tolist()
    exact, norms = in_the_span(points, support, counts)
    pulled = actions[support]
    beside = np.linalg.pinv((pulled * plan.counts[0][:, None]).T @ pulled, rcond=1e-10, hermitian=True)
    assert np.allclose(np.array(exact, dtype=float), pulled @ beside @ actions.T, atol=1e-10)
    assert np.allclose(np.array(norms, dtype=float), ((actions @ beside) * actions).sum(axis=1), atol=1e-10)
    assert [sum(n * row[a] ** 2 for n, row in zip(counts, exact, strict=True)) for a in range(7)] == norms  # Σ n l² = ‖α‖²
    assert np.allclose(code(plan, actions), np.array(exact, dtype=float), atol=1e-10)


def test_the_inverse_is_exact() -> None:
    matrix = [[Fraction(0), Fraction(2)], [Fraction(3), Fraction(1)]]
    assert inverse(matrix) == [[Fraction(-1, 6), Fraction(1, 3)], [Fraction(1, 2), Fraction(0)]]
