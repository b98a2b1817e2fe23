"""The one loop of the baselines: a policy chooses an action and a number of rounds, they are played, their statistic is learned.

Trials are an array axis. A policy sees public numbers only: what its system released, and public coins. A block that does not
fit into the horizon is played to its end and never released.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from algorithms.baselines.contexts import ContextPolicy
from algorithms.elimination.loop import Play
from algorithms.elimination.pulls import Pulls

_LENGTH_BITS = 33  # a horizon is at most 2^32; action and length of a block are one number


@dataclass(frozen=True)
class Setting:
    """Everything public that is fixed in advance. Rewards lie in [−1, 1]."""

    actions: np.ndarray  # (K, d); (trials, K, d) when each trial has an instance of its own
    horizon: int
    low: float = -1.0
    high: float = 1.0
    contexts: int = 1  # above 1: actions are those of all contexts, one after the other, and each round draws its context


class Policy(Protocol):
    """What is played next, one row per trial that goes on."""

    def choose(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Action and length of the next block of each trial; a length beyond the horizon plays to its end."""

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        """Take in one statistic of each trial: (trials,), or (trials, d) where a system releases vectors."""

    def keep(self, index: np.ndarray) -> None:
        """Only these rows go on."""


@runtime_checkable
class Telling(Policy, Protocol):
    """A policy that tells clients more than the action."""

    def told(self, action: np.ndarray) -> np.ndarray:
        """What clients are told, one row per trial: the action, then what else is public."""


class System(Protocol):
    """One system of the literature: its policy, and what its rewards leave behind."""

    def policy(self, actions: np.ndarray, horizon: int) -> Policy:
        """For actions (trials, K, d)."""

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, block: int, points: np.ndarray) -> np.ndarray:
        """The noisy sum of the block's rewards, one row per trial; ``points`` (trials, d) are the actions played, and what
        a ``Telling`` policy adds to them."""


@runtime_checkable
class Streamed(System, Protocol):
    """A system with one stream for the whole run. All its trials have the same blocks, so that each adds one value for all."""

    def opened(self, channel: Any) -> System:
        """The system of one run."""


class _Course:
    """Where each trial is, and what it has played."""

    def __init__(self, setting: Setting, system: System, trials: int) -> None:
        actions = setting.actions if setting.actions.ndim == 3 else setting.actions[None]
        self.actions = np.broadcast_to(actions, (trials, *actions.shape[1:]))
        policy: Any = system.policy(self.actions, setting.horizon)
        self.policy: Policy = policy if setting.contexts == 1 else ContextPolicy(policy, setting.contexts)
        self.horizon = setting.horizon
        self.time, self.trial = np.zeros(trials, np.int64), np.arange(trials)
        self.pulls = np.zeros((trials, actions.shape[1]), np.int64)
        self.best, self.blocks = np.zeros(trials, np.int64), np.zeros(trials, np.int64)
        self.codes: list[tuple[np.ndarray, np.ndarray]] = []

    def next(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Blocks of the trials whose block fits; the others play theirs to the end and leave."""
        action, length = self.policy.choose(rng)
        left = self.horizon - self.time
        played = np.minimum(length, left)
        self.pulls[self.trial, action] += played
        self.best[self.trial] = action
        self.blocks[self.trial] += 1
        self.codes.append((self.trial, (action << _LENGTH_BITS) | played))
        whole = length <= left
        self._keep(whole)
        return action[whole], length[whole]

    def learn(self, action: np.ndarray, length: np.ndarray, statistic: np.ndarray, rng: np.random.Generator) -> None:
        self.policy.learn(action, length, statistic, rng)
        self.time += length
        self._keep(self.time < self.horizon)

    def _keep(self, going: np.ndarray) -> None:
        if not going.all():
            index = np.flatnonzero(going)
            self.time, self.trial, self.actions = self.time[index], self.trial[index], self.actions[index]
            self.policy.keep(index)

    def result(self, single: bool) -> Play:
        plays = np.full((len(self.blocks), len(self.codes)), -1, np.int64)
        for place, (trial, code) in enumerate(self.codes):
            plays[trial, place] = code
        arrays = (plays, self.pulls, self.best, self.blocks)
        return Play(*(array[0] for array in arrays)) if single else Play(*arrays)


def run(setting: Setting, system: System, rewards: Any, channel: Any) -> Play:
    """Play the whole horizon against ``rewards``, behind the door."""
    single = channel.trials is None
    system = system.opened(channel) if isinstance(system, Streamed) else system
    course = _Course(setting, system, 1 if single else channel.trials)
    while len(course.trial):
        action, length = course.next(channel.rng)
        if len(action):
            statistic = _statistic(course, system, action, length, rewards, channel, single)
            course.learn(action, length, statistic, channel.rng)
    return course.result(single)


def _statistic(
    course: _Course, system: System, action: np.ndarray, length: np.ndarray, rewards: Any, channel: Any, single: bool
) -> np.ndarray:
    rows, block = np.arange(len(action)), len(course.codes)
    points = course.policy.told(action) if isinstance(course.policy, Telling) else course.actions[rows, action]
    pulls = Pulls(course.time, action[:, None], length[:, None], None if single else rows)
    if single:
        return np.atleast_1d(system.statistic(channel, rewards, pulls, block, points))
    door, data = channel.at(course.trial), rewards.at(course.trial)
    if not channel.every_report or isinstance(system, Streamed):
        return system.statistic(door, data, pulls, block, points)
    keys = np.stack([course.time, action, length], axis=1)
    parts, order = [], []
    for key in np.unique(keys, axis=0):  # one block at a time, so that every report has its place
        members = np.flatnonzero((keys == key).all(axis=1))
        first = members[:1]
        part = Pulls(pulls.start[first], pulls.arms[first], pulls.counts[first], np.zeros(len(members), int))
        parts.append(system.statistic(door.at(members), data.at(members), part, block, points[members]))
        order.append(members)
    result = np.concatenate(parts)
    result[np.concatenate(order)] = result.copy()
    return result
