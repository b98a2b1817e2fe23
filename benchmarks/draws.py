"""Exact draws beside OpenDP's, CPU time, taking turns in one run, and whether the time of a draw tells what was drawn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import spearmanr

from benchmarks.figures import Figure, Figures
from dpaudit.noise import Gaussian, Laplace, SecureSource


def draws() -> Figures:
    source = SecureSource()
    noise = Laplace(2)
    many = np.zeros(10**6, np.int64)
    ours = 10**6 / _turns([lambda: noise.draw(many, source)], 1)[0]
    yield Figure("exact discrete Laplace, scale 2, grid 2^-20", "≥ 2,000,000/s", f"{ours:,.0f}/s", ours >= 2e6)
    for name, own in (("Laplace", noise), ("Gaussian", Gaussian(2))):
        for count, least, repeats in ((1, 1, 300), (10**5, 50, 1)):
            zeros = np.zeros(count, np.int64)
            peer = _opendp(name, count)
            spent, theirs = _turns([lambda own=own, zeros=zeros: own.draw(zeros, source), peer], repeats)  # type: ignore[misc]
            figure = f"{theirs / spent:,.1f} × ({spent * 1e6:,.0f} µs, theirs {theirs * 1e6:,.0f} µs)"
            words = f"{count:,} draw{'s' if count > 1 else ''} of {name} noise against OpenDP's"
            yield Figure(words, f"≥ {least} ×", figure, theirs >= least * spent)
    rank = _time_against_draw(noise, source)
    yield Figure("|Spearman(time, |draw|)| over 10^4 single draws", "< 0.05", f"{abs(rank):.3f}", abs(rank) < 0.05)


def _turns(calls: Sequence[Callable[[], object]], repeats: int) -> list[float]:
    """The median CPU seconds of each over three rounds of ``repeats`` calls, warmed up."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call()
    for _ in range(3):
        for place, call in enumerate(calls):
            started = time.process_time()
            for _ in range(repeats):
                call()
            times[place].append((time.process_time() - started) / repeats)
    return [statistics.median(each) for each in times]


def _opendp(name: str, count: int) -> Callable[[], object]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    make = dp.m.make_laplace if name == "Laplace" else dp.m.make_gaussian
    atom = dp.atom_domain(T=float, nan=False)
    if count == 1:
        one = make(atom, dp.absolute_distance(T=float), scale=2.0)
        return lambda: one(0.0)
    norm = dp.l1_distance(T=float) if name == "Laplace" else dp.l2_distance(T=float)
    mechanism, values = make(dp.vector_domain(atom), norm, scale=2.0), [0.0] * count
    return lambda: mechanism(values)


def _time_against_draw(noise: Laplace, source: SecureSource) -> float:
    times, sizes = [], []
    zero = np.zeros(1, np.int64)
    for _ in range(10**4):
        started = time.perf_counter_ns()
        drawn = noise.draw(zero, source)
        times.append(time.perf_counter_ns() - started)
        sizes.append(abs(int(drawn[0])))
    return float(spearmanr(times, sizes).statistic)
