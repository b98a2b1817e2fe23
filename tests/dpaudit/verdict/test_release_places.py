"""Findings stand at the user's lines: where a release is made, where private data became a message, what holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpaudit as dp
from dpaudit.claims import Finding
from dpaudit.verdict.release_places import at_their_lines

TEN = dp.replace_one(n=10, low=0, high=1)
CLAIM = dp.Claim("1")
MEMORY: list[Any] = []


def line_in(function: Any, words: str) -> str:
    """file:line of the line of a function that holds these words."""
    import inspect

    lines, first = inspect.getsourcelines(function)
    return f"test_release_places.py:{first + next(place for place, line in enumerate(lines) if words in line)}"


def audit(function: Any, neighbours: Any = TEN) -> Any:
    return dp.audit(dp.subject(claim=CLAIM, neighbours=neighbours)(function), samples=100, seed=1, workers=1)


def test_an_observed_sensitivity_stands_at_the_line_of_its_release() -> None:
    def doubled(x: Any, channel: Any) -> Any:
        ordered = np.sort(x)
        return channel.release("low", 2 * ordered[0], dp.Laplace(scale=3), sensitivity=1)

    found = [finding for finding in audit(doubled).findings if finding.rule == "DPA003"]
    assert [finding.where for finding in found] == [line_in(doubled, "channel.release")]


def test_findings_with_a_place_keep_it() -> None:
    subject = dp.subject(claim=CLAIM, neighbours=TEN)(lambda x, channel: 1 / 0)
    found = [Finding("DPA003", "m", "file.py:3", "sum"), Finding("DPA003", "m", "never", "never")]
    assert at_their_lines(subject, found, 1) == found


def test_a_message_made_of_private_data_is_a_finding_and_no_error() -> None:
    def refusing(x: Any, channel: Any) -> Any:
        raise ValueError(f"the total {x.sum()} is too large")

    verdict = audit(refusing)
    assert verdict.verdict == "unproven"
    assert [(f.rule, f.where) for f in verdict.findings] == [("DPA002", line_in(refusing, "raise"))]


def test_a_returned_closure_that_holds_private_data_is_a_finding_and_no_error() -> None:
    def late(x: Any, channel: Any) -> Any:
        total = x.sum()
        channel.release("sum", total, dp.Laplace(scale=1), sensitivity=1)
        return lambda: total

    verdict = audit(late)
    assert verdict.verdict == "unproven"
    assert [f.rule for f in verdict.findings] == ["DPA002"]
    assert "a function that holds it" in verdict.findings[0].message


def test_data_kept_by_a_global_is_a_finding_that_names_it() -> None:
    def keeper(x: Any, channel: Any) -> Any:
        MEMORY.append(x)
        return channel.release("sum", x.sum(), dp.Laplace(scale=1), sensitivity=1)

    verdict = audit(keeper)
    assert [f.rule for f in verdict.findings] == ["DPA002"]
    assert "'MEMORY'" in verdict.findings[0].message


def test_a_mean_of_a_private_number_of_records_is_not_told_to_use_more_noise() -> None:
    def mean(x: Any, channel: Any) -> Any:
        return channel.release("mean", x.mean(), dp.Laplace(scale=0.1), sensitivity=0.1)

    verdict = audit(mean, dp.add_remove(n=10, low=0, high=1))
    assert "DPA002" in [f.rule for f in verdict.findings]
    assert "would do" not in verdict.reason
