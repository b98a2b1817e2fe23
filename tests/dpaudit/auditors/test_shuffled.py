"""Shuffled batches: the event on the extreme report, held against simulation and against what is proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.shuffled import shuffled_event

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


@pytest.mark.parametrize("noise", [dp.RandomizedResponse(1), dp.Gaussian(1)])
def test_noise_without_a_closed_form_gives_no_event(noise: Any) -> None:
    assert shuffled_event(batch(noise), dp.Claim("1/10", "1e-6", observer="shuffled"), ODD, LOW, 1) is None


def test_a_batch_whose_noise_is_never_the_same_gives_no_event() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        scale = 1 + float(channel.rng.random())
        return channel.reports("batch", data, dp.Laplace(scale), sensitivity=1, to="shuffled").values

    subject = dp.subject(claim=dp.Claim("1", "1e-6", observer="shuffled"), neighbours=RELATION)(mechanism)
    assert shuffled_event(subject, subject.claim, ODD, LOW, 1) is None


def test_equal_data_or_no_batch_give_no_event() -> None:
    claim = dp.Claim("1", "1e-6", observer="shuffled")
    assert shuffled_event(batch(dp.Laplace(1)), claim, LOW, LOW, 1) is None
    silent = dp.subject(claim=claim, neighbours=RELATION)(lambda data, channel: 0)
    assert shuffled_event(silent, claim, ODD, LOW, 1) is None
