"""(ε,δ) per batch is (ε,δ) overall when clients are in one batch, and is not when one reports twice."""

from __future__ import annotations

from fractions import Fraction

from proofs_checks.linear_bandits.theorems.one_batch import disjoint, one_batch_per_client, overlapping, view


def test_disjoint_batches_cost_what_one_costs() -> None:
    found = one_batch_per_client(quick=True)
    assert found.verdict == "verified"
    assert found.evidence["overall δ at ε = log 3"] == Fraction(1, 10)


def test_twin_a_client_in_two_batches_costs_more() -> None:
    found = one_batch_per_client(quick=True, schedule=overlapping)
    assert found.verdict == "refuted"
    assert found.evidence["overall δ at ε = log 3"] > Fraction(1, 10)


def test_the_paths_differ_in_their_batches_and_their_law_adds_up() -> None:
    seen = view((0, 1, 0), disjoint)
    assert sum(seen.values()) == 1
    assert {len(outputs) for outputs in seen} == {2, 3}  # type: ignore[arg-type]
