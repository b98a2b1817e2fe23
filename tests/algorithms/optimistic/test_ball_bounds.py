"""Bounds from the ellipsoid and from other actions, against brute force over the ball."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.optimistic.ball_bounds import Ellipsoid, Pairs
from algorithms.optimistic.schedule import Model, Schedule


def ball(count: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    points = rng.normal(size=(count, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points * rng.random((count, 1)) ** (1 / dimension)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_pair_bounds_hold_for_every_parameter_and_are_reached(dimension):
    rng = np.random.default_rng(dimension)
    actions = ball(6, dimension, rng)
    actions[2] = 0
    thetas = np.concatenate([ball(20_000, dimension, rng), np.eye(dimension), -np.eye(dimension)])
    means = thetas @ actions.T
    centre = ball(1, dimension, rng)[0] @ actions.T
    low, high = centre - rng.random(6) * 0.3, centre + rng.random(6) * 0.3
    upper = Pairs(actions[None]).upper(low[None], high[None])[0]
    assert upper[2] == pytest.approx(0, abs=1e-8)
    for place in range(6):
        for rival in range(6):
            inside = (means[:, rival] >= low[rival]) & (means[:, rival] <= high[rival])
            assert (
                means[inside, place].max(initial=-1)
                <= Pairs(actions[None]).upper(
                    np.where(np.arange(6) == rival, low, -1.0)[None], np.where(np.arange(6) == rival, high, 1.0)[None]
                )[0, place]
            )
    inside = ((means >= low - 1e-12) & (means <= high + 1e-12)).all(axis=1)
    assert inside.any()
    assert (means[inside] <= upper).all()


def test_one_interval_bounds_another_action_as_the_circle_does():
    actions = np.array([[[1.0, 0.0], [0.5, 0.0], [0.0, 1.0]]])
    upper = Pairs(actions).upper(np.array([[0.8, -0.5, -1.0]]), np.array([[1.0, 0.5, 1.0]]))
    assert upper[0] == pytest.approx([1.0, 0.5, 0.6], abs=1e-8)


@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_ellipsoid_bounds_hold_for_every_parameter_inside(noise):
    rng = np.random.default_rng(5)
    schedule = Schedule(Model(20, noise, (1.0,) * 20), 10**5, 8, 2)
    actions = ball(8, 2, rng)
    pulled = actions[rng.integers(0, 3, 10)] * 60
    gram, response = pulled.T @ pulled / 50, rng.normal(size=2) * 30
    ellipsoid = Ellipsoid.of(schedule, gram[None], response[None], actions[None])
    low, high = ellipsoid.bounds()
    thetas = ball(50_000, 2, rng)
    rest = response - thetas @ gram
    inverse = np.linalg.inv(gram + schedule.ridge * np.eye(2))
    inside = thetas[np.einsum("ni,ij,nj->n", rest, inverse, rest) <= ellipsoid.radius()[0]]
    assert len(inside) > 50
    assert (inside @ actions.T <= high[0]).all()
    assert (inside @ actions.T >= low[0]).all()
    assert (high - low < 1.9 * np.linalg.norm(actions, axis=1)).any(), "the bounds say more than the ball alone"


def test_angles_that_are_not_remembered_give_the_same_result(monkeypatch):
    rng = np.random.default_rng(6)
    actions = ball(30, 3, rng)[None]
    low, high = -rng.random((4, 30)) * 0.3, rng.random((4, 30)) * 0.3
    whole = Pairs(actions).upper(low, high)
    monkeypatch.setattr("algorithms.optimistic.ball_bounds._MOST_PAIRS", 1)
    assert Pairs(actions).upper(low, high) == pytest.approx(whole)


def test_comparing_at_once_and_one_by_one_is_the_same(monkeypatch):
    rng = np.random.default_rng(7)
    actions = ball(12, 3, rng)[None]
    low, high = -rng.random((3, 4, 12)) * 0.3, rng.random((3, 4, 12)) * 0.3
    at_once = Pairs(actions).upper(low, high)
    monkeypatch.setattr("algorithms.optimistic.ball_bounds._MOST_AT_ONCE", 1)
    assert (Pairs(actions).upper(low, high) == at_once).all()
    assert (Pairs(actions).upper(low[1], high[1]) == at_once[1]).all()


def test_with_very_many_actions_only_those_that_were_played_bound_the_others(monkeypatch):
    """As if nothing were known of the rest; with few actions, all pairs count all the same."""
    rng, played = np.random.default_rng(8), np.array([2, 9])
    actions = ball(12, 3, rng)[None]
    low, high = -rng.random((4, 12)) * 0.3, rng.random((4, 12)) * 0.3
    whole = Pairs(actions).upper(low, high)
    assert (Pairs(actions).upper(low, high, played) == whole).all()
    monkeypatch.setattr("algorithms.optimistic.ball_bounds._MOST_PAIRS", 1)
    of_them = np.isin(np.arange(12), played)
    alone = Pairs(actions).upper(np.where(of_them, low, -1.0), np.where(of_them, high, 1.0))
    fewer = Pairs(actions).upper(low, high, played)
    assert fewer == pytest.approx(alone)
    assert (fewer >= whole - 1e-12).all()
    assert (fewer > whole + 1e-6).any()
