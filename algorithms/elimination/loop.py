"""The one batched elimination loop of the paper: core set → pulls → statistic → least squares → eliminate.

Algorithms 1–3, the non-private one and the one without a core set differ in their privacy step only. Trials are an array axis:
trials that share their public state share its core set and widths, so that 10^5 audited trials cost little more than one.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from algorithms.elimination.batch_plans import Plan, Plans, make_plan
from algorithms.elimination.pulls import Pulls
from algorithms.elimination.setting import PrivacyStep, Setting
from dpaudit.claims import InvalidValue


@dataclass
class States:
    """Public states: what a run knows about the past. Trials that agree so far share one."""

    active: np.ndarray  # (G, K)
    time: np.ndarray  # (G,)
    pulls: np.ndarray  # (G, K) pulls so far
    history: np.ndarray  # (G, batches) code of each batch's active set
    instance: np.ndarray  # (G,) which action set

    def take(self, index: np.ndarray) -> States:
        return States(self.active[index], self.time[index], self.pulls[index], self.history[index], self.instance[index])


@dataclass(frozen=True)
class Play:
    """What was played, in public: per trial the active set of each batch (as a code), pulls per action, the last action."""

    plays: np.ndarray  # (batches + 1,) or (trials, batches + 1): code of each batch's active set, then the final action
    pulls: np.ndarray  # (K,) or (trials, K)
    best: np.ndarray  # final action
    batches: np.ndarray

    def regret(self, means: np.ndarray) -> np.ndarray:
        """Σ_a pulls·gap for the true means, (K,) or (trials, K). An evaluation: not part of the algorithm."""
        gaps = means.max(axis=-1, keepdims=True) - means
        result: np.ndarray = (self.pulls * gaps).sum(axis=-1)
        return result

    def summary(self, means: np.ndarray) -> dict[str, Any]:
        """What an evaluation says: mean regret, with its standard error over trials, the most batches, a final action."""
        regret = np.atleast_1d(self.regret(means))
        error = {"error": float(regret.std(ddof=1) / math.sqrt(len(regret)))} if len(regret) > 1 else {}
        return {
            "regret": float(regret.mean()), "batches": int(np.max(self.batches)), "action": int(np.ravel(self.best)[0]), **error,
        }  # fmt: skip


def active_codes(active: np.ndarray) -> np.ndarray:
    """A number per active set: its bits, or 62 bits of a hash of them for more than 62 actions."""
    if active.shape[-1] <= 62:
        return active @ (1 << np.arange(active.shape[-1], dtype=np.int64))
    packed = np.packbits(active, axis=-1)
    digests = [hashlib.sha256(row.tobytes()).digest()[:8] for row in packed]
    return np.array([int.from_bytes(digest, "big") >> 2 for digest in digests], dtype=np.int64)


class Elimination:
    """The loop as a state machine: ``plan`` a batch, hand it the statistic, ``learn``. Both faces, batch and online, drive it."""

    def __init__(self, setting: Setting, step: PrivacyStep, trials: int = 1, plans: Plans | None = None) -> None:
        actions = setting.actions if setting.actions.ndim == 3 else setting.actions[None]
        own = len(actions) > 1
        groups = trials if own else 1
        if setting.horizon < 3:
            raise InvalidValue("horizon", setting.horizon, "at least 3")
        self.setting, self.step, self.actions = setting, step, actions
        size = actions.shape[1]
        self.states = States(
            np.ones((groups, size), bool), np.zeros(groups, np.int64), np.zeros((groups, size), np.int64),
            np.zeros((groups, 0), np.int64), np.arange(groups) if own else np.zeros(1, np.int64),
        )  # fmt: skip
        self.state = np.arange(trials) if own else np.zeros(trials, np.int64)  # of each trial still in the batches
        self.alive = np.arange(trials)
        self.batch = 1
        self.limit = max(setting.batches_at_most, 1)
        self.final_pulls = np.zeros((trials, size), np.int64)
        self.best = np.zeros(trials, np.int64)
        self.plays = np.full((trials, self.limit + 1), -1, np.int64)
        self.batches = np.zeros(trials, np.int64)
        self._own = own
        self._plans = plans or Plans()

    def plan(self) -> Plan | None:
        """The next batch of every trial that goes on; None when all have finished."""
        self._finish(self._surely_over())
        if not len(self.alive):
            return None
        plan = self._plan_states()
        fits = self.states.time + plan.total <= self.setting.horizon
        self._finish(~fits)
        if not len(self.alive):
            return None
        return plan if fits.all() else plan.take(np.flatnonzero(fits))

    def _surely_over(self) -> np.ndarray:
        """States that need no plan: decided, or out of rounds, since a batch takes at least q^i of them."""
        over: np.ndarray = self.states.time + self.setting.growth**self.batch - 1 > self.setting.horizon
        if self.setting.stop_when_decided:
            over |= self.states.active.sum(axis=1) == 1
        return over | (self.batch > self.limit)

    def learn(self, plan: Plan, noisy: np.ndarray) -> None:
        """Estimate, eliminate, and move every trial to its next public state."""
        noisy = np.atleast_2d(np.asarray(noisy, dtype=float))
        if self._own:
            self._learn_own(plan, noisy)
        else:
            self._learn_shared(plan, noisy)
        self.batch += 1

    def _learn_own(self, plan: Plan, noisy: np.ndarray) -> None:
        """Every trial has an instance and so a state of its own."""
        active = self.states.active
        estimates = np.einsum("bk,bka->ba", noisy, plan.coefficients)
        rivals = estimates - plan.width
        if self.setting.maximum == "active":
            rivals[~active] = -np.inf
        keep = active & (estimates + plan.width >= rivals.max(axis=1, keepdims=True))
        estimates[~active] = -np.inf
        best = estimates.argmax(axis=1)
        empty = ~keep.any(axis=1)  # only with maximum="all": the set as printed can run empty
        keep[empty, best[empty]] = True
        self.best[self.alive] = best
        self._advance(plan)
        self.states.active = keep

    def _learn_shared(self, plan: Plan, noisy: np.ndarray) -> None:
        """Trials of one state share its estimator; they stay sorted by state."""
        edges = np.searchsorted(self.state, np.arange(len(plan.total) + 1))
        may_end = self._may_end(plan)
        self._advance(plan)
        parents, masks, members = [], [], []
        for g, active in enumerate(self.states.active):
            arms = np.flatnonzero(active)
            rows = arms if self.setting.maximum == "active" else np.arange(len(active))
            first, last = edges[g], edges[g + 1]
            every = plan.coefficients[g][:, rows].T @ noisy[first:last].T  # (actions, trials): sums run along the long axis
            width = plan.width[g][rows if plan.width.shape[1] > 1 else [0]][:, None]
            top = (every - width).max(axis=0)
            mine = slice(None) if len(rows) == len(arms) else arms
            keep = every[mine] + (width[mine] if len(width) > 1 else width) >= top
            if may_end[g] or self.setting.maximum == "all":
                best = every[mine].argmax(axis=0)
                self.best[self.alive[first:last]] = arms[best]
                keep[best, np.arange(len(best))] |= ~keep.any(axis=0)  # only with maximum="all" can the set run empty
            for who, survivors in _by_pattern(keep):
                mask = np.zeros_like(active)
                mask[arms[survivors]] = True
                parents.append(g)
                masks.append(mask)
                members.append(first + who)
        self.states = self.states.take(np.array(parents))
        self.states.active = np.array(masks)
        self.alive = self.alive[np.concatenate(members)]
        self.state = np.repeat(np.arange(len(members)), [len(who) for who in members])

    def _may_end(self, plan: Plan) -> np.ndarray:
        """Can this be a state's last batch? Then its best action is needed."""
        most = self.setting.growth ** (self.batch + 1) + self.actions.shape[1] + 1
        late = self.states.time + plan.total + most > self.setting.horizon
        return late | (self.batch >= self.limit) | self.setting.stop_when_decided

    def pulls(self, plan: Plan, single: bool) -> Pulls:
        return Pulls(self.states.time, plan.support, plan.counts, None if single else self.state)

    def result(self, single: bool) -> Play:
        arrays = (self.plays, self.final_pulls, self.best, self.batches)
        return Play(*(array[0] for array in arrays)) if single else Play(*arrays)

    def _advance(self, plan: Plan) -> None:
        states = self.states
        np.add.at(states.pulls, (np.arange(len(plan.counts))[:, None], plan.support), plan.counts)
        states.time = states.time + plan.total
        states.history = np.concatenate([states.history, active_codes(states.active)[:, None]], axis=1)

    def _finish(self, done: np.ndarray) -> None:
        """The action that appears best is played for the remaining time."""
        if not done.any():
            return
        leaving = done[self.state]
        trials, state = self.alive[leaving], self.state[leaving]
        best = self.best[trials]
        if self.batch == 1:
            best = self.states.active[state].argmax(axis=1)
            self.best[trials] = best
        self.final_pulls[trials] = self.states.pulls[state]
        self.final_pulls[trials, best] += self.setting.horizon - self.states.time[state]
        past = self.states.history[state]
        self.plays[trials, : past.shape[1]] = past
        self.plays[trials, -1] = best
        self.batches[trials] = past.shape[1]
        renumber = np.cumsum(~done) - 1
        self.alive, self.state = self.alive[~leaving], renumber[self.state[~leaving]]
        self.states = self.states.take(np.flatnonzero(~done))

    def _plan_states(self) -> Plan:
        make = partial(make_plan, self.setting, self.step, self.batch, self.limit)
        if self._own:
            return make(self.states.active, self.actions[self.states.instance])
        return self._plans.get(self.batch, self.states.active, lambda active: make(active, self.actions[0]))


