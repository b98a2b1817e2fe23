"""Simulated runs per second through the door, and draws of noise.

Runs: two processes, each with its own subject whose plans are shared by its chunks of 20,000 trials (2,000 for random instances).
"runs/s" is by the clock over both; "per core" by the processes' own CPU time, which other programs on the machine do not disturb.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Figures

CORES = 2
SECONDS = 4.0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Case:
    model: str
    calibration: str
    horizon: int
    data: str  # "instance": one random one for all trials; "audit": constant but for one round; "random": one for each trial
    asked: int | None


CASES = (
    Case("central", "tight", 10**6, "instance", 200_000),
    Case("central", "printed", 10**6, "instance", 200_000),
    Case("central", "tight", 10**6, "audit", 200_000),
    Case("central", "tight", 10**9, "instance", 100_000),
    Case("central", "printed", 10**9, "instance", 100_000),
    Case("central", "tight", 10**6, "random", 10_000),
    Case("local", "tight", 10**6, "instance", None),
    Case("local", "tight", 10**9, "instance", None),
    Case("local", "tight", 10**6, "random", None),
    Case("shuffled", "tight", 10**6, "instance", None),
    Case("shuffled", "tight", 10**9, "instance", None),
    Case("shuffled", "tight", 10**6, "random", None),
)


def throughput() -> Figures:
    for case in CASES:
        yield _runs(case)
    yield from _noise()


def _runs(case: Case) -> Figure:
    for name in THREADS:  # one thread for each process; read when numpy is imported there
        os.environ[name] = "1"
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(CORES)
    with spawn.Pool(CORES, initializer=_arm, initargs=(barrier,)) as pool:
        done = pool.map(_work, [(case, seed) for seed in range(CORES)], chunksize=1)
    rate = sum(runs / wall for runs, wall, _ in done)
    core = sum(runs for runs, _, _ in done) / sum(cpu for _, _, cpu in done)
    name = f"{case.model} {case.calibration}, T=10^{len(str(case.horizon)) - 1}, {case.data}: runs/s on {CORES} cores"
    asked = "" if case.asked is None else f"≥ {case.asked:,}"
    return Figure(name, asked, f"{rate:,.0f} ({core:,.0f} per core)", None if case.asked is None else rate >= case.asked)


_barrier: Any = None


def _arm(barrier: Any) -> None:
    global _barrier
    _barrier = barrier


def _work(task: tuple[Case, int]) -> tuple[int, float, float]:
    """(runs, seconds by the clock, CPU seconds) of one process, after one chunk to warm up."""
    case, seed = task
    chunk = _chunk(case)
    chunk(seed)
    _barrier.wait()
    wall, cpu, runs = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - wall < SECONDS:
        seed += CORES
        runs += chunk(seed)
    return runs, time.perf_counter() - wall, time.process_time() - cpu


def _chunk(case: Case) -> Any:
    import dpaudit as dp
    from algorithms.rewards import ConstantExceptOne, Stochastic
    from dpaudit.targets import make_algorithm

    delta = "1e-6" if case.model == "shuffled" else "0"
    options = {"epsilon": "1", "delta": delta, "horizon": case.horizon, "calibration": case.calibration}
    subject = make_algorithm(case.model, options)
    means = _means()
    trials = 2_000 if case.data == "random" else 20_000

    def play(seed: int) -> int:
        rng = np.random.default_rng([seed, 3])
        with dp.simulate(seed, trials=trials) as channel:
            if case.data == "random":
                assert subject.evaluate is not None
                subject.evaluate(channel, rng)
            elif case.data == "audit":
                subject.run(ConstantExceptOne(1.0, case.horizon // 2, -1.0), channel)
            else:
                subject.run(Stochastic(means, rng), channel)
        return trials

    return play


def _means() -> np.ndarray:
    """Mean rewards of the registered instance (K=10, d=2) for one θ."""
    from algorithms.registry import action_array

    theta = np.random.default_rng(0).normal(size=2)
    means: np.ndarray = action_array((10, 2), 10)[0] @ (theta / np.linalg.norm(theta))
    return means


def _noise() -> Figures:
    import dpaudit as dp
    from dpaudit.noise import SecureSource

    units, rng = np.zeros(1_000_000, np.int64), np.random.default_rng(1)
    kinds = {"Laplace(2)": dp.Laplace(2), "Gaussian(2)": dp.Gaussian(2)}
    for name, noise in kinds.items():
        yield Figure(
            f"{name}: simulated draws/s, one core", "", f"{_rate(len(units), lambda n=noise: n.simulate(units, rng)):,.0f}"
        )
        few = units[:5_000]
        source = SecureSource()
        yield Figure(
            f"{name}: exact live draws/s, one core", "", f"{_rate(len(few), lambda n=noise, s=source: n.draw(few, s)):,.0f}"
        )
    counts = np.full(len(units), 1000)
    laplace = kinds["Laplace(2)"]
    rate = _rate(len(units), lambda: laplace.simulate_sums(units, counts, rng))
    yield Figure("Laplace(2): simulated sums of 1000 reports/s, one core", "", f"{rate:,.0f}")


def _rate(size: int, draw: Any) -> float:
    draw()
    started, done = time.process_time(), 0
    while time.process_time() - started < 1.0:
        draw()
        done += size
    return done / (time.process_time() - started)
