"""Every claim of the optimistic bandit is verified, and refuted with its planted fault."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from algorithms.optimistic.intervals import Intervals
from proofs_checks.optimistic_bandit import ball_lemmas, privacy, regret, validity
from proofs_checks.optimistic_bandit.catalogue import checks


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_each_claim_is_verified(check):
    decision = check.run(True)
    assert decision.verdict == "verified", decision.evidence
    assert {"summary", "range", "proof"} <= set(decision.evidence)


@pytest.mark.parametrize(
    "faulty",
    [
        lambda: privacy.central(True, scale=Fraction(1)),
        lambda: privacy.local(True, gain=1.2),
        lambda: privacy.shuffled(True, larger=16),
        lambda: validity.validity(True, noise=16.0),
        lambda: validity.width(True, share=0.9),
        lambda: validity.noise_growth(True, reach=0.6),
        lambda: validity.discrete_noise(True, coarser=1.05),
        lambda: regret.gap_regret(True, share=0.01),
        lambda: regret.dimension_regret(True, share=1e-4),
        lambda: regret.batches(True, share=0.05),
        lambda: regret.shrunken_matrix(True, share=0.76),
        lambda: ball_lemmas.ellipsoid(True, ridge=20.0),
        lambda: ball_lemmas.ball(True, share=0.98),
    ],
)
def test_planted_faults_are_caught(faulty):
    assert faulty().verdict == "refuted"


def test_noise_that_the_tables_do_not_count_is_noticed(monkeypatch):
    own = Intervals.tables.func
    monkeypatch.setattr(Intervals, "tables", property(lambda self: _one_noise_less(own(self))))
    found = validity.validity(True)
    assert found.verdict == "refuted"
    assert "N_k" in found.evidence["counterexample"]


def _one_noise_less(tables):
    stage = np.arange(1, len(tables.totals) + 1)[:, None]
    return replace(tables, noise=tables.noise * (stage - 1) / stage)
