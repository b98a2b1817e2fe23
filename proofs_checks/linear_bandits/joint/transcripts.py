"""Privacy of the shipped central loop, transcript by transcript: a route of its own beside the proof by one changed sum."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from algorithms.elimination.central import Central
from algorithms.elimination.loop import Elimination
from algorithms.elimination.setting import Setting
from algorithms.rewards import ConstantExceptOne

Sums = Callable[[float, int, float], list[Fraction]]  # (reward of the others, t, r_t) → sum of every release
HORIZON = 20  # two batches of two actions
FAR = 40  # beyond every sum, where a release loses most
OUTPUTS = ((FAR,) * 4, (-FAR,) * 4, (FAR, -FAR) * 2, (-FAR, FAR) * 2)


def transcript_loss(noise: Fraction = Fraction(2)) -> Fraction:
    """The largest log ratio, over ε, of a transcript's law for r_t = 1 against −1, others ±1: noise Lap(noise/ε), ε = 1.

    The log ratio of one release is (|x − u'| − |x − u|)/b. The path is a function of the outputs, found by the loop itself.
    """
    worst = Fraction(0)
    for outputs in OUTPUTS:
        sums = _sums(outputs)
        for base, t in itertools.product((-1.0, 1.0), range(HORIZON)):
            loss = Fraction(0)
            for output, one, other in zip(outputs, sums(base, t, 1.0), sums(base, t, -1.0), strict=False):
                loss += (abs(output - other) - abs(output - one)) / noise
            worst = max(worst, abs(loss))
    return worst


def _sums(outputs: tuple[int, ...]) -> Sums:
    """For these outputs: what every release would have been without noise, as a function of the rewards."""
    loop, plans, place = Elimination(Setting(np.eye(2), HORIZON), Central(Fraction(1))), [], 0
    while (plan := loop.plan()) is not None:
        plans.append(loop.pulls(plan, True))
        width = plan.support.shape[1]
        loop.learn(plan, np.array(outputs[place : place + width], dtype=float))
        place += width
    if int(loop.result(True).pulls.sum()) != HORIZON:
        raise AssertionError("the loop did not play the horizon")

    def exact(base: float, t: int, value: float) -> list[Fraction]:
        rewards = ConstantExceptOne(base, t, value)
        return [Fraction(float(each)) for pulls in plans for each in np.ravel(pulls.sums(rewards))]

    return exact
