"""Transcript witnesses: the likeliest transcript, its exact loss, as short as it can be."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.events.transcript_witness import simplified, transcript_loss, transcript_witness
from dpaudit.auditors.replay.pinned_runs import play

BIT = dp.replace_one(n=1, low=0, high=1)
ZERO, ONE = np.zeros(1), np.ones(1)


def declare(function: Any, claim: str = "1/2") -> Any:
    return dp.subject(claim=dp.Claim(claim), neighbours=BIT)(function)


def released(noise: Any, times: int = 1) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        return [channel.release(f"release {k}", data.sum(), noise, sensitivity=1) for k in range(times)]

    return declare(mechanism)


@pytest.mark.parametrize(("noise", "times", "loss"), [(dp.Laplace(2), 2, 1), (dp.RandomizedResponse("1/3"), 3, 1)])
def test_without_noise_the_loss_is_the_mechanisms_own_epsilon(noise: Any, times: int, loss: int) -> None:
    for pair in ((ZERO, ONE), (ONE, ZERO)):
        subject = released(noise, times)
        witness = transcript_witness(subject, subject.claim, *pair, (), 1)
        assert witness is not None
        assert witness.epsilon == loss
        assert witness.facts["loss"] == str(loss)
        assert witness.facts["outputs"] == {}
        assert [moved["release"] for moved in witness.facts["moved"]] == [f"release {k}" for k in range(times)]


def test_no_drawn_transcript_loses_more_than_the_one_without_noise() -> None:
    """Laplace and randomised response: 200 runs, none above."""
    for noise in (dp.Laplace(1), dp.RandomizedResponse(1)):
        subject = released(noise, 3)
        plain = transcript_loss(subject, ZERO, ONE, {}, 1)
        assert plain is not None
        for seed in range(200):
            assert abs(play(subject, ZERO, ONE, seed, None).losses()[0]) <= float(plain.loss) + 1e-9


def test_gaussian_noise_is_pushed_until_it_beats_any_pure_claim() -> None:
    for epsilon in ("1", "7", "30"):
        subject = released(dp.Gaussian(2))
        witness = transcript_witness(subject, dp.Claim(epsilon), ZERO, ONE, (), 1)
        assert witness is not None
        assert Fraction(epsilon) < witness.epsilon < Fraction(epsilon) + 1
        assert list(witness.facts["outputs"]) == ["0"]


def test_a_transcript_ends_where_its_loss_is_largest() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        channel.release("about the data", data.sum(), dp.Laplace(1), sensitivity=1)
        return [channel.release(f"nothing {k}", 0.0, dp.Laplace(1), sensitivity=1) for k in range(5)]

    witness = transcript_witness(declare(mechanism), dp.Claim("1/2"), ZERO, ONE, (), 1)
    assert witness is not None
    assert witness.facts["releases"] == 1


def spends_more_after_a_large_output(data: Any, channel: Any) -> Any:
    first = channel.release("first", data.sum(), dp.Laplace(4), sensitivity=1)
    return channel.release("second", data.sum(), dp.Laplace("1/2" if first > 10 else 4), sensitivity=1)


def test_a_path_that_only_noise_leads_to_is_found_among_drawn_runs_and_kept_simple() -> None:
    """P(first > 10) is e^-2.5/2: 300 runs see it. Only that output must be chosen, the other needs no noise."""
    subject = declare(spends_more_after_a_large_output)
    drawn = [play(subject, ZERO, ONE, seed, None) for seed in range(300)]
    best = max(drawn, key=lambda one: abs(one.losses()[0]))
    plain = transcript_witness(subject, dp.Claim("1"), ZERO, ONE, (), 1)
    found = transcript_witness(subject, dp.Claim("1"), ZERO, ONE, [best], 1)
    assert plain is not None
    assert found is not None
    assert plain.epsilon == Fraction(1, 2)
    assert found.epsilon > Fraction(3, 2)
    assert list(found.facts["outputs"]) == ["0"]


def test_a_simpler_transcript_still_beats_the_claim() -> None:
    subject = released(dp.Laplace(1), 4)
    outputs = {k: np.array(2**20 * k) for k in range(4)}
    full = transcript_loss(subject, ONE, ZERO, outputs, 1)
    assert full is not None
    fewer = simplified(subject, ONE, ZERO, full, Fraction(1))
    assert len(fewer.chosen) < len(full.chosen)
    assert abs(fewer.loss) > 1


def test_no_transcript_where_the_neighbour_takes_another_path_or_a_shuffler_is_on_the_way() -> None:
    def branches(data: Any, channel: Any) -> Any:
        return channel.release("v", data.sum(), dp.Laplace(1 if data.sum() > 0 else 2), sensitivity=1)

    def shuffles(data: Any, channel: Any) -> Any:
        return channel.reports("v", data, dp.Laplace(1), sensitivity=1, to="shuffled").values

    def fails(data: Any, channel: Any) -> Any:
        return 1 / (channel.release("v", data.sum(), dp.Laplace(1), sensitivity=1) - 1)

    for function in (branches, shuffles, lambda data, channel: 0):
        assert transcript_witness(declare(function), dp.Claim("1/2"), ZERO, ONE, (), 1) is None
    with np.errstate(divide="raise"):
        assert transcript_loss(declare(fails), ONE, ZERO, {}, 1) is None


def test_trials_give_the_outputs_of_one_run() -> None:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        first = channel.release("first", data.sum(), dp.Laplace(1), sensitivity=1)
        if trials is None:
            return first
        late = np.flatnonzero(np.asarray(first) > 0)
        channel.at(late).release("late", np.zeros(len(late)), dp.Laplace(1), sensitivity=1)
        return first

    played = play(declare(mechanism), ZERO, ONE, 1, 16)
    for trial in range(16):
        outputs = played.outputs(trial)
        assert len(outputs) == 1 + (outputs[0] > 0)
        assert outputs[0] == played.events[0].output[trial]
