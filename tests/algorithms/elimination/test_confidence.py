"""Widths: printed ones by hand, tight ones against a brute-force minimum, and all against simulated tails.

Tail tests use 10^6 draws and a margin of 5 standard errors (error rate below 10^-6), with fixed seeds; the twin is half the
width, which the same draws must leave more often than stated.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from algorithms.actions.action_sets import random_instance
from algorithms.elimination.batch_plans import make_plan
from algorithms.elimination.central import Central, NonPrivate
from algorithms.elimination.confidence import Situation, widths
from algorithms.elimination.local import Local
from algorithms.elimination.loop import Elimination
from algorithms.elimination.setting import Setting

pytestmark = pytest.mark.slow

DRAWS = 1_000_000


def situation(coefficients, counts, *, active=2, horizon=10, batches=1, power=None, spread=2.0, scale=1.0, variance=None, dim=1):
    """One state, one action of interest with these coefficients on the pulled actions."""
    lever, n = np.asarray(coefficients, float), np.asarray(counts)
    mask = np.ones((1, active), bool)
    full = np.broadcast_to(lever[None, :, None], (1, len(lever), active))
    norm = float((n * lever**2).sum()) if variance is None else variance
    return Situation(
        float(n.sum()) if power is None else power, horizon, batches, dim, spread, mask, np.array([1]), np.array([len(lever)]),
        n[None, :], full, np.full((1, active), norm), np.array([scale]), np.array([2.0 / scale if scale else np.inf]),
    )  # fmt: skip


# --- printed, by hand: d=2, |A_i|=5, T=100, q^i=50, |C_i|=3, n_i=52, ε=½; L = log(4·5·100²) = log 200000 = 12.2060726 ---


@pytest.mark.parametrize(
    ("model", "value"),
    [
        ("nonprivate", 1.3974876),  # √(8/50·12.2060726)
        ("central", 3.8304592),  # + (2·3·2 + 4·12.2060726)/(½·50) = 60.8242904/25
        ("reports", 5.4284582),  # + 4/(50·½)·√(52·12.2060726) = 0.16·25.1935663
    ],
)
def test_printed_widths_are_those_of_the_paper(model, value):
    at = situation([0.0] * 3, [20, 20, 12], active=5, horizon=100, power=50.0, dim=2, scale=2.0)
    at = replace(at, epsilon=np.array([0.5]))
    assert widths(model, "printed", at)[0, 0] == pytest.approx(value, rel=1e-7)


# --- corrected, by hand: the same with m=1, s=2, ε=½ so that σ = 4 ---


@pytest.mark.parametrize(
    ("model", "value"),
    [
        ("nonprivate", 0.9881730),  # √(4·12.2060726/50)
        ("central", 4.8775602),  # + 2·4/50·(12.2060726 + 2√(3·12.2060726))
        ("reports", 8.5310950),  # + 4·(2√(2·12.2060726/50) + 2·12.2060726/50)
    ],
)
def test_corrected_widths_are_those_of_the_corrections(model, value):
    at = situation([0.0] * 3, [20, 20, 12], active=5, horizon=100, power=50.0, dim=2, scale=4.0)
    assert widths(model, "corrected", at)[0, 0] == pytest.approx(value, rel=1e-7)


def test_half_the_reward_range_halves_the_statistical_width():
    at = situation([0.1], [10], scale=0.0)
    for calibration in ("corrected", "tight"):
        assert widths("nonprivate", calibration, replace(at, spread=1.0)) == pytest.approx(
            widths("nonprivate", calibration, at) / 2
        )


# --- tails ---


def errors(model, at, rng):
    """⟨α, θ̂ − θ⟩ for rewards ±s/2 around their mean (the largest variance) and Laplace noise, drawn without dpaudit."""
    levers, n, sigma = at.coefficients[0, :, 0], at.counts[0], float(at.scale[0])
    total = np.zeros(DRAWS)
    for coefficient, pulls in zip(levers, n, strict=True):
        total += coefficient * at.spread * (rng.binomial(pulls, 0.5, DRAWS) - pulls / 2)
        terms = 1 if model == "central" else pulls
        total += coefficient * sigma * (rng.standard_gamma(terms, DRAWS) - rng.standard_gamma(terms, DRAWS))
    return total


# Each at the edge of what its formula assumes: ‖α‖² = 2m/q^i, |l_k| = 2m/q^i in the noise term.
CORRECTED = {
    "rewards dominate, central": ("central", situation([2**0.5 / 400], [400], scale=0.01)),
    "noise dominates, central": ("central", situation([2 / 400] * 30, [1] * 30, power=400.0, scale=50.0)),
    "noise dominates, reports": ("reports", situation([2**0.5 / 400], [400], scale=20.0)),
    "rewards in [0, 1]": ("central", situation([2**0.5 / 400], [400], scale=0.01, spread=1.0)),
}


@pytest.mark.parametrize("name", CORRECTED)
def test_estimates_leave_the_corrected_width_no_more_often_than_stated(name):
    model, at = CORRECTED[name]
    stated = 4 * math.exp(-math.log(4 * 2 * at.horizon**2))  # two sides, rewards and noise: 1/(|A_i|T²)
    margin = 5 * math.sqrt(stated / DRAWS)
    error, width = np.abs(errors(model, at, np.random.default_rng(11))), widths(model, "corrected", at)[0, 0]
    assert (error > width).mean() <= stated + margin
    assert (error > width / 2).mean() > stated + margin  # the twin


TIGHT = {
    "central, rewards": ("central", situation([0.01, -0.02], [50, 30], scale=0.5)),
    "central, noise": ("central", situation([0.01, -0.02], [5, 3], scale=20.0, horizon=100)),
    "reports, few": ("reports", situation([0.1, -0.2], [3, 2], scale=4.0)),
    "reports, many": ("reports", situation([0.01, -0.02], [500, 300], scale=2.0)),
    "reports, rewards in [0, 1]": ("reports", situation([0.01, -0.02], [500, 300], scale=0.2, spread=1.0)),
    "nonprivate": ("nonprivate", situation([0.01, -0.02], [500, 300], scale=0.0)),
}


@pytest.mark.parametrize("name", TIGHT)
def test_estimates_leave_the_tight_width_no_more_often_than_stated(name):
    """One side: 1/(|A_i|·N_max·T), which is 1/20 or 1/200 here."""
    model, at = TIGHT[name]
    stated = 1 / (2 * at.batches_at_most * at.horizon)
    margin = 5 * math.sqrt(stated / DRAWS)
    error, width = errors(model, at, np.random.default_rng(12)), widths(model, "tight", at)[0, 0]
    assert (error > width).mean() <= stated + margin
    assert (-error > width).mean() <= stated + margin
    assert (error > width / 2).mean() > stated + margin  # the twin


# --- tight: the best λ, and never wider than corrected ---


def brute_force(model, at):
    """min over λ of [λ²v/2 − Σ m_k log(1−λ²l_k²σ²) + L]/λ, on a grid and then by golden section."""
    levers, sigma = at.coefficients[0, :, 0], float(at.scale[0])
    terms = np.ones(len(levers)) if model == "central" else at.counts[0]
    level = math.log(at.active.sum() * at.batches_at_most * at.horizon)
    variance, edge = at.norms[0, 0] * (at.spread / 2) ** 2, 1 / (np.abs(levers).max() * sigma)

    def bound(log_lam):
        lam = math.exp(log_lam)
        if lam >= edge:
            return math.inf
        return (lam**2 * variance / 2 - (terms * np.log1p(-((lam * levers * sigma) ** 2))).sum() + level) / lam

    grid = math.log(edge) + np.concatenate([np.linspace(-40, -1e-3, 4000), np.log1p(-np.logspace(-12, -3, 200))])
    near = grid[np.argmin([bound(x) for x in grid])]
    return minimize_scalar(bound, bracket=(near - 0.02, near), options={"xtol": 1e-10}).fun


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    model=st.sampled_from(["central", "reports"]),
    logs=st.lists(st.tuples(st.floats(-5, 0), st.floats(0, 6)), min_size=1, max_size=5),
    scale=st.floats(-2, 3),
    horizon=st.floats(0.5, 12),
)
def test_the_tight_width_is_the_least_that_its_chernoff_bound_allows(model, logs, scale, horizon):
    at = situation([10**x for x, _ in logs], [int(10**n) for _, n in logs], horizon=int(10**horizon), batches=7, scale=10**scale)
    reached, least = widths(model, "tight", at)[0, 0], brute_force(model, at)
    assert least * (1 - 1e-7) <= reached <= least * (1 + 1e-6)


def plans(step, calibration, seed):
    """Plans of random instances as the loop meets them, batch by batch, with some actions already gone."""
    rng = np.random.default_rng(seed)
    actions = random_instance(rng, 8, 3)[0]
    loop = Elimination(Setting(actions, 10**6, calibration), step)
    for batch in range(1, loop.limit + 1):
        loop.batch = batch
        active = rng.random((6, 8)) < 0.6
        active[:, 0] = True
        yield active, make_plan(loop.setting, step, batch, loop.limit, active, actions).width


@pytest.mark.parametrize(
    "step", [NonPrivate(), Central(Fraction(1, 5)), Central(Fraction(10)), Local(Fraction(1)), Local(Fraction(9))]
)
def test_tight_is_never_wider_than_corrected(step):
    """(K₁+K₂+L)/λ at the smaller of the two best λ is at most the sum of both bounds: the joint bound beats the sum of two."""
    for seed in range(20):
        for (active, tight), (_, corrected) in zip(plans(step, "tight", seed), plans(step, "corrected", seed), strict=True):
            wide = np.broadcast_to(corrected, tight.shape)
            assert (tight[active] <= wide[active] * (1 + 1e-9)).all()


def test_widths_that_nobody_asks_for_are_infinite_and_the_others_do_not_change():
    at = situation([0.01, -0.02], [50, 30], active=4)
    every = widths("central", "tight", at)
    part = widths("central", "tight", replace(at, wanted=np.array([[True, False, False, True]])))
    assert part.tolist() == [[every[0, 0], math.inf, math.inf, every[0, 3]]]
