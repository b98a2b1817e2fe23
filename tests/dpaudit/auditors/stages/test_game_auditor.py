"""Games escalate: what a longer one shows is what is told, at the confidence that it has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.interface import REFUTE

PEOPLE = dp.replace_one(n=50, low=0, high=1)


@dp.subject(claim=dp.Claim(epsilon="1", delta="0.01"), neighbours=PEOPLE)
def names_one(records: Any, rng: np.random.Generator) -> tuple[int, float]:
    """δ is 1/50: one of fifty records is handed out."""
    chosen = int(rng.integers(50))
    return chosen, float(records[chosen])


@pytest.mark.parametrize("seed", [1, 3])  # 3: the first game shows less than the one that refutes
def test_no_refutation_rests_on_more_than_the_lower_bound_that_is_told(seed: int) -> None:
    verdict = dp.audit(names_one, seed=seed)
    assert verdict.verdict == "refuted"
    refuting = verdict.witness["epsilon"]
    assert verdict.lower.epsilon >= refuting > 1
    if verdict.lower.epsilon == refuting:
        assert (verdict.lower.confidence, verdict.lower.samples) == (1 - REFUTE, verdict.witness["samples"])
    else:
        assert verdict.lower.confidence == 0.95


def test_where_the_truth_is_the_claim_nothing_is_refuted() -> None:
    """The twin. An honest claim is refuted once in a million runs."""
    assert dp.audit(names_one, seed=3, delta="0.02").verdict == "unproven"
