"""The paths that replay pinned: what each costs by its own releases, in one run and in each of many trials."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.replay.pinned_runs import play
from dpaudit.verdict.pinned_paths import pinned_paths, sealed_epsilon

TEN = dp.replace_one(n=10, low=0, high=1)
DATA, OTHER = np.zeros(10), np.eye(10)[0]


def halves(data: Any, channel: Any, trials: Any = None) -> Any:
    """Two disjoint halves, whose cohorts only sealed data tells; the second scale depends on the first output."""
    first = channel.release("first", data[:5].sum(), dp.Laplace(1), sensitivity=1)
    return channel.release("rest", data[5:].sum(), dp.Laplace(np.where(first > 0, 1.0, 2.0)[()]), sensitivity=1)


@pytest.mark.parametrize("trials", [None, 40])
def test_each_path_is_charged_as_its_own_trial_declares(trials: int | None) -> None:
    subject = dp.subject(claim=dp.Claim("1"), neighbours=TEN)(halves)
    found = [
        path for seed in range(1 if trials else 10)
        for path in pinned_paths([(0, play(subject, DATA, OTHER, seed, trials))], [])
    ]  # fmt: skip
    assert len(found) == (trials or 10)
    for path in found:
        above = bool(path.transcript.outputs[0] > 0)
        assert path.pure_epsilon() == (2 if above else Fraction(3, 2))  # plain data is everybody's
        assert path.loss == min(path.loss, 1)  # record 0 is in the first half
        assert sealed_epsilon(subject, DATA, path, subject.claim) == 1
    assert len({path.pure_epsilon() for path in found}) == 2


def test_proven_steps_replace_declared_ones() -> None:
    subject = dp.subject(claim=dp.Claim("1"), neighbours=TEN)(lambda data, channel: halves(data, channel))
    (path,) = pinned_paths([(0, play(subject, DATA, OTHER, 1, None))], [])
    known = [replace(release, steps=2**18) for release in path.releases]
    (again,) = pinned_paths([(0, play(subject, DATA, OTHER, 1, None))], [known])
    assert again.pure_epsilon() == (path.pure_epsilon() or 0) / 4


def test_a_path_that_does_not_repeat_sealed_says_nothing() -> None:
    subject = dp.subject(claim=dp.Claim("1"), neighbours=TEN)(lambda data, channel: halves(data, channel))
    (path,) = pinned_paths([(0, play(subject, DATA, OTHER, 1, None))], [])
    other = dp.subject(claim=dp.Claim("1"), neighbours=TEN)(lambda data, channel: float(data.sum()))
    assert sealed_epsilon(other, DATA, path, subject.claim) is None
