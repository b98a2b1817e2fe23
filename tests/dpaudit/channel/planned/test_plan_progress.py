"""A plan in force: the refusals that need more than names, and doors that are copied."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import NotPlanned, Plan

SEALED = dp.seal(np.linspace(0, 1, 10), 0, 1)


def under(*entries: Any, trials: int | None = None) -> Any:
    with dp.simulate(1, trials=trials) as channel:
        return channel.under(Plan.of(entries))


def test_an_error_keeps_what_was_expected_and_what_was_asked() -> None:
    entry = dp.Planned("a", dp.Laplace(scale=2), 1)
    with pytest.raises(NotPlanned, match="asked was 'b'") as raised:
        under(entry).release("b", 0, dp.Laplace(scale=2), sensitivity=1)
    assert (raised.value.release, raised.value.expected) == ("b", entry)


@pytest.mark.parametrize("cohort", [range(10), None])
def test_a_shuffled_batch_must_hide_each_report_among_its_cohort(cohort: Any) -> None:
    entry = dp.Planned("r", dp.Laplace(scale=2), 1, kind="shuffled", cohort=cohort)
    tags = np.arange(10) % 2  # five reports of each
    for labels in (None, tags):
        channel = under(entry)
        if cohort is not None and labels is not None:
            with pytest.raises(NotPlanned, match="hides a report among 5"):
                channel.reports("r", SEALED, dp.Laplace(scale=2), sensitivity=1, cohort=cohort, to="shuffled", tags=labels)
        else:
            channel.reports("r", SEALED, dp.Laplace(scale=2), sensitivity=1, cohort=cohort, to="shuffled", tags=labels)


def test_rounding_that_brings_a_vector_above_its_planned_sensitivity_is_refused_with_the_one_that_would_do() -> None:
    """Three numbers that move by 1/3 each: rounded to the grid, together by two steps more than 1."""
    thirds = np.array([1 / 3, 1 / 3, 1 / 3]) * SEALED.sum()
    with pytest.raises(NotPlanned, match="rounding to the grid adds") as raised:
        under(("v", dp.Laplace(scale=2), 1)).release("v", thirds, dp.Laplace(scale=2), sensitivity=1)
    enough = str(raised.value).split('"')[-2]
    under(("v", dp.Laplace(scale=2), enough)).release("v", thirds, dp.Laplace(scale=2), sensitivity=1)
    with pytest.raises(NotPlanned, match="asked was sensitivity 1"):
        under(("v", dp.Laplace(scale=2), "1.01")).release("v", thirds, dp.Laplace(scale=2), sensitivity=1)


def test_a_declared_sensitivity_that_is_too_small_is_noted_as_such_and_not_as_another_release() -> None:
    channel = under(("v", dp.Laplace(scale=2), "1/2"))
    channel.release("v", SEALED.sum(), dp.Laplace(scale=2), sensitivity="1/2")
    assert [finding.rule for finding in channel.findings] == ["DPA003"]


def test_a_planned_sample_is_not_met_by_a_release_of_everything() -> None:
    with pytest.raises(NotPlanned, match="no sample"):
        under(dp.Planned("v", dp.Laplace(scale=2), 1, sampling="1/2")).release("v", 0, dp.Laplace(scale=2), sensitivity=1)


@pytest.mark.parametrize(
    ("scale", "sensitivity", "passes"), [([2, 2], [1, 1], True), ([2, 3], [1, 1], False), ([2, 2], [1, 2], False)]
)
def test_parameters_of_many_trials_must_be_the_planned_ones_in_each(scale: Any, sensitivity: Any, passes: bool) -> None:
    channel = under(("v", dp.Laplace(scale=2), 1), trials=2)
    noise, move = dp.Laplace(scale=np.array(scale, float)), np.array(sensitivity, float)
    if passes:
        channel.release("v", 0, noise, sensitivity=move)
    else:
        with pytest.raises(NotPlanned, match="trial"):
            channel.release("v", 0, noise, sensitivity=move)


def test_a_copied_door_is_no_second_plan() -> None:
    channel = under(("v", dp.Laplace(scale=2), 1))
    other = copy.deepcopy(channel)
    channel.release("v", 0, dp.Laplace(scale=2), sensitivity=1)
    with pytest.raises(NotPlanned, match="no more releases"):
        other.release("v", 0, dp.Laplace(scale=2), sensitivity=1)


def test_plans_of_nested_subjects_hold_together() -> None:
    inner = under(("v", dp.Laplace(scale=2), 1), ("w", dp.Laplace(scale=2), 1)).under(Plan.of([("v", dp.Laplace(scale=2), 1)]))
    inner.release("v", 0, dp.Laplace(scale=2), sensitivity=1)
    with pytest.raises(NotPlanned, match="no more releases"):
        inner.release("w", 0, dp.Laplace(scale=2), sensitivity=1)
