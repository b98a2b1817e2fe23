"""The one batched elimination loop of the paper: core set → pulls → statistic → least squares → eliminate.

Algorithms 1–3, the non-private one and the one without a core set differ in their privacy step only. Trials are an array axis:
trials that share their public state share its core set and widths, so that 10^5 audited trials cost little more than one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np

from algorithms.actions.core_set import core_sets
from algorithms.elimination.confidence import Calibration, Model, Situation, widths
from algorithms.elimination.pulls import Pulls
from dpaudit.claims import InvalidValue

Design = Literal["frank-wolfe", "minimal", "all"]


@dataclass(frozen=True)
class Setting:
    """Everything public that is fixed in advance. Printed with every result."""

    actions: np.ndarray  # (K, d); (trials, K, d) when each trial has an instance of its own
    horizon: int
    calibration: Calibration = "tight"
    low: float = -1.0
    high: float = 1.0
    design: Design = "frank-wolfe"  # or "minimal", or "all": no core set, every active action is pulled alike
    leverage: float = 2.0  # core sets reach g ≤ leverage·m
    maximum: str = "active"  # eliminate against the best of A_i; "all": of A, as Algorithms 1 and 3 print it
    stop_when_decided: bool = False  # leave the batches once one action is left: the actions played are the same

    def __post_init__(self) -> None:
        for name, known in (("design", get_args(Design)), ("maximum", ("active", "all"))):
            if getattr(self, name) not in known:
                raise InvalidValue(name, getattr(self, name), "one of " + ", ".join(known))
        if not self.low < self.high:
            raise InvalidValue("low", self.low, f"below high, which is {self.high:g}")

    @property
    def growth(self) -> float:
        """q = (2T)^(1/log T)."""
        return float((2 * self.horizon) ** (1 / math.log(self.horizon)))

    @property
    def batches_at_most(self) -> int:
        """N_max = max{N : Σ_{i≤N} ⌈q^i⌉ ≤ T}."""
        used, batch = 0, 0
        while (used := used + math.ceil(self.growth ** (batch + 1))) <= self.horizon:
            batch += 1
        return batch


class PrivacyStep(Protocol):
    """What one model does between pulling and estimating."""

    @property
    def model(self) -> Model: ...

    def terms(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """For batches of these pulls (G, k): Laplace scale (G,), printed ε (G,), and exact scales for the door."""
        ...

    def statistic(self, channel: Any, rewards: Any, pulls: Pulls, batch: int, scale: Any) -> np.ndarray:
        """The (noisy) sum of rewards per pulled action, shape (k,) or (trials, k)."""
        ...


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
class Plan:
    """One batch, for G states: who is pulled how often, and how sums turn into estimates."""

    support: np.ndarray  # (G, k)
    counts: np.ndarray  # (G, k)
    total: np.ndarray  # (G,)
    coefficients: np.ndarray  # (G, k, K)
    width: np.ndarray  # (G, K) or (G, 1)
    scale: list[Any]  # exact scale per state

    def take(self, index: Any) -> Plan:
        return Plan(
            self.support[index], self.counts[index], self.total[index], self.coefficients[index], self.width[index],
            [self.scale[i] for i in index],
        )  # fmt: skip

    def joined(self, other: Plan) -> Plan:
        """Both, one after the other; narrower supports are padded with an action that is pulled 0 times."""
        k = max(self.support.shape[1], other.support.shape[1])

        def both(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            return np.concatenate([np.pad(x, [(0, 0), (0, k - x.shape[1])] + [(0, 0)] * (x.ndim - 2)) for x in (a, b)])

        return Plan(
            both(self.support, other.support), both(self.counts, other.counts), np.concatenate([self.total, other.total]),
            both(self.coefficients, other.coefficients), np.concatenate([self.width, other.width]), self.scale + other.scale,
        )  # fmt: skip


class Plans:
    """Plans made so far, by batch and active set. They are public, so that all runs of one setting share them."""

    def __init__(self) -> None:
        self._made: dict[int, Plan] = {}
        self._rows: dict[tuple[int, bytes], int] = {}

    def get(self, batch: int, active: np.ndarray, make: Callable[[np.ndarray], Plan]) -> Plan:
        keys = [(batch, row.tobytes()) for row in np.packbits(active, axis=1)]
        missing = {key: i for i, key in enumerate(keys) if key not in self._rows}
        if missing:
            made = make(active[list(missing.values())])
            known = self._made.get(batch)
            first = 0 if known is None else len(known.total)
            self._made[batch] = made if known is None else known.joined(made)
            self._rows.update({key: first + place for place, key in enumerate(missing)})
        return self._made[batch].take([self._rows[key] for key in keys])


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
        if self._own:
            return self._make(self.states.active, self.actions[self.states.instance])
        return self._plans.get(self.batch, self.states.active, lambda active: self._make(active, self.actions[0]))

    def _make(self, active: np.ndarray, actions: np.ndarray) -> Plan:
        """Core sets, pulls ⌈π(a)q^i⌉ and widths for many states at once."""
        setting, power = self.setting, self.setting.growth**self.batch
        support, weights, rank = _designs(setting, actions, active)
        counts = np.where(weights > 0, np.ceil(weights * power - 1e-9), 0).astype(np.int64)
        own = actions if actions.ndim == 3 else np.broadcast_to(actions, (len(active), *actions.shape))
        pulled = np.take_along_axis(own, support[:, :, None], axis=1) if len(own) > 1 else own[:, support[0]]
        gram = np.einsum("gk,gki,gkj->gij", counts.astype(float), pulled, pulled)
        inverse = np.linalg.pinv(gram, rcond=1e-12, hermitian=True)
        coefficients = np.einsum("gki,gij,gaj->gka", pulled, inverse, own, optimize=True)
        coefficients[counts == 0] = 0.0
        norms = np.einsum("gai,gij,gaj->ga", own, inverse, own, optimize=True)
        scale, printed_epsilon, exact_scale = self.step.terms(counts)
        situation = Situation(
            power, setting.horizon, self.limit, own.shape[2], setting.high - setting.low, active, rank,
            (counts > 0).sum(axis=1), counts, coefficients, np.maximum(norms, 0.0), scale, printed_epsilon,
            active if setting.maximum == "active" else None,
        )  # fmt: skip
        width = widths(self.step.model, setting.calibration, situation)
        return Plan(support, counts, counts.sum(axis=1), coefficients, width, exact_scale)


def _designs(setting: Setting, actions: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if setting.design == "all":
        index = np.broadcast_to(np.arange(active.shape[1]), active.shape)
        stacked = actions if actions.ndim == 3 else np.broadcast_to(actions, (len(active), *actions.shape))
        rank = np.linalg.matrix_rank(stacked * active[:, :, None])
        return index, active / active.sum(axis=1, keepdims=True), np.maximum(rank, 1)
    designs = core_sets(actions, active, target=setting.leverage, kind=setting.design)
    return designs.support, designs.weights, designs.rank


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
