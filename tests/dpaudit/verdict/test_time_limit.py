"""A limit of time ends an audit within its stages too: what those that ended know holds, and what was not tried is named."""

from __future__ import annotations

import json
import math
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


def test_the_game_goes_on_while_there_is_time_and_keeps_its_first_stage_when_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lower bound beats the claim at 95 %, but not at the refuting level: only more runs decide. The clock stands still
    until the second stage is under way."""

    def audited(allowed: float) -> dp.Verdict:
        drawn = 0

        @dp.subject(claim=dp.Claim("1"), neighbours=[([1.0], [0.0])])
        def thin(data: Any, rng: Any, trials: int) -> Any:
            nonlocal drawn
            drawn += trials
            return data[0] + rng.laplace(scale=0.93, size=trials)

        monkeypatch.setattr(time, "monotonic", lambda: 1.0 * (drawn > allowed))
        return dp.audit(thin, samples=8000, seed=2, workers=1, time=0.5)

    enough = audited(allowed=math.inf)
    assert (enough.verdict, enough.stopped) == ("refuted", None)
    stopped = audited(allowed=40_000)
    assert (stopped.verdict, stopped.stopped) == ("unproven", "time")
    assert "a game of 32,000 runs on each side" in stopped.reason
    assert stopped.lower.epsilon > 1
    at_once = audited(allowed=1000)
    assert (at_once.lower.epsilon, at_once.stopped) == (0, "time")


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_slow_black_box_is_left_within_a_stage(workers: int, sequential: bool) -> None:
    """Each run takes 20 ms, and every stage would take a minute and more."""

    @dp.subject(claim=dp.Claim("1"), neighbours=[([1.0], [0.0])])
    def slow(data: Any, rng: Any) -> Any:
        time.sleep(0.02)
        return data[0] + rng.laplace()

    started = time.monotonic()
    verdict = dp.audit(slow, seed=2, workers=workers, time=0.3, sequential=sequential)
    assert time.monotonic() - started < 8  # the machine may be busy
    assert (verdict.verdict, verdict.stopped) == ("unproven", "time")
    assert "the time was over, not tried: " in verdict.reason
    assert verdict.lower.epsilon == 0


def test_what_is_known_is_told_stage_by_stage_proof_first() -> None:
    told: list[str] = []
    dp.audit(honest, seed=1, progress=lambda what: told.append(what) if isinstance(what, Milestone) else None)
    assert [line.split(":")[0] for line in told] == ["proof", "replay", "transcripts"]
    assert told[0] == "proof: ε ≤ 1, sensitivity proven, path enforced"
    assert told[-1] == "transcripts: ε ≥ 1"
