"""Durations are those of checks that exist, and add up to the minutes that a full run announces."""

from __future__ import annotations

from dpaudit.commands.auditing.claims import expected_seconds
from proofs_checks.linear_bandits.catalogue import checks as linear
from proofs_checks.optimistic_bandit.catalogue import checks as optimistic
from proofs_checks.shared.durations import SECONDS
from proofs_checks.sparse_vector.catalogue import checks as sparse


def test_every_duration_belongs_to_a_check_and_a_full_run_is_forecast():
    every = [check for paper in (linear, optimistic, sparse) for check in paper()]
    assert set(SECONDS) <= {check.id for check in every}
    known = expected_seconds(every)
    assert len(known) == len(every)
    assert 60 < sum(known) < 3600
