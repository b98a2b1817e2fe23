"""Runs: sealed data belongs to the run that sealed it, and so does all that is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.sealed.array import Sealed, Untraced, dependence, of_this_run, seal_declared
from dpaudit.sealed.runs import one_run

PROGRAMS = [
    lambda x: x.sum(), lambda x: x[1:], lambda x: np.abs(x), lambda x: x.mean(), lambda x: np.stack([x, x]), lambda x: np.sort(x),
    lambda x: dp.clip_rows(x, 1), lambda x: np.histogram(x, bins=[0, 1])[0], lambda x: x.T, lambda x: np.median(x), lambda x: -x,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_made_in_a_later_run_of_earlier_data_belongs_to_neither(program: Any) -> None:
    with one_run():
        old = seal_declared([0.5, 0.25], 0, 1)
        assert of_this_run(program(old))
    with one_run():
        new = seal_declared([0.5, 0.25], 0, 1)
        assert of_this_run(program(new))
        assert not of_this_run(program(old))
        assert not of_this_run(old + new)
        assert not of_this_run(np.concatenate([new, old]))
    assert of_this_run(old)  # nobody vouches for a run here


def test_a_door_refuses_a_value_of_another_run() -> None:
    with one_run():
        old = seal_declared([0.5], 0, 1).sum()
    with one_run(), dp.simulate(1) as channel, pytest.raises(dp.Leak, match="another run"):
        channel.release("old", old, dp.Laplace(1), sensitivity=1)


def test_bounds_that_a_subject_computes_prove_nothing() -> None:
    values = np.array([0.5, 0.25])
    with one_run():
        inside = dp.seal(values, values.min(), values.max())
        found = dependence(inside.sum())
        assert isinstance(found, Untraced)
        assert "dp.seal inside the subject" in found.operation
    assert isinstance(inside, Sealed)
    assert not isinstance(dependence(dp.seal(values, 0, 1).sum()), Untraced)


def test_a_result_that_is_cached_between_runs_is_found() -> None:
    cache: dict[str, Any] = {}

    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=3, low=0, high=1))
    def cached(records: Any, channel: Any) -> Any:
        cache.setdefault("sum", records.sum())
        return channel.release("sum", cache["sum"], dp.Laplace(scale=1), sensitivity=1)

    verdict = dp.audit(cached, seed=1, samples=100)
    assert verdict.verdict != "certified"
    assert "DPA002" in {finding.rule for finding in verdict.findings}
