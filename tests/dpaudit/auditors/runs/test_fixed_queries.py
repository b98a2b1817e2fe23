"""Runs of subjects whose queries no output changes, drawn at once: the same law as one by one, and only where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ks_2samp

import dpaudit as dp
from dpaudit.auditors.replay.pinned_runs import play
from dpaudit.auditors.runs.fixed_queries import fixed_queries
from dpaudit.auditors.runs.transcripts import Trials
from dpaudit.subjects.subject import Subject

NEIGHBOURS = dp.replace_one(n=4, low=0, high=1)
PAIR = np.zeros(4), np.array([0.0, 0.0, 1.0, 0.0])
SURE = 1e-6  # of a Kolmogorov–Smirnov test that must not reject


def subject_of(function: Any) -> Subject:
    return dp.subject(claim=dp.Claim("1", "1e-6"), neighbours=NEIGHBOURS)(function)


def two_releases(data: Any, channel: Any) -> Any:
    total = channel.release("total", data.sum(), dp.Laplace(scale=1), sensitivity=1)
    parts = channel.release("parts", np.array([data[0] + data[2], data[2], data[1]]), dp.Gaussian(sigma=2), sensitivity=2)
    return total, parts / 4


def losses_one_by_one(subject: Subject, pair: tuple[Any, Any], runs: int) -> np.ndarray:
    return np.array([play(subject, *pair, seed, None).losses()[0] for seed in range(runs)])


@pytest.mark.parametrize("side", [0, 1])
def test_losses_have_the_law_of_runs_one_by_one(side: int) -> None:
    subject = subject_of(two_releases)
    fixed = fixed_queries(subject, PAIR, 1)
    assert fixed is not None
    drawn = fixed.losses(side, 20_000, 3)
    alone = losses_one_by_one(subject, PAIR if side == 0 else PAIR[::-1], 1500)
    assert ks_2samp(drawn, alone).pvalue > SURE
    assert ks_2samp(drawn * 1.3, alone).pvalue < SURE  # the twin: another law is seen


def test_a_seed_gives_the_same_losses_and_chunks_do_not_share_them() -> None:
    trials = Trials(subject_of(two_releases), PAIR, 5, by_likelihood=True)
    assert trials.fixed is not None
    assert trials.repeatable()
    assert not np.array_equal(trials.chunk(0, 50)[1], trials.chunk(1, 50)[1])


def looks(data: Any, channel: Any) -> Any:
    first = channel.release("first", data.sum(), dp.Laplace(scale=1), sensitivity=1)
    if first > 30:  # in one run of 10^12
        channel.release("second", data.sum(), dp.Laplace(scale=1), sensitivity=1)
    return first


def asks_by_outputs(data: Any, channel: Any) -> Any:
    first = channel.release("first", data.sum(), dp.Laplace(scale=1), sensitivity=1)
    return channel.release("second", data.sum() + first, dp.Laplace(scale=1), sensitivity=1)


def public_coin(data: Any, channel: Any) -> Any:
    return channel.release("one", data[channel.rng.integers(4)], dp.Laplace(scale=1), sensitivity=1)


def other_noise(data: Any, channel: Any) -> Any:
    return channel.release("one", data.sum(), dp.Laplace(scale=1 + float(data[2])), sensitivity=1)


def fails(data: Any, channel: Any) -> Any:
    raise ValueError("always")


@pytest.mark.parametrize("function", [looks, asks_by_outputs, public_coin, other_noise, fails])
def test_runs_that_may_differ_are_not_drawn_at_once(function: Any) -> None:
    assert fixed_queries(subject_of(function), PAIR, 1) is None


def test_what_the_data_returned_may_hold_is_followed_one_by_one_where_it_cannot_be_sealed() -> None:
    """A listed pair has no bounds: no sealed run looked at what is returned."""
    subject = dp.subject(claim=dp.Claim("1", "1e-6"), neighbours=[PAIR])(two_releases)
    assert Trials(subject, PAIR, 5, by_likelihood=True).fixed is None
