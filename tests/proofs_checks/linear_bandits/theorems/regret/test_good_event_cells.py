"""The good event in cells: nothing is left out, exact tails agree, and a width that is too narrow is not proven."""

from __future__ import annotations

import math

import pytest
from scipy.special import gammaincc

from proofs_checks.linear_bandits.theorems.regret.good_event_cells import FIRST, LAST, cells, proven_cells
from proofs_checks.shared.laplace_tails import log_tail


def test_every_cell_is_proven_and_together_they_cover_the_horizons():
    found = proven_cells()
    assert found["proven"] == found["cells"] == len(cells())
    edges = [edge for cell in cells() for edge in cell]
    assert edges[0] == FIRST
    assert edges[-1] > LAST
    assert edges[1:-1:2] == edges[2:-1:2]
    assert all((2 * horizon) ** (1 / math.log(horizon)) > horizon for horizon in (3, math.exp(FIRST)))  # no batch below


@pytest.mark.parametrize("narrower", [1.02, 1.2, 2.0])
def test_a_narrower_width_is_not_proven(narrower):
    assert proven_cells(narrower)["proven"] < len(cells())


@pytest.mark.parametrize("log", [1.5, 3.3, 7.0, 13.8, 30.0, 70.0])
def test_exact_tails_at_single_horizons_leave_room(log):
    nu, horizon = log * log / (log + math.log(2)), math.exp(log)
    for n in (1, 2, 5, 10, 25, 60, 150, 400):
        for level in (0.1 * n, 0.5 * n, n, 2 * n, math.log(4) + 2 * log, 8 * log):
            union = math.exp(min(level + float(log_tail(n, n + level)[0]), 700.0)) / (2 * horizon**2)
            noise = min(union, float(gammaincc(n, n + level)))
            assert nu * (1 / (2 * horizon**2) + noise) <= 1 / horizon
