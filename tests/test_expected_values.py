"""Peers' own expected values: a sample of them, and what counts as a contradiction."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.peers.expected_values import Value, outcome, read_values, shares, values_table

VALUES = list(read_values())
SLOW = ("sampling", "calibrated")  # many steps on samples: the command compares them all


def _quick(value: Value) -> bool:
    return not any(word in str(value.what) for word in SLOW)


def test_a_sample_of_every_quantity_is_expressed_and_none_is_contradicted() -> None:
    quantities = {value.quantity for value in VALUES} - {"calibrated"}
    sample = [
        each for name in quantities for each in [value for value in VALUES if _quick(value) and value.quantity == name][::15]
    ]
    outcomes = Counter(outcome(value) for value in sample if value.missing is None)
    assert len(quantities) == 7
    assert outcomes["contradicted"] == 0
    assert outcomes["agree"] > 30
    assert outcomes["tighter"] > 5


def test_all_but_one_in_a_hundred_values_are_expressed_and_all_have_a_source() -> None:
    assert len(VALUES) > 800
    assert sum(value.missing is None for value in VALUES) >= 0.99 * len(VALUES)
    assert all(value.file.endswith(".py") and ".test_" in value.test for value in VALUES)


@pytest.mark.parametrize(
    ("factor", "claim", "expected"),
    [
        ("0.9", "exact", "contradicted"),
        ("1.1", "exact", "contradicted"),
        ("0.9", "upper", "contradicted"),
        ("1.1", "upper", "tighter"),
        ("0.9", "lower", "tighter"),
        ("1.1", "lower", "contradicted"),
        ("1", "exact", "agree"),
    ],
)
def test_a_value_that_is_moved_is_told_apart(factor: str, claim: str, expected: str) -> None:
    value = next(each for each in VALUES if each.quantity == "delta" and each.what.get("pair") == "gaussian")
    moved = replace(value, claim=claim, expected=str(float(value.expected) * float(factor)))
    assert outcome(moved) == expected


@pytest.mark.parametrize(("factor", "expected"), [(0.99, "contradicted"), (1, "agree"), (1.01, "tighter")])
def test_noise_that_does_not_suffice_contradicts_and_more_than_enough_is_loose(factor: float, expected: str) -> None:
    value = next(each for each in VALUES if each.quantity == "noise" and each.what.get("pair") == "gaussian")
    assert outcome(replace(value, expected=str(float(value.expected) * factor))) == expected


def test_the_table_counts_what_is_not_expressed_by_kind() -> None:
    few = [*(each for each in VALUES if each.missing), next(each for each in VALUES if _quick(each))]
    lines = values_table(shares(iter(few)))
    assert "mixtures of Gaussians" in lines[-1]
    assert lines[-3].startswith("| all |")


def test_batches_cut_to_a_size_and_the_best_of_several_runs_are_expressed_and_none_is_contradicted() -> None:
    """The cut ones are tighter: the peer moves both neighbours where others fill the batch, the proof only one."""
    quick = [value for value in VALUES if value.quantity != "epsilon"]  # that one is a search, and the inverse of another
    outcomes = {kind: Counter(outcome(value) for value in quick if kind in value.what) for kind in ("cut", "runs")}
    assert outcomes == {"cut": Counter(tighter=9), "runs": Counter(agree=22)}
