"""Exact witnesses: their probabilities are those of the mechanism, and they claim nothing that later noise can change."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.replayed import play
from dpaudit.auditors.witness import (
    action_event,
    at_least,
    at_most,
    best_threshold,
    first_release_event,
    log_down,
    transcript_witness,
)

BIT = dp.replace_one(n=1, low=0, high=1)
ZERO, ONE = np.zeros(1), np.ones(1)


def declare(function: Any) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=BIT)(function)


@pytest.mark.parametrize("noise", [dp.Laplace(3, grid=1), dp.Gaussian(2, grid=1)])
@pytest.mark.parametrize("query", [-2, 0, 5])
def test_tails_are_the_sums_of_the_noises_probabilities(noise: Any, query: int) -> None:
    weights = {k: math.exp(float(noise.log_prob(k, 30))) for k in range(-150, 151)}
    for threshold in (-4, 0, 3):
        upper = sum(w for k, w in weights.items() if query + k >= threshold)
        lower = sum(w for k, w in weights.items() if query + k <= threshold)
        assert float(at_least(noise, threshold, query)[0]) == pytest.approx(upper, abs=1e-9)
        assert float(at_most(noise, threshold, query)[1]) == pytest.approx(lower, abs=1e-9)


@pytest.mark.parametrize("query", [0, 1])
def test_randomised_response_flips_its_bit_and_adds_nothing(query: int) -> None:
    keep = math.e / (1 + math.e)
    one = keep if query else 1 - keep
    noise = dp.RandomizedResponse(1)
    assert [float(at_least(noise, t, query)[0]) for t in (-1, 0, 1, 2)] == pytest.approx([1, 1, one, 0])
    assert [float(at_most(noise, t, query)[1]) for t in (-1, 0, 1, 2)] == pytest.approx([0, 1 - one, 1, 1])


@given(st.fractions(min_value=1, max_value=10**30))
def test_logarithms_are_rounded_down_and_by_little(ratio: Fraction) -> None:
    found = log_down(ratio)
    if found is None:
        assert ratio - 1 < Fraction(1, 10**20)
    else:
        assert float(found) == pytest.approx(math.log(ratio), rel=1e-12)
        assert math.exp(float(found)) <= float(ratio) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("noise", "delta"),
    [
        (dp.Gaussian(4), "1e-6"),
        (dp.Gaussian(1), "1e-3"),
        (dp.Gaussian(20), "1e-9"),
        (dp.Laplace(1), "1e-3"),
        (dp.Laplace(1), "0.1"),
    ],
)
@pytest.mark.parametrize("claimed", ["0.01", "1", "20"])
def test_the_best_tail_event_reaches_the_mechanisms_own_curve(noise: Any, delta: str, claimed: str) -> None:
    """Whatever is claimed: δ(ε) of the mechanism is met at the ε found, and not 10^-6 above it."""
    found = best_threshold(noise, 2**20, 0, dp.Claim(claimed, delta))
    assert found is not None
    epsilon = found[0]
    assert noise.delta(max(epsilon - Fraction(1, 10**6), Fraction(0)), 2**20) >= Fraction(delta)
    assert noise.delta(epsilon + Fraction(1, 10**6), 2**20) <= Fraction(delta)


@pytest.mark.parametrize("noise", [dp.Laplace(1), dp.Gaussian(2), dp.RandomizedResponse(1)])
@pytest.mark.parametrize("pair", [(ZERO, ONE), (ONE, ZERO)])
def test_an_event_witness_never_beats_the_mechanism(noise: Any, pair: Any) -> None:
    subject = declare(lambda data, channel: channel.release("v", data.sum(), noise, sensitivity=1))
    claim = dp.Claim("1", "1e-6")
    witness = first_release_event(play(subject, *pair, seed=1, trials=None), claim, *pair)
    assert witness is not None
    steps = 2**20 if noise.grid != 1 else 1
    assert noise.delta(witness.epsilon, steps) >= claim.delta  # δ(ε) ≥ δ: the mechanism has this ε at least


def test_nothing_released_gives_no_witness() -> None:
    played = play(declare(lambda data, channel: 0), ZERO, ONE, seed=1, trials=None)
    assert first_release_event(played, dp.Claim("1", "1e-6"), ZERO, ONE) is None
    assert transcript_witness(played, ZERO, ONE, "server") is None


def test_a_transcript_witness_names_what_moved_and_its_exact_loss() -> None:
    subject = declare(lambda data, channel: [channel.release(n, data.sum(), dp.Laplace(2), sensitivity=1) for n in "ab"])
    for seed in range(20):
        witness = transcript_witness(play(subject, ZERO, ONE, seed, None), ZERO, ONE, "server")
        if witness is not None and witness.epsilon == 1:
            break
    assert witness is not None
    assert witness.facts["loss"] == "1"
    assert [moved["release"] for moved in witness.facts["moved"]] == ["a", "b"]


def played_bit(noise: Any, then: Any = None) -> Any:
    """o = x + noise, and then the action 1{o > 1/2}, perhaps changed by something later."""

    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        noisy = channel.release("o", data.sum(), noise, sensitivity=1)
        action = np.asarray(noisy > 0.5).astype(int)
        return action if then is None else then(action, channel)

    return declare(mechanism)


def test_the_event_of_an_action_has_the_exact_epsilon_of_that_action() -> None:
    """P(o > 1/2) is 1 − e^(−1/2)/2 on 1 and e^(−1/2)/2 on 0: ε = .8317…, not the 1 of the joint view."""
    witness = action_event(played_bit(dp.Laplace(1)), ZERO, ONE, dp.Claim("0.5", observer="actions"), 1)
    assert witness is not None
    tail = math.exp(-0.5) / 2
    assert float(witness.epsilon) == pytest.approx(math.log((1 - tail) / tail), abs=1e-5)
    assert witness.epsilon < 1


@pytest.mark.parametrize(
    "then",
    [
        lambda a, c: a ^ (c.rng.random(np.shape(a)) < 1e-4),
        lambda a, c: a ^ (c.release("later", np.zeros(np.shape(a)), dp.Laplace(1), sensitivity=1) > 12),
    ],
    ids=["public coin", "later noise"],
)
def test_an_action_that_something_later_can_change_once_in_a_while_is_no_exact_event(then: Any) -> None:
    """Flipped with probability 10^-4 or e^-12/2: tails far out would be wrong, though no sweep is likely to show it."""
    assert action_event(played_bit(dp.Laplace(1), then), ZERO, ONE, dp.Claim("0.5", observer="actions"), 1) is None


def test_randomised_response_as_an_action_shows_its_epsilon_and_no_more() -> None:
    witness = action_event(played_bit(dp.RandomizedResponse(1)), ZERO, ONE, dp.Claim("0.5", observer="actions"), 1)
    assert witness is not None
    assert float(witness.epsilon) == pytest.approx(1, abs=1e-9)
    assert witness.epsilon <= 1


def test_scales_per_trial_are_no_obstacle() -> None:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        noise = dp.Laplace(np.ones(trials) if trials else 1)
        return (channel.release("o", data.sum(), noise, sensitivity=1) > 0.5).astype(int)

    witness = action_event(declare(mechanism), ZERO, ONE, dp.Claim("0.5", observer="actions"), 1)
    assert witness is not None
    played = play(declare(mechanism), ZERO, ONE, 1, 8)
    assert first_release_event(played, dp.Claim("1", "1e-6"), ZERO, ONE) is not None
    assert transcript_witness(played, ZERO, ONE, "server") is not None
