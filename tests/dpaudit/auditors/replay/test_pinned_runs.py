"""Replay: losses of the joint view, observed sensitivity, and paths that something else than the outputs decides."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.replay.pinned_runs import Observed, far_replay, play
from dpaudit.channel import PathChanged

TEN = dp.replace_one(n=10, low=-1, high=1)
LOW, HIGH = np.full(10, -1.0), np.concatenate([[1.0], np.full(9, -1.0)])


def declare(function: Any) -> Any:
    return dp.subject(claim=dp.Claim("1"), neighbours=TEN)(function)


def two_releases(noise: Any, other: Any) -> Any:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        first = channel.release("a", data.sum(), noise, sensitivity=2)
        shape = (10,) if trials is None else (trials, 10)
        values = np.broadcast_to(data, shape) + 0 * np.reshape(first, (-1, 1) if trials else ())
        return channel.release("b", values, other, sensitivity=2)

    return declare(mechanism)


@pytest.mark.parametrize("noise", [dp.Laplace(2), dp.Gaussian(3), dp.Laplace(2, grid="0.1")])
def test_the_loss_is_the_log_ratio_of_probabilities_of_the_whole_view(noise: Any) -> None:
    """Against the mechanism's own log-probabilities, entry by entry."""
    played = play(two_releases(noise, dp.Laplace(3)), LOW, HIGH, seed=3, trials=None)
    direct = Fraction(0)
    for event, mirror in zip(played.events, played.mirror, strict=True):
        for o, q, r in zip(event.output.ravel(), event.query.ravel(), mirror.query.ravel(), strict=True):
            direct += Fraction(str(event.noise.log_prob(int(o - q), 40) - event.noise.log_prob(int(o - r), 40)))
    assert played.losses()[0] == pytest.approx(float(direct), abs=1e-9)
    loss = played.exact_loss(0)
    assert loss is not None
    assert abs(loss - direct) < Fraction(1, 10**12)


def test_trials_have_losses_of_their_own_also_where_their_scales_differ() -> None:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        scales = 2.0 if trials is None else np.linspace(1, 5, trials)
        first = channel.release("a", data.sum(), dp.Laplace(scales), sensitivity=2)
        if trials is not None:
            channel.at(np.arange(0, trials, 2)).release("b", np.full(trials // 2, data[0]), dp.Laplace(1), sensitivity=2)
        return first

    played = play(declare(mechanism), LOW, HIGH, seed=3, trials=20)
    for trial in range(20):
        exact = played.exact_loss(trial)
        assert exact is not None
        assert played.losses()[trial] == pytest.approx(float(exact), abs=1e-9)
    assert len({len(list(played.differing(trial))) for trial in range(20)}) == 2


DEVIATIONS: dict[str, Any] = {
    "scale": lambda d, c: c.release("a", 0.0, dp.Laplace(1 if d.sum() > -9 else 2), sensitivity=1),
    "family": lambda d, c: c.release("a", 0.0, dp.Laplace(1) if d.sum() > -9 else dp.Gaussian(1), sensitivity=1),
    "sensitivity": lambda d, c: c.release("a", 0.0, dp.Laplace(1), sensitivity=1 if d.sum() > -9 else 2),
    "cohort": lambda d, c: c.release("a", 0.0, dp.Laplace(1), sensitivity=1, cohort=[int(d.sum() > -9)]),
    "observer": lambda d, c: c.release("a", 0.0, dp.Laplace(1), sensitivity=1, to="server" if d.sum() > -9 else "actions"),
    "name": lambda d, c: c.release(f"a {d.sum() > -9}", 0.0, dp.Laplace(1), sensitivity=1),
    "shape": lambda d, c: c.release("a", np.zeros(1 + int(d.sum() > -9)), dp.Laplace(1), sensitivity=1),
    "number": lambda d, c: [c.release("a", 0.0, dp.Laplace(1), sensitivity=1) for _ in range(1 + int(d.sum() > -9))] and None,
    "returned": lambda d, c: (c.release("a", 0.0, dp.Laplace(1), sensitivity=1), d.sum())[1],
    "type": lambda d, c: (c.release("a", 0.0, dp.Laplace(1), sensitivity=1), 1.0 if d.sum() > -9 else "one")[1],
}


@pytest.mark.parametrize("deviate", DEVIATIONS.values(), ids=DEVIATIONS.keys())
def test_a_path_that_the_data_decides_is_noticed_on_neighbours_and_on_far_data(deviate: Any) -> None:
    subject = declare(lambda data, channel: deviate(data, channel))
    with pytest.raises(PathChanged, match="DPA002"):
        play(subject, LOW, HIGH, seed=1, trials=None)
    finding = far_replay(subject, 1, np.random.default_rng(1))
    assert finding is not None
    assert finding.rule == "DPA002"


def test_a_path_that_outputs_and_public_randomness_decide_is_fine() -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        first = channel.release("a", data.sum(), dp.Laplace(2), sensitivity=2)
        scale = 2 + int(channel.rng.integers(0, 5)) + int(first > 0)
        return [channel.release(f"b{i}", data.sum(), dp.Laplace(scale), sensitivity=2) for i in range(1 + int(first > -10))]

    assert far_replay(declare(mechanism), 1, np.random.default_rng(1)) is None


def test_only_far_data_shows_a_branch_that_no_neighbour_takes() -> None:
    """Neighbours of constant data never come near a mean square of 1/2."""
    subject = declare(
        lambda d, channel: channel.release("a", d.sum(), dp.Laplace(2 if 0.1 < (d**2).mean() < 0.8 else 3), sensitivity=2)
    )
    play(subject, LOW, HIGH, seed=1, trials=None)
    assert far_replay(subject, 1, np.random.default_rng(1)) is not None


def observe(release: Any, sensitivity: Any, noise: Any) -> Observed:
    found = Observed()
    subject = declare(lambda d, channel: channel.release("a", release(d), noise, sensitivity=sensitivity))
    found.look(play(subject, LOW, HIGH, seed=1, trials=None), LOW, HIGH)
    return found


def test_an_observed_move_above_the_declared_one_is_dpa003_with_its_size() -> None:
    found = observe(lambda d: d.sum(), "1.9", dp.Laplace(1))
    assert [finding.rule for finding in found.findings] == ["DPA003"]
    assert found.excess == {"a": 2}
    assert not observe(lambda d: d.sum(), 2, dp.Laplace(1)).findings


def test_moves_are_measured_in_the_norm_of_the_noise() -> None:
    def twice(d: Any) -> Any:
        return np.array([d.sum(), d.sum()])

    assert observe(twice, 3, dp.Laplace(1)).findings
    assert not observe(twice, 3, dp.Gaussian(1)).findings  # √8 < 3 < 4
    assert observe(twice, "2.8", dp.Gaussian(1)).findings


def test_what_rounding_may_add_is_no_finding() -> None:
    assert not observe(lambda d: d.mean(), "0.2", dp.Laplace(1)).findings
    assert not observe(lambda d: np.repeat(d.mean() / 3, 50), 50 * Fraction(2, 30), dp.Laplace(1)).findings
