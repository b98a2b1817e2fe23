"""The one optimistic loop: bounds on all means → actions that may be the best → one batch → one release → narrower bounds.

Trials are an array axis. What is played next is a function of earlier releases and public coins alone; a batch that does not fit
into the horizon is played and never released.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from algorithms.elimination.loop import Play
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.ball_bounds import Ellipsoid, Pairs
from algorithms.optimistic.intervals import Intervals
from algorithms.optimistic.privacy_steps import OptimisticStep
from algorithms.optimistic.schedule import Schedule

_INDEX_LEVEL = 3.0  # L of the narrower intervals that choose among the actions that may be played; no proof needs them


@dataclass(frozen=True)
class Setting:
    """Everything public that is fixed in advance. Rewards lie in [−1, 1], |θ| ≤ ``ball``."""

    actions: np.ndarray  # (K, d), norms at most 1; (trials, K, d) when each trial has an instance of its own
    horizon: int
    low: float = -1.0
    high: float = 1.0
    ball: float = 1.0


@dataclass
class Knowledge:
    """What the releases so far tell, per trial."""

    gram: np.ndarray  # (B, d, d): H
    response: np.ndarray  # (B, d): s
    sums: np.ndarray  # (B, K): Y
    stage: np.ndarray  # (B, K): releases of each action
    low: np.ndarray  # (B, K): intervals that hold for all actions and times with probability 1 − 1/T
    high: np.ndarray
    near_low: np.ndarray  # (B, K): the index's intervals, latest stage only
    near_high: np.ndarray
    time: np.ndarray  # (B,): rounds played
    trial: np.ndarray  # (B,): which trial this row is

    @classmethod
    def none(cls, norms: np.ndarray, trials: int, dimension: int) -> Knowledge:
        shape = (trials, norms.shape[1])
        low, high, near_low, near_high = (np.broadcast_to(sign * norms, shape).copy() for sign in (-1, 1, -1, 1))
        return cls(
            np.zeros((trials, dimension, dimension)), np.zeros((trials, dimension)), np.zeros(shape), np.zeros(shape, np.int64),
            low, high, near_low, near_high, np.zeros(trials, np.int64), np.arange(trials),
        )  # fmt: skip

    def take(self, index: np.ndarray) -> Knowledge:
        return Knowledge(*(getattr(self, each.name)[index] for each in fields(self)))


class Optimism:
    """The loop as a state machine: ``choose`` a batch for each trial, hand over its statistic, ``learn``."""

    def __init__(self, setting: Setting, step: OptimisticStep, trials: int = 1) -> None:
        actions = setting.actions if setting.actions.ndim == 3 else setting.actions[None]
        self.setting, self.step, self.actions = setting, step, actions
        self.schedule = Schedule(step.model(setting.horizon), setting.horizon, *actions.shape[1:])
        self.intervals = Intervals(self.schedule)
        self.pairs = Pairs(actions, setting.ball)
        self.known = Knowledge.none(np.minimum(self.pairs.norms, 1.0), trials, actions.shape[2])
        self.pulls = np.zeros((trials, actions.shape[1]), np.int64)
        self.plays = np.full((trials, self.schedule.most_batches), -1, np.int32)
        self.best = np.zeros(trials, np.int64)
        self.batches = np.zeros(trials, np.int64)
        self.batch = 0

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray] | None:
        """Action and length of the next batch of every trial that goes on; None when none does.

        Trials whose next batch does not fit play it to the end of the horizon; nothing of it is released.
        """
        if not len(self.known.time):
            return None
        action = self._pick(rng)
        length = self.schedule.lengths[np.minimum(self._stage(action), self.schedule.stages - 1)]
        left = self.setting.horizon - self.known.time
        self._record(action, np.minimum(length, left))
        whole = length <= left
        if not whole.all():
            self._keep(np.flatnonzero(whole))
            action, length = action[whole], length[whole]
        self.batch += 1
        return (action, length) if len(action) else None

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lo(a) and U(a) of Theorem V."""
        known = self.known
        played = np.flatnonzero(known.stage.any(axis=0))
        return -self.pairs.upper(-known.high, -known.low, played), self.pairs.upper(known.low, known.high, played)

    def _pick(self, rng: np.random.Generator) -> np.ndarray:
        """An action with max U − U(a) ≤ ρ(U(a) − Lo(a)): the one with the largest index; ties by a public coin."""
        known = self.known
        ellipsoid = Ellipsoid.of(self.schedule, known.gram, known.response, self.actions, self.setting.ball)
        low, high = ellipsoid.bounds()
        np.maximum(known.low, low, out=known.low)
        np.minimum(known.high, high, out=known.high)
        near_low, near_high = np.maximum(known.low, known.near_low), np.minimum(known.high, known.near_high)
        ends = np.stack([-known.high, known.low, near_low]), np.stack([-known.low, known.high, near_high])
        played = np.flatnonzero(known.stage.any(axis=0))
        mirrored, upper, near = self.pairs.upper(*ends, played)  # at once: calls, not numbers, are what one trial costs
        lower, upper = np.maximum(-mirrored, known.low), np.minimum(upper, known.high)
        room = self.schedule.share * np.maximum(0.0, upper - lower)
        allowed = upper.max(axis=1, keepdims=True) - upper <= room
        index = np.minimum(np.minimum(upper, near), ellipsoid.ridge_index())
        index[~allowed] = -np.inf
        coins = rng.random(index.shape)
        coins[index < index.max(axis=1, keepdims=True)] = -1.0
        chosen: np.ndarray = coins.argmax(axis=1)
        return chosen

    def _stage(self, action: np.ndarray) -> np.ndarray:
        """How many releases of these actions there were."""
        stage: np.ndarray = self.known.stage[np.arange(len(action)), action]
        return stage

    def stage(self, action: np.ndarray) -> np.ndarray:
        """The stage of the batch that is being played, from 1."""
        return self._stage(action) + 1

    def _record(self, action: np.ndarray, rounds: np.ndarray) -> None:
        trial = self.known.trial
        self.pulls[trial, action] += rounds
        self.plays[trial, self.batches[trial]] = action
        self.batches[trial] += 1
        self.best[trial] = action

    def _keep(self, index: np.ndarray) -> None:
        self.known = self.known.take(index)
        if len(self.actions) > 1:
            self.actions, self.pairs = self.actions[index], self.pairs.take(index)

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray) -> None:
        """Take in one release of each trial; those whose horizon is used up leave."""
        known, rows = self.known, np.arange(len(action))
        stage = self._stage(action)
        points = self.actions[0 if len(self.actions) == 1 else rows, action]
        weight = length / self.schedule.variances[stage]
        known.gram += (weight * length)[:, None, None] * points[:, :, None] * points[:, None, :]
        known.response += (weight * statistic)[:, None] * points
        known.stage[rows, action] += 1
        known.sums[rows, action] += statistic
        levels = self.schedule.level, _INDEX_LEVEL
        (low, high), near = self.intervals.ends(stage + 1, known.sums[rows, action], *levels)
        known.low[rows, action] = np.maximum(known.low[rows, action], low)
        known.high[rows, action] = np.minimum(known.high[rows, action], high)
        known.near_low[rows, action], known.near_high[rows, action] = near
        self.skip(length)

    def skip(self, length: np.ndarray) -> None:
        """These rounds are over and nothing is learned from them; the same batch can be chosen again."""
        self.known.time += length
        going = self.known.time < self.setting.horizon
        if not going.all():
            self._keep(np.flatnonzero(going))

    def result(self, single: bool) -> Play:
        arrays = (self.plays, self.pulls, self.best, self.batches)
        return Play(*(array[0] for array in arrays)) if single else Play(*arrays)


