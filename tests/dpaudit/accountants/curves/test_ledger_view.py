"""Curves of a ledger: every form asks the same view."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpaudit.accountants import account
from dpaudit.accountants.curves.ledger_view import ledger_view

GAUSSIAN: dict[str, Any] = {"mechanism": "gaussian", "sigma": "4", "sensitivity": "1", "count": 4}
LAPLACE: dict[str, Any] = {"mechanism": "laplace", "scale": "10", "sensitivity": "1", "count": 3}
SAMPLED: dict[str, Any] = {"mechanism": "gaussian", "sigma": "2", "sensitivity": "1", "sampling": "0.1", "count": 20}


def test_mu_is_exact_for_gaussian_noise_alone() -> None:
    found = ledger_view([GAUSSIAN], delta="1e-6").gaussian_mu()
    assert found is not None
    assert 0.5 <= float(found[0]) < 0.5 * (1 + 1e-9)
    assert found[1] < Fraction(1, 10**15)
    assert ledger_view([GAUSSIAN, LAPLACE], delta="1e-6").gaussian_mu() is None
    assert ledger_view([SAMPLED], delta="1e-6").gaussian_mu() is None


def test_records_of_disjoint_cohorts_have_a_mu_each() -> None:
    rows = [{**GAUSSIAN, "cohort": [[0, 5]]}, {**GAUSSIAN, "count": 16, "cohort": [[5, 9]]}]
    found = ledger_view(rows, delta="1e-6").gaussian_mu()
    assert found is not None
    assert float(found[0]) == pytest.approx(1)


def test_divergences_are_those_of_the_laws() -> None:
    at = {each.order: each for each in ledger_view([GAUSSIAN, GAUSSIAN], delta="1e-6").divergences()}
    assert at[Fraction(8)].epsilon == 8 * 8 * Fraction(1, 32)
    assert at[Fraction(8)].delta == 0
    stated = ledger_view([{"mechanism": "rdp", "curve": [["4", "1"]]}], delta="1e-6").divergences()
    assert [each.order for each in stated] == [Fraction(3, 2), 2, 3, 4]  # nothing is known above
    assert stated[-1].epsilon == 1
    sampled = ledger_view([SAMPLED], delta="1e-6").divergences()
    assert 0 < sampled[0].delta < Fraction(1, 10**9)
    assert sampled[0].epsilon < Fraction(20, 8) * Fraction(3, 2) / 10


@pytest.mark.parametrize("rows", [[GAUSSIAN], [LAPLACE], [GAUSSIAN, LAPLACE], [SAMPLED]], ids=range(4))
def test_delta_at_epsilon_is_the_inverse_of_the_account(rows: list[dict[str, Any]]) -> None:
    bound = account(rows, delta="1e-4", fixed=True)
    found = ledger_view(rows, delta="1e-4", fixed=True).delta_at(bound.epsilon)
    assert float(found) == pytest.approx(1e-4 if bound.delta else 0, rel=1e-4)
    less = ledger_view(rows, delta="1e-4", fixed=True).delta_at(bound.epsilon * Fraction(9, 10))
    assert less > found
