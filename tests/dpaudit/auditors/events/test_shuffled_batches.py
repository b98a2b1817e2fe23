"""Shuffled batches: events on the extreme report and on counts, held against simulation and against what is proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.events.shuffled_batches import shuffled_event

N = 50
RELATION = dp.replace_one(n=N, low=0, high=1)
LOW, ODD = np.zeros(N), np.concatenate([[1.0], np.zeros(N - 1)])


def batch(noise: Any, **options: Any) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        return channel.reports("batch", data, noise, sensitivity=1, to="shuffled").values

    return dp.subject(claim=dp.Claim("1", "1e-6", observer="shuffled"), neighbours=RELATION, **options)(mechanism)


@pytest.mark.parametrize("pair", [(ODD, LOW), (LOW, ODD), (1 - LOW, 1 - ODD)])
def test_the_event_has_the_probabilities_that_simulation_finds(pair: Any) -> None:
    """Lap(1/4): 40,000 batches; ε of the event's frequencies within 6 standard errors of what is claimed, or above."""
    claim = dp.Claim("1/2", "1e-3", observer="shuffled")
    witness = shuffled_event(batch(dp.Laplace("1/4")), claim, *pair, 1)
    assert witness is not None
    p, q = (float(witness.facts[key]) for key in ("probability", "neighbour_probability"))
    assert float(witness.epsilon) <= np.log(p / q) + 1e-9
    noise = np.random.default_rng(1).laplace(scale=0.25, size=(40_000, N))
    best = 0.0
    for first, second in (pair, pair[::-1]):
        for extreme in (np.min, np.max):
            one, other = extreme(first + noise, axis=1), extreme(second + noise, axis=1)
            for threshold in np.quantile(one, np.linspace(0.002, 0.998, 250)):
                above = [(x > threshold).mean() for x in (one, other)]
                for a, b in (above, [1 - x for x in above]):
                    if a > 0.01 and b > 0.002:
                        best = max(best, float(np.log((a - 1e-3) / b)))
    assert best >= float(witness.epsilon) - 6 * np.sqrt(1 / (0.002 * 40_000))


def test_the_event_never_beats_what_is_proven_and_half_the_noise_shows_more() -> None:
    claim = dp.Claim("1", "1e-6", observer="shuffled")
    shown = []
    for scale in ("2", "1", "1/2"):
        witness = shuffled_event(batch(dp.Laplace(scale)), claim, ODD, LOW, 1)
        epsilon = Fraction(0) if witness is None else witness.epsilon
        assert epsilon <= 1 / Fraction(scale)
        shown.append(epsilon)
    assert shown == sorted(shown)
    assert shown[-1] > shown[0]


@pytest.mark.parametrize("noise", [dp.RandomizedResponse(1), dp.Gaussian(1), dp.Laplace(1)])
@pytest.mark.parametrize("pair", [(ODD, LOW), (LOW, ODD)])
def test_counts_of_reports_serve_any_noise_and_have_the_frequency_that_simulation_finds(noise: Any, pair: Any) -> None:
    """40,000 batches: the event's frequencies are within 6 standard errors of its probabilities."""
    claim = dp.Claim("1/10", "1e-2", observer="shuffled")
    witness = shuffled_event(batch(noise), claim, *pair, 1)
    assert witness is not None
    assert witness.method.startswith("count of reports")
    said = witness.facts["event"].split()  # "at least 7 of the …" or "fewer than 7 of the …"
    many, count, threshold = said[0] == "at", int(said[2]), float(said[-1])
    first, second = pair if witness.facts["favours"] == "data" else pair[::-1]
    for data, key in ((first, "probability"), (second, "neighbour_probability")):
        units = np.broadcast_to((data * float(1 / noise.grid)).astype(np.int64), (40_000, N))
        reports = noise.simulate(units, np.random.default_rng(2)) * float(noise.grid)
        frequency = (((reports >= threshold).sum(axis=1) >= count) == many).mean()
        said_chance = float(witness.facts[key])
        assert abs(frequency - said_chance) < 6 * np.sqrt(said_chance * (1 - said_chance) / 40_000)


