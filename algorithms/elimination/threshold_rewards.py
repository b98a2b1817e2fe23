"""Where one reward decides most: constant rewards that put an elimination right on its threshold.

An observer of the actions sees who is eliminated when. If all rewards are equal but one, the statistic before noise is known;
choosing that reward so that it lies within the noise of a threshold makes the one reward count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.elimination.batch_plans import Plan
from algorithms.elimination.loop import Elimination
from algorithms.elimination.setting import PrivacyStep, Setting
from algorithms.rewards import ConstantExceptOne

OFFSETS = (2.0, 1.0, 3.0, 0.0, -1.0)  # how far below its threshold the statistic lies, in units of the noise


def threshold_pairs(setting: Setting, step: PrivacyStep) -> list[tuple[Any, Any]]:
    """Neighbouring rewards around the first elimination that constant rewards can bring about; none if there is no such."""
    loop = Elimination(setting, step)
    while (plan := loop.plan()) is not None:
        threshold = _threshold(plan, 0.95 * setting.high)
        if threshold is not None:
            base, rival, loser = threshold
            return _pairs(setting, plan, int(loop.states.time[0]), base, rival, loser)
        loop.learn(plan, np.zeros(plan.counts.shape[1]))  # rewards of 0 eliminate nobody
    return []


def _threshold(plan: Plan, most: float) -> tuple[float, int, int] | None:
    """The least constant reward at which some action falls, the action that beats it, and the one that falls."""
    estimate = plan.counts[0] @ plan.coefficients[0]  # per unit of reward
    width = np.broadcast_to(plan.width[0], estimate.shape)

    def margins(base: float) -> np.ndarray:
        margin: np.ndarray = base * estimate + width - (base * estimate - width).max()
        return margin

    if most <= 0 or (margins(most) >= 0).all():
        return None
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if (margins(middle) < 0).any() else (middle, high)
    return high, int((high * estimate - width).argmax()), int(margins(high).argmin())


def _pairs(setting: Setting, plan: Plan, start: int, base: float, rival: int, loser: int) -> list[tuple[Any, Any]]:
    coefficients, counts = plan.coefficients[0], plan.counts[0]
    lever = np.abs(coefficients[:, rival] - coefficients[:, loser]) * (counts > 0)
    arm = int(lever.argmax())
    t = start + int(counts[:arm].sum()) + int(counts[arm]) // 2
    gap = float(counts @ (coefficients[:, rival] - coefficients[:, loser]))
    unit = float(plan.scale[0] or 0) * float(lever[arm]) / max(gap, 1e-12)
    pull = float(coefficients[arm, rival] - coefficients[arm, loser])
    base = base * gap / (gap - pull) if gap > pull else base  # the threshold itself when the one reward is 0
    low, high = setting.low, setting.high
    return [
        (ConstantExceptOne(value, t, high, low, high), ConstantExceptOne(value, t, low, low, high))
        for value in (base - offset * unit for offset in OFFSETS)
        if low <= value <= high
    ]
