"""DP-SE: lengths and gaps of its epochs at known values, and Lap(2/ε) on sums of rewards in [−1, 1]."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from algorithms.baselines.arms.sajed_sheffet import SajedSheffet
from algorithms.baselines.registry import make_baseline
from dpaudit.accountants import account
from dpaudit.deployment import simulate
from dpaudit.ledger import MemoryLedger


def test_the_first_epoch_has_the_length_and_gap_of_the_formula():
    system, one, arms = SajedSheffet(Fraction(1), 10**6), np.array([1]), np.array([10])
    length = int(max(32 * math.log(8e7) * 4, 8 * math.log(4e7) * 2) + 1)
    assert system.pulls(one, arms).item() == length
    width = math.sqrt(math.log(8e7) / (2 * length)) + math.log(4e7) / length
    assert math.isclose(system.gap(one, arms).item(), 4 * width)


def test_small_epsilon_makes_the_epochs_longer():
    one, arms = np.array([1]), np.array([10])
    assert SajedSheffet(Fraction(1, 100), 10**6).pulls(one, arms) > 2 * SajedSheffet(Fraction(1), 10**6).pulls(one, arms)


def test_the_ledger_of_a_run_costs_exactly_the_claim():
    ledger = MemoryLedger(kind="simulated")
    with simulate(1, ledger=ledger) as channel:
        make_baseline("sajed-sheffet", "1/2", None, 50_000, (3, 2), "printed").evaluate(channel, np.random.default_rng(1))
    assert account(ledger).epsilon == Fraction(1, 2)
