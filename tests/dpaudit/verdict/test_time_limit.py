"""A limit of time ends an audit between two stages: what is known by then holds, and what was not tried is named."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.auditors.runs.engine import Milestone
from dpaudit.verdict.time_limit import read_seconds

NEIGHBOURS = dp.replace_one(10, values=[0, 1])


@pytest.mark.parametrize(
    ("limit", "seconds"), [("60s", 60.0), ("2m", 120.0), (" 1h ", 3600.0), ("90", 90.0), (1.5, 1.5), (7, 7.0), ("0.5m", 30.0)]
)
def test_a_time_is_read_in_seconds_minutes_or_hours(limit: Any, seconds: float) -> None:
    assert read_seconds(limit) == seconds


@pytest.mark.parametrize("limit", ["", "s", "5x", "-1s", "0", 0, "nan", "1 2s", True, None])
def test_what_is_no_time_is_refused(limit: Any) -> None:
    with pytest.raises(dp.DpauditError, match="time"):
        read_seconds(limit)


@dp.subject(claim=dp.Claim("1"), neighbours=NEIGHBOURS)
def honest(data: Any, channel: Any) -> Any:
    return channel.release("total", data.sum(), dp.Laplace(scale=1), sensitivity=1)


def test_nothing_is_certified_without_replay() -> None:
    verdict = dp.audit(honest, seed=1, time=1e-9)
    assert (verdict.verdict, verdict.stopped) == ("unproven", "time")
    assert "not tried: replay" in verdict.reason
    assert json.loads(verdict.to_json())["stopped"] == "time"


def test_an_audit_that_has_time_says_nothing_of_it() -> None:
    verdict = dp.audit(honest, seed=1, time="1h")
    assert (verdict.verdict, verdict.stopped) == ("certified", None)
    assert "stopped" not in json.loads(verdict.to_json())


def test_the_game_goes_on_while_there_is_time_and_stops_between_its_stages_when_there_is_none() -> None:
    """The lower bound beats the claim at 95 %, but not at the refuting level: only more runs decide."""

    def audited(**limit: Any) -> dp.Verdict:
        slept = limit.pop("slept")

        @dp.subject(claim=dp.Claim("1"), neighbours=[([1.0], [0.0])])
        def thin(data: Any, rng: Any, trials: int) -> Any:
            time.sleep(slept)
            return data[0] + rng.laplace(scale=0.93, size=trials)

        return dp.audit(thin, samples=8000, seed=2, workers=1, **limit)

    enough = audited(slept=0.0)
    assert (enough.verdict, enough.stopped) == ("refuted", None)
    stopped = audited(slept=0.1, time=0.4)
    assert stopped.stopped == "time"
    assert stopped.verdict == "unproven"
    assert "a game of 32,000 runs on each side" in stopped.reason


def test_what_is_known_is_told_stage_by_stage_proof_first() -> None:
    told: list[str] = []
    dp.audit(honest, seed=1, progress=lambda what: told.append(what) if isinstance(what, Milestone) else None)
    assert [line.split(":")[0] for line in told] == ["proof", "replay", "transcripts"]
    assert told[0] == "proof: ε ≤ 1, sensitivity proven, path enforced"
    assert told[-1] == "transcripts: ε ≥ 1"
