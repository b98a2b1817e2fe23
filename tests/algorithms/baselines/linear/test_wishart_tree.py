"""Shariff and Sheffet's tree with Wishart noise: its law, how the door and public coins share it, its claim."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dpaudit as dp
from algorithms.baselines.linear.wishart_tree import WishartTree, wishart
from algorithms.baselines.registry import make_baseline
from dpaudit.accountants.composition import account_releases
from dpaudit.ledger import MemoryLedger

SYSTEM = WishartTree(Fraction(1), Fraction(1, 10**6), 2000, 2)
TRIALS = 20_000


@pytest.mark.parametrize(("freedom", "passes"), [(9, True), (10, False)])
def test_wishart_noise_has_the_moments_of_its_definition(freedom, passes):
    """E W = kI, Var W_ij = k(1 + [i=j]), drawn at k = 9; 5σ."""
    drawn = wishart(9, 3, TRIALS, np.random.default_rng(1))
    assert np.allclose(drawn, np.swapaxes(drawn, 1, 2))
    off = np.abs(drawn.mean(axis=0) - freedom * np.eye(3)).max()
    assert (off < 5 * np.sqrt(2 * 9 / TRIALS)) == passes
    variance = drawn.var(axis=0)
    assert np.abs(variance / (9 * (1 + np.eye(3))) - 1).max() < 0.1


def test_door_and_coins_together_have_the_covariance_of_the_whole_noise():
    """Σ xy has noise of covariance L̃²·E W_xx = L̃⁴k I, of which the door adds σ²."""
    drawn = SYSTEM.noise(TRIALS, np.random.default_rng(2))
    matrix, vector = drawn[:, :, :-1], drawn[:, :, -1]
    assert np.linalg.eigvalsh(matrix).min() >= SYSTEM.sigma**2 / 2 * (1 - 1e-9)
    whole = np.cov(vector.T) + SYSTEM.sigma**2 * np.eye(2)
    assert np.allclose(whole / (4 * SYSTEM.freedom), np.eye(2), atol=0.01)
    assert SYSTEM.sigma**2 < 4 * SYSTEM.freedom


@pytest.mark.parametrize(("share", "holds"), [(1, True), (Fraction(1, 1000), False)])
def test_the_door_charges_its_part_of_the_noise_and_the_claim_holds(share, holds):
    """The same tree with a thousandth of the noise is above the claim."""
    ledger = MemoryLedger(kind="simulated")
    with dp.simulate(1, ledger=ledger) as channel:
        SYSTEM.opened(channel)
    (release,) = ledger.releases()
    assert Fraction(release.parameters["sigma"]) == Fraction(SYSTEM.sigma)
    noise = {**release.parameters, "sigma": str(Fraction(SYSTEM.sigma) * share)}
    bound = account_releases([replace(release, parameters=noise)], Fraction(1, 10**6))
    assert (bound.epsilon <= 1) == holds


def test_regret_is_that_of_a_bandit():
    subject = make_baseline("shariff-sheffet-wishart", 1, None, 10_000, (3, 2), "printed")
    with dp.simulate(1, trials=20) as channel:
        assert 0 <= subject.evaluate(channel, np.random.default_rng(1))["regret"] <= 20_000
