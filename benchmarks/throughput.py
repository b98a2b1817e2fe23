"""Simulated runs per second through the door, and draws of noise.

Runs: two processes, each with its own subject whose plans are shared by its chunks of 20,000 trials (2,000 for random instances).
"runs/s" is by the clock over both; "per core" by the processes' own CPU time. On a busy machine, where the processes did not get
their cores for 90 % of the time, the clock says nothing about dpaudit, and twice the figure per core is held to what was asked.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
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
    busy = sum(cpu for _, _, cpu in done) < 0.9 * sum(wall for _, wall, _ in done)  # the cores were not ours alone
    counted = CORES * core if busy else rate
    name = f"{case.model} {case.calibration}, T=10^{len(str(case.horizon)) - 1}, {case.data}: runs/s on {CORES} cores"
    asked = "" if case.asked is None else f"≥ {case.asked:,}"
    reached = f"{rate:,.0f} ({core:,.0f} per core{', busy' if busy else ''})"
    return Figure(name, asked, reached, None if case.asked is None else counted >= case.asked)


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
    from dpaudit.subjects.targets import make_algorithm

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
    from algorithms.elimination.bandit_subject import action_array

    theta = np.random.default_rng(0).normal(size=2)
    means: np.ndarray = action_array((10, 2), 10)[0] @ (theta / np.linalg.norm(theta))
    return means


def _noise() -> Figures:
    import dpaudit as dp
    from dpaudit.noise import SecureSource

    units, rng, source = np.zeros(1_000_000, np.int64), np.random.default_rng(1), SecureSource()
    few, counts = units[:5_000], np.full(len(units), 1000)
    laplace, gaussian = dp.Laplace(2), dp.Gaussian(2)
    draws = {
        "Laplace(2): simulated draws/s": lambda: laplace.simulate(units, rng),
        "Laplace(2): simulated sums of 1000 reports/s": lambda: laplace.simulate_sums(units, counts, rng),
        "Laplace(2): exact live draws/s": lambda: laplace.draw(few, source),
        "Gaussian(2): simulated draws/s": lambda: gaussian.simulate(units, rng),
        "Gaussian(2): exact live draws/s": lambda: gaussian.draw(few, source),
    }
    for name, draw in draws.items():
        yield Figure(f"{name}, one core", "", f"{_rate(draw):,.0f}")


def _rate(draw: Callable[[], np.ndarray]) -> float:
    draw()
    started, done = time.process_time(), 0
    while time.process_time() - started < 1.0:
        done += len(draw())
    return done / (time.process_time() - started)
