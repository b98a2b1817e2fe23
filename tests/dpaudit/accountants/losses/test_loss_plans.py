"""Where contours of losses are put: saddle points, and how many nodes are taken."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, ResponseLoss
from dpaudit.accountants.losses.loss_plans import SKIP, log_moment, plan, saddle, saddle_at
from tests.dpaudit.accountants.losses.binomial_law import PARTS, E, exact


def test_a_gaussian_release_needs_no_smoothing_and_few_nodes() -> None:
    parts = [(GaussianLoss(Fraction(1)), 1), (ResponseLoss(E), 10)]
    at = saddle_at(parts, math.log(1e-6), "log_delta")
    found = plan(parts, at, inner=False)
    assert found.tau == 0
    assert sum(last - first for first, last in found.runs) < 100


def test_the_cost_does_not_depend_on_the_number_of_releases() -> None:
    nodes = []
    for count in (10**4, 10**8, 10**12):
        parts = [(LaplaceLoss(Fraction(10) / math.isqrt(count), 2**20), count)]
        at = saddle_at(parts, math.log(1e-6), "log_delta")
        nodes.append(sum(last - first for first, last in plan(parts, at, inner=False).runs))
    assert max(nodes) <= 64


def test_saddle_points_are_found_by_slack_and_by_delta() -> None:
    at = saddle(PARTS, 2.0)
    assert saddle_at(PARTS, at.slack, "slack").c == pytest.approx(2.0, rel=0.01)
    assert saddle_at(PARTS, at.log_delta, "log_delta").c == pytest.approx(2.0, rel=0.01)
    assert math.exp(at.log_delta) == pytest.approx(exact(Fraction(at.slack)), rel=0.05)


@pytest.mark.parametrize("log_delta", [-0.05, -1.0, -30.0, -60.0])
@pytest.mark.parametrize("parts", [PARTS, [(LaplaceLoss(Fraction(1, 10), 2**20), 1000)], [(GaussianLoss(Fraction(4)), 1)]])
def test_a_saddle_point_is_found_at_any_delta(parts: list, log_delta: float) -> None:
    assert saddle_at(parts, log_delta, "log_delta").log_delta == pytest.approx(log_delta, rel=0.02)


@pytest.mark.parametrize("parts", [PARTS, [(LaplaceLoss(Fraction(1, 2), 2**20), 40)], [(LaplaceLoss(Fraction(3), 7), 25)]])
def test_nodes_that_are_left_out_are_small(parts: list) -> None:
    """Between and beyond the runs, up to 3,000 nodes: |φ(c+it)| ≤ e^−SKIP φ(c), or what is left is in the tail."""
    at = saddle_at(parts, math.log(1e-6), "log_delta")
    found = plan(parts, at, inner=False)
    taken = {k for first, last in found.runs for k in range(first, last)}
    last = found.runs[-1][1]
    left = np.array([k for k in range(last) if k not in taken][:3000])
    if len(left):
        falls = log_moment(parts, at.c + 1j * at.step * left).real - log_moment(parts, np.array([at.c + 0j])).real
        assert falls.max() <= -SKIP
