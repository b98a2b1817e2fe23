"""The optimistic loop one batch at a time. What it knows is what was released, so that is all that its saved state holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from algorithms.elimination.loop import Play
from algorithms.elimination.pulls import Pulls
from algorithms.online.state import Boundary
from algorithms.optimistic.loop import Knowledge, Optimism, Setting
from algorithms.optimistic.privacy_steps import OptimisticStep, from_count
from dpaudit.noise import from_units

_FIELDS = 4  # of a batch in the saved history: action, rounds, was it lost, what was released in units


@dataclass(frozen=True)
class BatchPlan:
    """One batch: an action, its rounds and the mechanism, in the form of a plan for one state."""

    action: np.ndarray
    total: np.ndarray
    scale: list[Any]

    @property
    def counts(self) -> np.ndarray:
        return self.total[:, None]


class OnlineOptimism:
    """``coins``: a public seed; with it and the history, the same actions are chosen again."""

    def __init__(self, setting: Setting, step: OptimisticStep, coins: int) -> None:
        self.setting, self._step = setting, step
        self._loop, self._rng = Optimism(setting, step, 1), np.random.default_rng(coins)
        self._history: list[int] = []
        self._time = 0

    @property
    def batch(self) -> int:
        return len(self._history) // _FIELDS + 1

    @property
    def states(self) -> Knowledge:
        return self._loop.known

    @property
    def best(self) -> np.ndarray:
        return self._loop.best

    def plan(self) -> BatchPlan | None:
        chosen = self._loop.choose(self._rng)
        if chosen is None:
            return None
        action, length = chosen
        return BatchPlan(action, length, [self._step.noise(self._loop.stage(action), self.setting.horizon)])

    def pulls(self, plan: BatchPlan, single: bool) -> Pulls:
        return Pulls(self._loop.known.time, plan.action[:, None], plan.counts, None)

    def sums(self, plan: BatchPlan, values: np.ndarray) -> np.ndarray:
        """A released sum as it is; a count of bits as the sum that it estimates."""
        noise = plan.scale[0]
        return np.ravel(values) if self._step.name == "central" else np.ravel(from_count(np.ravel(values), plan.total, noise))

    def learn(self, plan: BatchPlan, noisy: np.ndarray) -> None:
        self._note(plan, 0, self._units(plan, float(np.ravel(noisy)[0])))
        self._loop.learn(plan.action, plan.total, np.ravel(noisy))

    def use_up(self, plan: BatchPlan) -> None:
        """These rounds were charged and their release was lost: they are over, and nothing is learned from them."""
        self._note(plan, 1, 0)
        self._loop.skip(plan.total)

    def _note(self, plan: BatchPlan, lost: int, units: int) -> None:
        self._history += [int(plan.action[0]), int(plan.total[0]), lost, units]
        self._time += int(plan.total[0])

    def _units(self, plan: BatchPlan, statistic: float) -> int:
        """The whole number behind a statistic: units of the grid, or a count of bits."""
        if self._step.name == "central":
            return round(Fraction(statistic) / plan.scale[0].grid)
        size = float(from_count(np.ones(1), np.ones(1), plan.scale[0])[0])  # one bit of one counts C
        return round((statistic / size + int(plan.total[0])) / 2)

    def boundary(self) -> Boundary:
        """After ``learn`` and before ``plan``."""
        everyone = list(range(self._loop.pulls.shape[1]))
        pulls = np.zeros(len(everyone), int)
        np.add.at(pulls, self._history[::_FIELDS], self._history[1::_FIELDS])
        return Boundary(self.batch, self._time, everyone, pulls.tolist(), list(self._history), int(self.best[0]))

    def restore(self, boundary: Boundary) -> None:
        """Take the same batches again from the history. Raises ValueError when it is none of this bandit."""
        rows = [boundary.history[i : i + _FIELDS] for i in range(0, len(boundary.history), _FIELDS)]
        if not boundary.inside(self._loop.pulls.shape[1], self.setting.horizon) or len(rows) != boundary.batch - 1:
            raise ValueError("not a state of this bandit")
        for row in rows:
            plan = self.plan()
            if plan is None or len(row) != _FIELDS or row[:2] != [int(plan.action[0]), int(plan.total[0])]:
                raise ValueError("not a state of this bandit")
            if row[2]:
                self.use_up(plan)
            else:
                units = np.array([row[3]])
                self.learn(plan, self.sums(plan, from_units(units, plan.scale[0].grid)))

    def result(self, single: bool) -> Play:
        return self._loop.result(single)