def _by_pattern(keep: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Columns of ``keep`` (actions, trials) grouped by what they keep: (trials, kept actions) for each group."""
    if keep.all():
        return [(np.arange(keep.shape[1]), np.ones(len(keep), bool))]
    if len(keep) <= 62:
        codes = np.zeros(keep.shape[1], np.int64)
        for place, row in enumerate(keep):
            codes |= row.astype(np.int64) << place
        _, first, inverse, sizes = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    else:
        packed = np.packbits(keep, axis=0)
        _, first, inverse, sizes = np.unique(packed, axis=1, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    return [(who, keep[:, f]) for who, f in zip(np.split(order, np.cumsum(sizes)[:-1]), first, strict=True)]


def run(setting: Setting, step: PrivacyStep, rewards: Any, channel: Any, plans: Plans | None = None) -> Play:
    """Play the whole horizon against ``rewards``, behind the door. ``plans``: shared between runs of this setting."""
    single = channel.trials is None
    loop = Elimination(setting, step, 1 if single else channel.trials, plans)
    while (plan := loop.plan()) is not None:
        loop.learn(plan, _statistic(loop, plan, rewards, channel, single))
    return loop.result(single)


def _statistic(loop: Elimination, plan: Plan, rewards: Any, channel: Any, single: bool) -> np.ndarray:
    pulls, step = loop.pulls(plan, single), loop.step
    if single:
        return step.statistic(channel, rewards, pulls, loop.batch, plan.scale[0])
    door, data = channel.at(loop.alive), rewards.at(loop.alive)
    if channel.every_report and len(plan.counts) > 1:  # one plan at a time, so that every report has its place
        noisy = np.zeros((len(loop.alive), plan.counts.shape[1]))
        for g in range(len(plan.counts)):
            members = np.flatnonzero(loop.state == g)
            part = Pulls(pulls.start[[g]], plan.support[[g]], plan.counts[[g]], np.zeros(len(members), np.int64))
            noisy[members] = step.statistic(door.at(members), data.at(members), part, loop.batch, plan.scale[g])
        return noisy
    return step.statistic(door, data, pulls, loop.batch, _common(plan.scale, loop.state))


def _common(scales: list[Any], state: np.ndarray) -> Any:
    """One exact scale where all trials share it, else one float per trial."""
    if all(scale is scales[0] or scale == scales[0] for scale in scales):
        return scales[0]
    return np.array([float(scale) for scale in scales])[state]
