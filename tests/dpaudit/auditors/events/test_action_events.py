"""Events of what is played: exact probabilities, also where several releases decide; none where something else decides too."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.events.action_events import action_event, box_witness, interval
from dpaudit.auditors.events.boxes import box_of
from dpaudit.auditors.events.chosen_runs import FAR, Chooser

BIT = dp.replace_one(n=1, low=0, high=1)
ZERO, ONE = np.zeros(1), np.ones(1)
CLAIM = dp.Claim("0.5", observer="actions")
GRID = 2**20


def declare(function: Any) -> Any:
    return dp.subject(claim=CLAIM, neighbours=BIT)(function)


def found(function: Any, claim: Any = CLAIM, pair: Any = (ZERO, ONE)) -> Any:
    placed = action_event(declare(function), [pair], claim, 1)
    return None if placed is None else placed[1]


def played_bit(noise: Any, then: Any = None) -> Any:
    """o = x + noise, and then the action 1{o > 1/2}, perhaps changed by something later."""

    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        noisy = channel.release("o", data.sum(), noise, sensitivity=1)
        action = np.asarray(noisy > 0.5).astype(int)
        return action if then is None else then(action, channel)

    return mechanism


def one_by_one(noise: Any) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        return "yes" if channel.release("o", data.sum(), noise, sensitivity=1) > 0.5 else "no"

    return mechanism


@pytest.mark.parametrize("make", [played_bit, one_by_one])
def test_the_event_of_an_action_has_the_exact_epsilon_of_that_action(make: Any) -> None:
    """P(o > 1/2) is 1 − e^(−1/2)/2 on 1 and e^(−1/2)/2 on 0: ε = .8317…, not the 1 of the joint view."""
    witness = found(make(dp.Laplace(1)))
    tail = math.exp(-0.5) / 2
    assert float(witness.epsilon) == pytest.approx(math.log((1 - tail) / tail), abs=1e-5)
    assert witness.epsilon < 1


@pytest.mark.parametrize("make", [played_bit, one_by_one])
def test_randomised_response_as_an_action_shows_its_epsilon_and_no_more(make: Any) -> None:
    witness = found(make(dp.RandomizedResponse(1)))
    assert float(witness.epsilon) == pytest.approx(1, abs=1e-9)
    assert witness.epsilon <= 1


@pytest.mark.parametrize(
    "then",
    [
        lambda a, c: a ^ (c.rng.random(np.shape(a)) < 1e-4),
        lambda a, c: a ^ (c.release("later", np.zeros(np.shape(a)), dp.Laplace(1), sensitivity=1) > 12),
    ],
    ids=["public coin", "later noise"],
)
def test_an_action_that_something_later_can_change_once_in_a_while_is_no_simple_event(then: Any) -> None:
    """Flipped with probability 10^-4 or e^-12/2: tails far out would be wrong, though no sweep is likely to show it."""
    witness = found(played_bit(dp.Laplace(1), then))
    assert witness is None or witness.epsilon < 0.832


def several(data: Any, channel: Any, trials: Any) -> Any:
    """The action changes as soon as one of three noisy numbers passes a bar of its own."""
    running = np.ones(trials, bool) if trials else np.array(True)
    stopped_at = np.zeros(np.shape(running), int)
    for k in range(3):
        noisy = channel.release(f"o{k}", data.sum() * (k == 1), dp.Laplace(1), sensitivity=1)
        passed = running & (np.asarray(noisy) > k + 1)
        stopped_at = np.where(passed, k + 1, stopped_at)
        running = running & ~passed
    return stopped_at


def test_an_event_that_several_releases_decide_multiplies_their_probabilities() -> None:
    """ "Stopped at 2": o0 ≤ 1 and o1 > 2. Only o1 depends on the data, so the ratio is e exactly."""
    witness = found(several)
    assert float(witness.epsilon) == pytest.approx(1, abs=2e-6)
    first, second = 1 - math.exp(-1) / 2, math.exp(-1) / 2
    assert float(witness.facts["probability"]) == pytest.approx(first * second, rel=1e-5)
    assert witness.facts["low"] == [-FAR, 2 * GRID + 1]
    assert witness.facts["high"] == [GRID, FAR]


def test_the_probability_of_a_box_counts_when_delta_is_positive() -> None:
    pure, approximate = found(several), found(several, dp.Claim("0.5", "0.05", observer="actions"))
    for witness, delta in ((pure, 0), (approximate, 0.05)):
        p, q = (float(witness.facts[key]) for key in ("probability", "other_probability"))
        assert float(witness.epsilon) == pytest.approx(math.log((p - delta) / q), rel=1e-6)
    assert approximate.epsilon < pure.epsilon


def test_a_box_that_the_file_makes_larger_or_smaller_is_no_event() -> None:
    subject = declare(several)
    two = Chooser(subject, ZERO, 1), Chooser(subject, ONE, 1)
    centre, low, high = np.array([0, 3 * GRID]), np.array([-FAR, 2 * GRID + 1]), np.array([GRID, FAR])
    assert box_witness(two, box_of(0, 2.0, centre, low, high), CLAIM) is not None
    for shift in (-1, 1, GRID):
        wrong = np.array([-FAR, low[1] + shift])
        assert box_witness(two, box_of(0, 2.0, centre, wrong, high), CLAIM) is None
    assert box_witness(two, box_of(0, 1.0, centre, low, high), CLAIM) is None
    assert box_witness(two, box_of(5, 2.0, centre, low, high), CLAIM) is None


def slanted(data: Any, channel: Any, trials: Any) -> Any:
    first = channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1)
    second = channel.release("b", data.sum(), dp.Laplace(1), sensitivity=1)
    return np.asarray(first + second > 1).astype(int)


def ring(data: Any, channel: Any, trials: Any) -> Any:
    """1 on two intervals: neither is the whole event."""
    noisy = np.asarray(channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1))
    return ((np.abs(noisy) > 1) & (np.abs(noisy) < 3)).astype(int)


def test_a_half_plane_is_no_box_and_two_intervals_are_not_one() -> None:
    assert found(slanted) is None
    witness = found(ring)
    assert witness is None or "not 1" not in witness.facts["event"]


def test_scales_per_trial_are_no_obstacle() -> None:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        noise = dp.Laplace(np.ones(trials) if trials else 1)
        return (channel.release("o", data.sum(), noise, sensitivity=1) > 0.5).astype(int)

    assert found(mechanism) is not None


def test_nothing_released_nothing_differing_or_a_failure_give_no_event() -> None:
    def fails(data: Any, channel: Any, trials: Any) -> Any:
        noisy = np.asarray(channel.release("o", data.sum(), dp.Laplace(1), sensitivity=1))
        if np.abs(noisy).max() > 100:
            raise ValueError("too far")
        return noisy > 0.5

    assert found(lambda data, channel: 0) is None
    assert found(played_bit(dp.Laplace(1)), pair=(ONE, ONE)) is None
    assert found(fails) is None


@pytest.mark.parametrize("noise", [dp.Laplace(3, grid=1), dp.Gaussian(2, grid=1), dp.RandomizedResponse(1)])
def test_intervals_have_the_sums_of_the_noises_probabilities(noise: Any) -> None:
    bits = noise.name == "randomized-response"
    for query in (0, 1) if bits else (-2, 5):
        outputs = range(2) if bits else range(-200, 200)
        chances = {o: math.exp(float(noise.log_prob((o != query) if bits else o - query, 30))) for o in outputs}
        for low, high in ((-3, 0), (0, 0), (1, 6), (-FAR, 1), (2, FAR), (-FAR, FAR)):
            expected = sum(p for o, p in chances.items() if low <= o <= high)
            bounds = interval(noise, low, high, query)
            assert float(bounds[0]) == pytest.approx(expected, abs=1e-12)
            assert bounds[0] <= bounds[1] <= bounds[0] + Fraction(1, 10**20)


@pytest.mark.parametrize(("calibration", "epsilon"), [("printed", 2), ("corrected", 1)])
def test_the_central_algorithm_by_its_actions_alone(calibration: str, epsilon: int) -> None:
    """A = {+1, −1}, rewards in [−1, 1]: who is eliminated when shows 2ε as printed, exactly, and ε as corrected, not more."""
    from dpaudit.subjects.targets import make_algorithm

    subject = make_algorithm("central", {"epsilon": "1", "horizon": 10**4, "actions": (2, 1), "calibration": calibration})
    pairs = subject.neighbours.pairs(np.random.default_rng(1))
    placed = action_event(subject, pairs, dp.Claim("1", observer="actions"), 1)
    assert placed is not None
    assert float(placed[1].epsilon) == pytest.approx(epsilon, abs=1e-4)
    assert placed[1].epsilon <= epsilon


def banded(width: float) -> Any:
    """1 beyond 5, and in a band of this width around −3 that few chosen points meet."""

    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        noisy = np.asarray(channel.release("o", data.sum(), dp.Laplace(1), sensitivity=1))
        return ((noisy > 5) | (np.abs(noisy + 3) < width / 2)).astype(int)

    return mechanism


@pytest.mark.parametrize("seed", range(6))
def test_a_band_that_chosen_points_miss_is_met_by_drawn_runs(seed: int) -> None:
    """Beyond 5 alone the ratio is e; with the band it is 1.04. Twin: without the band the event is confirmed."""
    claim = dp.Claim("0.1", observer="actions")
    hidden, plain = (action_event(declare(banded(width)), [(ZERO, ONE)], claim, seed) for width in (0.4, 0.0))
    assert hidden is None or hidden[1].shown <= claim.epsilon
    assert plain is not None
    assert claim.epsilon < plain[1].shown <= plain[1].epsilon <= 1


def test_what_draws_confirm_allows_for_what_they_may_miss() -> None:
    """With p and q known: log((p − s)/(q + s)) at most, where n runs without a miss leave s with probability 10^-9."""
    witness = found(played_bit(dp.Laplace(1)))
    p, q, n = (float(witness.facts[key]) for key in ("probability", "other_probability", "draws"))
    slack = 1 - 1e-9 ** (1 / n)
    assert (1 - slack) ** n == pytest.approx(1e-9, rel=1e-6)
    assert float(witness.shown) == pytest.approx(math.log((p - slack) / (q + slack)), abs=1e-9)
    assert witness.shown < witness.epsilon