def mixed(scales: Any, first: bool) -> Any:
    """A batch whose noise a public coin decides, or a noisy number that is released before."""

    def mechanism(data: Any, channel: Any) -> Any:
        before = channel.release("before", 0.0, dp.Laplace(1), sensitivity=1) if first else channel.rng.normal()
        chosen = before > 0
        return channel.reports("batch", data, dp.Laplace(scales[int(chosen)]), sensitivity=1, to="shuffled").values

    return dp.subject(claim=dp.Claim("1", "1e-2", observer="shuffled"), neighbours=RELATION)(mechanism)


@pytest.mark.parametrize("first", [True, False])
def test_a_batch_that_comes_about_half_of_the_time_counts_half(first: bool) -> None:
    """δ counts for the whole: given the batch it is twice as large. A batch that is always so shows more."""
    claim = dp.Claim("1/10", "1e-2", observer="shuffled")
    always, half = (shuffled_event(mixed(scales, first), claim, ODD, LOW, 1) for scales in (("1/4", "1/4"), ("1/4", "1/2")))
    certain = shuffled_event(batch(dp.Laplace("1/4")), claim, ODD, LOW, 1)
    assert always is not None
    assert half is not None
    assert certain is not None
    assert half.facts["batch_probability"] < 0.7 < always.facts["batch_probability"] + 0.1
    assert certain.facts["batch_probability"] == 1
    assert half.epsilon < always.epsilon < certain.epsilon
    assert certain.facts["confidence"] == 1
    assert half.facts["confidence"] < 1


def test_a_batch_whose_noise_is_never_the_same_shows_nothing() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        scale = 1 + float(channel.rng.random())
        return channel.reports("batch", data, dp.Laplace(scale), sensitivity=1, to="shuffled").values

    subject = dp.subject(claim=dp.Claim("1", "1e-6", observer="shuffled"), neighbours=RELATION)(mechanism)
    assert shuffled_event(subject, subject.claim, ODD, LOW, 1) is None


def test_a_client_above_the_crowd_is_the_mirror_image_of_one_below() -> None:
    claim = dp.Claim("1/10", "1e-6", observer="shuffled")
    above, below = (shuffled_event(batch(dp.Laplace("1/4")), claim, *pair, 1) for pair in ((ODD, LOW), (1 - ODD, 1 - LOW)))
    assert above is not None
    assert below is not None
    assert above.epsilon == below.epsilon
    assert above.facts["probability"] == below.facts["probability"]
    words = [witness.facts["event"].rsplit(" ", 1) for witness in (above, below)]
    assert {words[0][0], words[1][0]} in (
        {"the largest report is below", "the smallest report is above"},
        {"the largest report is at or above", "the smallest report is at or below"},
    )
    assert float(words[0][1]) == pytest.approx(1 - float(words[1][1]), abs=1e-6)


@pytest.mark.parametrize("crowd", ["constant", "mixed"])
def test_the_score_of_a_shuffled_batch_does_not_know_which_data_it_came_from(crowd: str) -> None:
    """Turned round it changes its sign, on the same reports; a score that did not would guess right without looking."""
    from dpaudit.auditors.replay.pinned_runs import Replayed, play

    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        return channel.reports("batch", data, dp.Laplace("1/4"), sensitivity=1, to="shuffled").values

    subject = dp.subject(claim=dp.Claim("1", "1e-6", observer="shuffled"), neighbours=RELATION)(mechanism)
    base = np.zeros(N) if crowd == "constant" else np.random.default_rng(3).uniform(0, 1, N)
    first, second = base.copy(), base.copy()
    first[7], second[7] = 0, 1
    here = play(subject, first, second, 1, 200)
    turned = Replayed(here.mirror, here.events, None, 200, 1)
    assert np.allclose(here.losses(), -turned.losses())
    if crowd == "constant":  # then it is exact: log of a mean of likelihood ratios, by hand
        reports = here.events[0].output / 2**20
        exact = -np.log(np.mean(np.exp(4 * (np.abs(reports) - np.abs(reports - 1))), axis=1))
        assert np.allclose(here.losses(), exact, atol=1e-9)


def test_equal_data_or_no_batch_give_no_event() -> None:
    claim = dp.Claim("1", "1e-6", observer="shuffled")
    assert shuffled_event(batch(dp.Laplace(1)), claim, LOW, LOW, 1) is None
    silent = dp.subject(claim=claim, neighbours=RELATION)(lambda data, channel: 0)
    assert shuffled_event(silent, claim, ODD, LOW, 1) is None
