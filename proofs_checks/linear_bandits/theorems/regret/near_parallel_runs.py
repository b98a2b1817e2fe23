"""The loop itself on the three actions of near_parallel: how often its good set goes from {a, b} to {a}, or to none."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta

import dpaudit as dp
from algorithms.elimination.central import Central
from algorithms.elimination.loop import Elimination
from algorithms.elimination.setting import Setting
from algorithms.rewards import Stochastic
from proofs_checks.linear_bandits.theorems.regret.near_parallel import MEANS, C, S, Width, chance, chance_at_most, loss
from proofs_checks.shared.decisions import Row
from proofs_checks.shared.laplace_tails import MP, short

ALPHA = 1e-6  # error rate of every interval
SEED = 5
EMPTY = "no count here depends on what is done with an empty set: a run counts up to its first batch with A_{i+1} ≠ {a, b} only"


def interval(count: int, trials: int) -> tuple[float, float]:
    """Clopper–Pearson, error rate ALPHA."""
    low = float(beta.ppf(ALPHA / 2, count, trials - count + 1)) if count else 0.0
    high = float(beta.ppf(1 - ALPHA / 2, count + 1, trials - count)) if count < trials else 1.0
    return low, high


def runs(horizon: int, epsilon: Fraction, maximum: str, trials: int) -> dict[int, np.ndarray]:
    """By batch: how many runs have had A_j = {a, b} from when e_2 left until then, and what the printed line makes of it.

    Of these, four numbers: {a, b} again, {a}, {b}, nothing.
    """
    actions = np.array([[C, S], [C, -S], [0, 1]], dtype=float)
    setting = Setting(actions, horizon, "printed", maximum=maximum)
    loop = Elimination(setting, step := Central(epsilon, "printed"), trials)
    rewards = Stochastic(np.broadcast_to(np.array(MEANS, dtype=float), (trials, 3)), np.random.default_rng(SEED))
    counts: dict[int, np.ndarray] = {}
    with dp.simulate(SEED, trials=trials) as channel:
        pair, followed = np.array([True, True, False]), np.ones(trials, bool)
        while (plan := loop.plan()) is not None:
            who = loop.alive.copy()
            noisy = step.statistic(channel.at(who), rewards.at(who), loop.pulls(plan, False), loop.batch, plan.scale[0])
            for g in np.flatnonzero((loop.states.active == pair).all(axis=1)):
                mine = np.flatnonzero((loop.state == g) & followed[who])
                means = noisy[mine] @ plan.coefficients[g]  # of a, b, e_2
                rivals = means if maximum == "all" else means[:, :2]
                survives = means[:, :2] >= rivals.max(axis=1, keepdims=True) - 2 * plan.width[g, 0]
                outcome = np.bincount(3 - 2 * survives[:, 0] - survives[:, 1], minlength=4)
                counts[loop.batch] = counts.get(loop.batch, np.zeros(4, int)) + outcome
                followed[who[mine[~survives.all(axis=1)]]] = False
            loop.learn(plan, noisy)
    return counts


def against_exact(horizon: int, epsilon: Fraction, maximum: str, width: Width, trials: int) -> list[Row]:
    """The share of {a, b} → {a} with its interval, beside the exact bounds: in the first batches of {a, b}, and in any."""
    outcomes, rows = runs(horizon, epsilon, maximum, trials), []
    for batch in [index for index, outcome in outcomes.items() if outcome.sum() >= trials // 100][:3]:
        at = MP.mpf(horizon), epsilon, batch, maximum, width
        bounds = chance(*at)[0], chance_at_most(*at)
        rows.append(_row(batch, int(outcomes[batch].sum()), outcomes[batch], bounds))
    every = loss(MP.mpf(horizon), epsilon, maximum, width)
    rows.append(_row("any", trials, sum(outcomes.values(), np.zeros(4, int)), (every.least if every else 0, 1)))
    return [{"T": f"1e{math.log10(horizon):.0f}", "ε": str(epsilon), **row} for row in rows]


def _row(batch: Any, total: int, outcome: np.ndarray, bounds: tuple[Any, Any]) -> Row:
    (low, high), (least, most) = interval(int(outcome[1]), total), bounds
    return {
        "batch": batch, "runs with A_i = {a, b}": total, "then {a}": int(outcome[1]), "then {}": int(outcome[3]),
        "share of {a} from": short(low), "to": short(high), "exact from": short(least), "exact to": short(most),
        "agree": "yes" if low <= most and high >= least else "no",
    }  # fmt: skip
