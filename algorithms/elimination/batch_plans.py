"""The plan of one batch: which actions are pulled how often, how sums turn into estimates, and how wide these are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from algorithms.actions.core_set import core_sets
from algorithms.elimination.confidence import Situation, widths
from algorithms.elimination.setting import PrivacyStep, Setting


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


def make_plan(setting: Setting, step: PrivacyStep, batch: int, limit: int, active: np.ndarray, actions: np.ndarray) -> Plan:
    """Core sets, pulls ⌈π(a)q^i⌉ and widths for many states at once. ``limit``: the most batches that a run can have."""
    power = setting.growth**batch
    support, weights, rank = _designs(setting, actions, active)
    counts = np.where(weights > 0, np.ceil(weights * power - 1e-9), 0).astype(np.int64)
    own = actions if actions.ndim == 3 else np.broadcast_to(actions, (len(active), *actions.shape))
    pulled = np.take_along_axis(own, support[:, :, None], axis=1) if len(own) > 1 else own[:, support[0]]
    gram = np.einsum("gk,gki,gkj->gij", counts.astype(float), pulled, pulled)
    inverse = np.linalg.pinv(gram, rcond=1e-12, hermitian=True)
    coefficients = np.einsum("gki,gij,gaj->gka", pulled, inverse, own, optimize=True)
    coefficients[counts == 0] = 0.0
    norms = np.einsum("gai,gij,gaj->ga", own, inverse, own, optimize=True)
    scale, printed_epsilon, exact_scale = step.terms(counts)
    situation = Situation(
        power, setting.horizon, limit, own.shape[2], setting.high - setting.low, active, rank,
        (counts > 0).sum(axis=1), counts, coefficients, np.maximum(norms, 0.0), scale, printed_epsilon,
        active if setting.maximum == "active" else None,
    )  # fmt: skip
    width = widths(step.model, setting.calibration, situation)
    return Plan(support, counts, counts.sum(axis=1), coefficients, width, exact_scale)


def _designs(setting: Setting, actions: np.ndarray, active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if setting.design == "all":
        index = np.broadcast_to(np.arange(active.shape[1]), active.shape)
        stacked = actions if actions.ndim == 3 else np.broadcast_to(actions, (len(active), *actions.shape))
        rank = np.linalg.matrix_rank(stacked * active[:, :, None])
        return index, active / active.sum(axis=1, keepdims=True), np.maximum(rank, 1)
    designs = core_sets(actions, active, target=setting.leverage, kind=setting.design)
    return designs.support, designs.weights, designs.rank
