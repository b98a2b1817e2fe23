"""What sealing costs: deployments of the paper's algorithms on sealed and on plain rewards, side by side in one run.

Both go through a live door into a ledger in memory, without a budget (plain sums are charged for their rounding, which one budget
would refuse and the other not). The least CPU time of several runs in turn is compared, so that a busy machine adds little.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.figures import Figure, Figures

REPEATS = 7
ASKED = 2.0


def sealing() -> Figures:
    for model in ("central", "local", "shuffled"):
        for horizon in (10**4, 10**5, 10**6):
            yield _deployment(model, horizon)
    records, table = np.random.default_rng(1).uniform(-1, 1, 10**6), np.random.default_rng(2).uniform(0, 1, (10**5, 10))
    yield _query("clip, square and sum of 10^6 records", records, -1.0, lambda x: (x.clip(-0.5, 0.5) ** 2).sum())
    yield _query("means of 10 columns of 10^5 records", table, 0.0, lambda x: x.mean(axis=0))


def _deployment(model: str, horizon: int) -> Figure:
    import dpaudit as dp
    from algorithms.rewards import SealedRewards, Sequence
    from dpaudit.ledger import MemoryLedger
    from dpaudit.subjects.targets import make_algorithm

    delta = "1e-6" if model == "shuffled" else "0"
    subject = make_algorithm(model, {"epsilon": "1", "delta": delta, "horizon": horizon, "calibration": "tight"})
    rewards = Sequence(np.random.default_rng(1).choice([-1.0, 1.0], horizon, p=[0.4, 0.6]))
    lost: list[str] = []

    def run(sealed: bool) -> None:
        ledger = MemoryLedger(kind="deployment")
        with dp.live(ledger) as channel:
            subject.run(SealedRewards(rewards) if sealed else rewards, channel)
        lost.extend(release.name for release in ledger.releases() if sealed and release.derived is None)

    ratio, seconds = _ratio(run)
    told = f"{ratio:.2f} × ({1000 * seconds:.0f} ms)" + (f", {len(lost)} releases not traced" if lost else "")
    return Figure(
        f"{model}, T=10^{len(str(horizon)) - 1}: sealed against plain", f"≤ {ASKED:g} ×", told, ratio <= ASKED and not lost
    )


def _query(name: str, data: np.ndarray, low: float, query: Callable[[Any], Any]) -> Figure:
    import dpaudit as dp

    sealed = dp.seal(data, low, 1.0)
    ratio, seconds = _ratio(lambda seal: query(sealed if seal else data))
    return Figure(f"{name}: sealed against plain", "", f"{ratio:.2f} × ({1000 * seconds:.1f} ms)")


def _ratio(run: Callable[[bool], Any]) -> tuple[float, float]:
    """Least CPU time sealed over least CPU time plain, and the latter."""
    run(True)
    run(False)  # warm: designs and tables are made once
    times: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(REPEATS):
        for sealed in (True, False):
            started = time.process_time()
            run(sealed)
            times[sealed].append(time.process_time() - started)
    return min(times[True]) / min(times[False]), min(times[False])