def run(setting: Setting, step: OptimisticStep, rewards: Any, channel: Any) -> Play:
    """Play the whole horizon against ``rewards``, behind the door."""
    single = channel.trials is None
    loop = Optimism(setting, step, 1 if single else channel.trials)
    while (chosen := loop.choose(channel.rng)) is not None:
        action, length = chosen
        loop.learn(action, length, _statistic(loop, action, length, rewards, channel, single))
    return loop.result(single)


def _statistic(loop: Optimism, action: np.ndarray, length: np.ndarray, rewards: Any, channel: Any, single: bool) -> np.ndarray:
    known, step, stage = loop.known, loop.step, loop.stage(action)
    state = None if single else np.arange(len(action))
    pulls = Pulls(known.time, action[:, None], length[:, None], state)
    if single:
        noise = step.noise(stage, loop.setting.horizon)
        return np.ravel(step.statistic(channel, rewards, pulls, loop.batch, noise))
    door, data = channel.at(known.trial), rewards.at(known.trial)
    if not (channel.every_report and step.by_client):
        noise = step.noise(stage, loop.setting.horizon)
        return np.ravel(step.statistic(door, data, pulls, loop.batch, noise))
    result = np.zeros(len(action))
    keys = np.stack([known.time, action, stage], axis=1)
    for key in np.unique(keys, axis=0):  # one batch at a time, so that every report has its place
        members = np.flatnonzero((keys == key).all(axis=1))
        part = replace(pulls, start=pulls.start[members], arms=pulls.arms[members], counts=pulls.counts[members])
        part = replace(part, state=np.arange(len(members)))
        noise = step.noise(stage[members], loop.setting.horizon)
        result[members] = np.ravel(step.statistic(door.at(members), data.at(members), part, loop.batch, noise))
    return result
