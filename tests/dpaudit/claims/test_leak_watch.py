"""A leak or a call that may fail is known to whoever vouches for the run, also where the code that leaks catches the error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import DpauditError, Leak
from dpaudit.claims.leak_watch import Doubt, notice, standing_watch, watching
from dpaudit.sealed import Sealed
from dpaudit.sealed.traces import shapes

RECORDS = dp.replace_one(n=5, low=-1, high=1)
Act = Callable[[Any], Any]


def rare(x: Any) -> Any:
    """−1 for records in a narrow band, which no data of an audit lie in; else 0."""
    return np.where(x > 0.1234, np.where(x < 0.1235, -1, 0), 0).astype(np.int64)


# Each tells by an error whether a record lies in the band.
FAILING: dict[str, Act] = {
    "bincount": lambda x: np.bincount(rare(x)),
    "choose": lambda x: np.choose(rare(x), [0.0]),
    "quantile": lambda x: np.quantile([1.0, 2.0], rare(x)),
    "whole power": lambda x: np.power(np.full(5, 2), rare(x)),
    "digitize": lambda x: np.digitize(0.3, rare(x)),
    "histogram": lambda x: np.histogram([0.1, 0.2], rare(x)),
    "unravel_index": lambda x: np.unravel_index(rare(x), (3, 3)),
    "inverse": lambda x: np.linalg.inv(np.outer(np.arange(5), np.ones(5)) + np.eye(5) * (rare(x) + 1)),
    "place": lambda x: np.unique(rare(x))[1],
    "parts": lambda x: np.array_split(np.ones(5), 1 + rare(x)[0]),
    "cast": lambda x: (x * 0 + rare(x) / 2).astype(int, casting="same_value"),
}


def flagged(act: Act) -> Any:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=RECORDS)
    def subject(x: Any, channel: Any) -> Any:
        try:
            act(x)
            flag = 0
        except Exception:
            flag = 1
        return channel.release("sum", x.sum() + 100 * flag, dp.Laplace(scale=2), sensitivity=2)

    return subject


def certified(subject: Any) -> bool:
    return dp.audit(subject, seed=1, samples=500).verdict == "certified"


@pytest.mark.parametrize("act", FAILING.values(), ids=FAILING.keys())
def test_what_fails_on_rare_data_is_not_certified_though_no_run_of_the_audit_fails(act: Act) -> None:
    verdict = dp.audit(flagged(act), seed=1, samples=500)
    assert verdict.verdict == "unproven"
    assert "would tell" in verdict.reason or any(finding.rule == "DPA002" for finding in verdict.findings)


def test_without_the_notice_it_would_be_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: the same subject, where calls that may fail are not noticed."""
    assert not certified(flagged(FAILING["bincount"]))
    monkeypatch.setattr(shapes, "may_fail", lambda *_: False)
    assert certified(flagged(FAILING["bincount"]))


def test_what_cannot_fail_is_certified() -> None:
    assert certified(flagged(lambda x: [np.sort(x), np.median(x), np.exp(x), x.std(), np.where(x > 0, 1, 0), np.unique(x)]))


def test_columns_and_slices_of_records_that_can_be_removed_always_exist_and_places_may_not() -> None:
    table = dp.seal([[0.5, 1.0], [0.25, 0.0]], 0, 1, removal=True)
    with watching() as watch:
        for there in (table[:, 0], table[:1], table[..., 1], table[None], table[:, ::-1]):
            assert isinstance(there, Sealed)
    assert not watch.doubts
    for act in (lambda: table[1], lambda: table[[0, 1]], lambda: np.squeeze(np.unique(table))[:]):
        with watching() as watch:
            act()
        assert [doubt.operation for doubt in watch.doubts] == ["indexing"]


def in_a_thread(x: Any) -> None:
    def convert() -> None:
        with suppress(Leak):
            bool(x[0] > 0)

    thread = threading.Thread(target=convert)
    thread.start()
    thread.join()


CAUGHT: dict[str, Act] = {
    "branch": lambda x: bool(x[0] > 0),
    "float": lambda x: float(x[0]),
    "array": np.asarray,
    "out": lambda x: np.concatenate([x], out=np.zeros(5)),
    "number of axes": lambda x: np.squeeze(np.unique(x)).ndim,
    "another thread": in_a_thread,
}


@pytest.mark.parametrize("act", CAUGHT.values(), ids=CAUGHT.keys())
def test_a_leak_that_the_subject_catches_is_dpa002(act: Act) -> None:
    verdict = dp.audit(flagged(act), seed=1, samples=500)
    assert [finding.rule for finding in verdict.findings if finding.rule == "DPA002"]
    assert verdict.upper is None


@pytest.mark.parametrize("act", [*CAUGHT.values(), *FAILING.values()], ids=[*CAUGHT, *FAILING])
def test_a_door_for_proven_releases_takes_none_after_a_leak_or_a_call_that_may_fail(act: Act, tmp_path: Path) -> None:
    x = dp.seal([0.5, 0.25, 0.0, 0.0, 1.0], -1, 1)
    with dp.live(dp.open_ledger(tmp_path / "l"), budget="10", proven=True) as channel:
        channel.release("before", x.sum(), dp.Laplace(scale=2), sensitivity=2)
        with suppress(Leak):
            act(x)
        with pytest.raises(DpauditError, match=r"refused: .*(another way|would tell)"):
            channel.release("after", x.sum(), dp.Laplace(scale=2), sensitivity=2)


def test_a_door_for_proven_releases_goes_on_after_what_an_audit_noticed(tmp_path: Path) -> None:
    x = dp.seal([0.5], -1, 1)
    with dp.open_ledger(tmp_path / "l") as ledger, dp.live(ledger, budget="10", proven=True) as channel:
        dp.audit(flagged(CAUGHT["branch"]), seed=1, samples=500)
        channel.release("after", x.sum(), dp.Laplace(scale=2), sensitivity=2)
        assert [release.name for release in ledger.releases()] == ["after"]


def test_the_innermost_watch_is_told_and_a_standing_one_only_of_what_no_other_watches() -> None:
    standing = standing_watch()
    with watching() as outer:
        with watching() as inner:
            notice(Doubt("f", "here"))
            notice(Doubt("f", "here"))
        notice(Leak("g", "there"))
    assert inner.doubts == [Doubt("f", "here")]
    assert (len(outer.leaks), outer.doubts, standing.leaks, standing.doubts) == (2, [], [], [])
    notice(Doubt("h", "elsewhere"))
    assert standing.doubts == [Doubt("h", "elsewhere")]
