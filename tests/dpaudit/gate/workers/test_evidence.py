"""What an audit's figures are made from survives being written and read, and says nothing of what was drawn."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.gate.workers.evidence import evidence_of, read_evidence
from dpaudit.verdict.examination import Options, examine


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=20, low=-1, high=1))
def twice(data, channel):
    for _ in range(2):
        channel.release("sum", data.sum(), dp.Laplace(scale=4), sensitivity=2)


def test_releases_and_counts_are_read_as_they_were() -> None:
    examination = examine(twice, Options(samples=200, seed=1))
    written = json.loads(json.dumps(evidence_of(examination, grey=True), allow_nan=False))
    read = read_evidence(written)
    assert [[read.releases[place].charge() for place in run] for run in read.runs] == [
        [release.charge() for release in run] for run in examination.proof.runs
    ]
    assert len(read.releases) == 1  # equal releases are written once
    assert all(len(run) == 2 for run in read.runs)
    assert all(release.values is None for release in read.releases)
    assert read.upper == examination.verdict.upper
    assert [game.at(0.01) for game in read.games] == [game.at(0.01) for game in examination.attack.played]


@pytest.mark.parametrize(
    "change",
    [
        {"runs": [[0, 1]]}, {"runs": [[-1]]}, {"runs": [[True]]}, {"grey": 1}, {"refuted": None}, {"exact": "a"}, {"level": "a"},
        {"upper": {"epsilon": "1", "method": "", "sensitivity": "sworn", "path": "single"}}, {"releases": [{}]},
        {"games": [{"counted": [], "alpha": 0.1, "delta": 0.0}]}, {"games": [{}]}, {"planned": [0.0]},
    ],
)  # fmt: skip
def test_what_is_not_of_that_form_is_refused(change: dict[str, Any]) -> None:
    written = evidence_of(examine(twice, Options(samples=100, seed=1)), grey=True)
    with pytest.raises((dp.DpauditError, ValueError, TypeError, KeyError, IndexError)):
        read_evidence({**written, **change})
