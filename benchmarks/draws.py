"""Exact discrete-Laplace draws beside OpenDP's, in one run, and whether the time of a draw tells what was drawn."""

from __future__ import annotations

import time

import numpy as np
from scipy.stats import spearmanr

from benchmarks.figures import Figure, Figures
from dpaudit.noise import Laplace, SecureSource


def draws() -> Figures:
    source, noise = SecureSource(), Laplace(2)
    noise.draw(np.zeros(1000, np.int64), source)
    ours = _rate(lambda: noise.draw(np.zeros(10**6, np.int64), source), 10**6)
    yield Figure("exact discrete Laplace, scale 2, grid 2^-20", "≥ 2,000,000/s", f"{ours:,.0f}/s", ours >= 2e6)
    theirs = _opendp_rate()
    yield Figure(
        "the same against OpenDP's vectorised Laplace",
        "≥ 100 ×",
        f"{ours / theirs:,.0f} × ({theirs:,.0f}/s)",
        ours >= 100 * theirs,
    )
    rank = _time_against_draw(noise, source)
    yield Figure("|Spearman(time, |draw|)| over 10^4 single draws", "< 0.05", f"{abs(rank):.3f}", abs(rank) < 0.05)


def _rate(call: object, count: int) -> float:
    started = time.perf_counter()
    call()  # type: ignore[operator]
    return count / (time.perf_counter() - started)


def _opendp_rate() -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    mechanism = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=2.0)
    values = [0.0] * 20_000
    return _rate(lambda: mechanism(values), len(values))


def _time_against_draw(noise: Laplace, source: SecureSource) -> float:
    times, sizes = [], []
    zero = np.zeros(1, np.int64)
    for _ in range(10**4):
        started = time.perf_counter_ns()
        drawn = noise.draw(zero, source)
        times.append(time.perf_counter_ns() - started)
        sizes.append(abs(int(drawn[0])))
    return float(spearmanr(times, sizes).statistic)
