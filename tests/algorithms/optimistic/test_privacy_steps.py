"""The privacy steps: certified shuffled ε0, unbiased estimates, and the exact law of all that leaves for tiny horizons."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms.elimination.pulls import Pulls
from algorithms.optimistic.loop import Optimism, Setting
from algorithms.optimistic.privacy_steps import OptimisticCentral, OptimisticLocal, OptimisticShuffled, report_epsilons
from algorithms.optimistic.schedule import Model
from algorithms.rewards import ConstantExceptOne

DELTA = Fraction(1, 10**6)


def test_shuffled_epsilons_grow_and_each_batch_is_certified():
    lengths = (60, 60, 120, 3840)
    chosen = report_epsilons(Fraction(1), DELTA, lengths)
    assert list(chosen) == sorted(chosen)
    assert chosen[0] > 1, "sixty reports hide a bit"
    for epsilon0, n in zip(chosen, lengths, strict=True):
        assert dp.amplify(epsilon0, n, DELTA, method="krr", k=2, attack=False).upper <= 1
    assert dp.amplify(chosen[3], lengths[0], DELTA, method="krr", k=2, attack=False).upper > 1, "the ε0 of a larger batch"


@pytest.mark.parametrize("step", [OptimisticLocal(Fraction(1)), OptimisticShuffled(Fraction(1), DELTA)], ids=lambda s: s.name)
def test_rounded_reports_estimate_the_sum_without_bias(step):
    """Values 0.3 in 40 rounds, 4000 trials: the mean lies within 5 standard errors (fails once in 10^6); 0.35 lies outside."""
    trials, n = 4000, 40
    pulls = Pulls(np.zeros(trials, np.int64), np.zeros((trials, 1), np.int64), np.full((trials, 1), n), np.arange(trials))
    with dp.simulate(3, trials=trials) as channel:
        noise = step.noise(np.ones(trials, np.int64), 1000)
        sums = step.statistic(channel, ConstantExceptOne(0.3, 0, 0.3), pulls, 1, noise).ravel()
    error = sums.std() / math.sqrt(trials)
    assert abs(sums.mean() - n * 0.3) < 5 * error
    assert abs(sums.mean() - n * 0.35) > 5 * error


class TinyCentral(OptimisticCentral):
    """Batches of one round on a coarse grid, so that every transcript can be listed."""

    def model(self, horizon: int) -> Model:
        return Model(1, float(2 / self.epsilon), (1.0,) * 8)


def log_probability(outputs: tuple[int, ...], table: np.ndarray, epsilon: Fraction, half: bool) -> float | None:
    """log P(outputs) for a table of rewards (T, K) in whole units: batch by batch, exactly; None if the run ends earlier."""
    loop = Optimism(Setting(np.eye(2), len(table)), TinyCentral(epsilon))
    rate, total, rng = float(epsilon) / (1 if half else 2), 0.0, np.random.default_rng(0)
    for output in outputs:
        chosen = loop.choose(rng)
        if chosen is None:
            return None
        action, length = chosen
        start = int(loop.known.time[0])
        true = table[start : start + int(length[0]), int(action[0])].sum()
        total += math.log(math.tanh(rate / 2)) - rate * abs(output - true)
        loop.learn(action, length, np.array([float(output)]))
    return total


@pytest.mark.parametrize("half", [False, True])
def test_the_exact_law_of_transcripts_changes_by_at_most_e_to_epsilon_for_a_whole_row(half):
    """T = 3, two actions, rewards ±1, discrete Laplace noise: all neighbouring rows and all outputs in a window. With half the
    noise some transcript shows more than ε."""
    epsilon, worst = Fraction(1), 0.0
    rng = np.random.default_rng(1)
    for _ in range(6):
        table = rng.choice([-1, 1], (3, 2))
        t, row = int(rng.integers(3)), rng.choice([-1, 1], 2)
        other = table.copy()
        other[t] = row
        other[t, 0] = -table[t, 0]
        for outputs in itertools.product((-3, -1, 0, 2), repeat=2):
            one, two = (log_probability(outputs, data, epsilon, half) for data in (table, other))
            assert (one is None) == (two is None), "which batches are released does not depend on the data"
            if one is not None and two is not None:
                worst = max(worst, abs(one - two))
    assert worst > 0.9 if not half else worst > 1.5
    assert (worst <= 1 + 1e-9) != half
