"""Losses in bins for a picture: nothing is lost, and they follow the law of the loss."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.games.loss_counts import BINS, Frame
from dpaudit.auditors.games.loss_runs import drawn_losses
from dpaudit.claims import Losses

PEOPLE = dp.replace_one(n=20, low=-1, high=1)
GATE = 5.0  # standard errors: an honest share is further off with probability 6e-7


def declare(function: Any, epsilon: str = "1", delta: str = "0", observer: str = "server") -> Any:
    return dp.subject(claim=dp.Claim(epsilon, delta, observer), neighbours=PEOPLE)(function)


def noisy_sum(scale: float) -> Any:
    def release(data: Any, channel: Any, trials: Any) -> Any:
        return channel.release("sum", data.sum(), dp.Laplace(scale), sensitivity=2)

    return declare(release)


def share(counts: Any, chosen: slice) -> tuple[float, float]:
    """A share of the runs and its standard error."""
    total = sum(counts)
    part = sum(counts[chosen]) / total
    return part, math.sqrt(0.25 / total)


def plateaus(losses: Losses) -> bool:
    """Laplace noise of scale b and a gap of g: the loss is g/b with probability 1/2 on D, −g/b with e^(−g/b)/2."""
    top, error = share(losses.data, slice(-2, None))
    bottom, _ = share(losses.data, slice(None, 2))
    # two outer bins hold the plateau and what lies within 4/45 of the span before it, below 3 % of the runs
    return 0.5 - GATE * error <= top <= 0.53 + GATE * error and abs(bottom - math.exp(-1) / 2 - 0.01) <= 0.02 + GATE * error


def test_every_run_is_counted_also_beyond_the_bins() -> None:
    frame = Frame(2.0)
    counts = frame.count(np.array([-np.inf, -9.0, -2.0, 0.0, 1.999, 2.0, 9.0, np.inf, np.nan]))
    assert counts.sum() == 9
    assert counts[0] == 3
    assert counts[-1] == 4
    assert counts[BINS // 2] == 2


def test_bins_hold_the_losses_that_were_seen_and_no_loss_at_all_too() -> None:
    frame = Frame.around(np.array([*np.linspace(-1, 1, 1000), np.inf, np.nan]))
    assert 1 <= frame.span < 1.1
    assert Frame.around(np.zeros(10)).span == 1.0
    assert Frame.around(np.zeros(0)).span == 1.0
    assert Frame.around(np.array([3.0]), intercept=1.0, slope=-1.0).span == pytest.approx(2.04)


def test_drawn_losses_follow_the_law_of_the_loss() -> None:
    """2,000 runs on each side; each of three shares is further off than allowed with probability below 6e-7."""
    losses = drawn_losses(noisy_sum(2.0), dp.Claim("1"), None, 3)
    assert losses is not None
    assert sum(losses.data) == sum(losses.neighbour) == 2000
    assert losses.high == pytest.approx(1.02, abs=1e-6)
    assert plateaus(losses)
    mirrored = Losses(losses.low, losses.high, losses.neighbour[::-1], losses.data[::-1], losses.score)
    assert plateaus(mirrored)


def test_twin_less_noise_or_swapped_sides_do_not_look_like_that() -> None:
    less = drawn_losses(noisy_sum(1.0), dp.Claim("1"), None, 3)
    honest = drawn_losses(noisy_sum(2.0), dp.Claim("1"), None, 3)
    assert less is not None
    assert honest is not None
    assert less.high == pytest.approx(2.04, abs=1e-6)
    assert not plateaus(less)
    assert not plateaus(Losses(honest.low, honest.high, honest.neighbour, honest.data, honest.score))


def test_the_game_counts_the_runs_that_its_bound_rests_on() -> None:
    def black(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + rng.laplace(scale=2.0, size=trials)

    verdict = dp.audit(declare(black), samples=20_000, seed=4)
    losses = verdict.losses
    assert losses is not None
    assert losses.score == "learned score"
    assert sum(losses.data) + sum(losses.neighbour) == 40_000 - 8000
    mean = np.dot(
        np.array(losses.edges())[:-1],
        np.array(losses.data) / sum(losses.data) - np.array(losses.neighbour) / sum(losses.neighbour),
    )
    assert mean > 0.3  # D has the larger losses


def test_a_sequential_audit_counts_the_draws_that_it_bet_on() -> None:
    def black(data: Any, rng: Any, trials: Any) -> Any:
        return data.sum() + rng.laplace(scale=0.5, size=trials)

    verdict = dp.audit(declare(black), samples=20_000, seed=4, sequential=True)
    assert verdict.witness is not None
    assert verdict.losses is not None
    assert sum(verdict.losses.data) + sum(verdict.losses.neighbour) == verdict.witness["draws"]


def test_a_picture_is_drawn_when_it_is_asked_for_and_is_no_part_of_the_json() -> None:
    subject = noisy_sum(2.0)
    plain, drawn = dp.audit(subject, samples=1000, seed=5), dp.audit(subject, samples=1000, seed=5, picture=True)
    assert plain.losses is None
    assert drawn.losses is not None
    first, second = (json.loads(verdict.to_json()) for verdict in (plain, drawn))
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def test_a_witness_is_drawn_on_its_own_pair() -> None:
    verdict = dp.audit(noisy_sum(1.0), samples=1000, seed=5, picture=True)
    assert str(verdict.verdict) == "refuted"
    assert verdict.losses is not None
    assert verdict.losses.high == pytest.approx(2.04, abs=1e-6)


def test_nothing_is_drawn_where_the_observer_sees_less_or_data_leaves_by_another_way() -> None:
    def shuffled(data: Any, channel: Any) -> Any:
        return channel.reports("r", data, dp.Laplace(2), sensitivity=2, cohort=range(20), to="shuffled").values

    def leaking(data: Any, channel: Any) -> Any:
        noisy = channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=2)
        return noisy if np.asarray(data)[0] > 0 else -noisy

    assert drawn_losses(declare(shuffled), dp.Claim("1"), None, 1) is None
    assert drawn_losses(declare(leaking), dp.Claim("1"), None, 1) is None
    assert drawn_losses(noisy_sum(2.0), dp.Claim("1", observer="actions"), None, 1) is None
