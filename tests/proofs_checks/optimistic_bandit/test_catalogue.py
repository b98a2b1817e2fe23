"""Every claim of the optimistic bandit is verified, and refuted with its planted fault."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_checks.optimistic_bandit import privacy, regret, validity
from proofs_checks.optimistic_bandit.catalogue import checks


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_each_claim_is_verified(check):
    decision = check.run(True)
    assert decision.verdict == "verified", decision.evidence


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
    ],
)
def test_planted_faults_are_caught(faulty):
    assert faulty().verdict == "refuted"
