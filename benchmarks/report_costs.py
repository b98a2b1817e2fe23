"""What one report of a client costs at the server: CPU, bytes of the ledger and memory, for batches of ten million."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Figure, Figures

REPORTS, MOST = 10**7, 500  # MB
_BATCH = """
import json, os, resource, sys, time, warnings, numpy as np, dpaudit as dp
warnings.simplefilter("ignore")
noise = {"randomised response": dp.RandomizedResponse(epsilon="1"), "unary": dp.UnaryResponse(epsilon="1", k=8)}
noise["Laplace"] = dp.Laplace(scale=1)
path, kind, to, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
values = np.random.default_rng(1).integers(0, 2, n, dtype=np.int8)
started = time.process_time()
with dp.open_ledger(path) as ledger, dp.live(ledger) as channel:
    channel.reports("r", values, noise[kind], sensitivity=1, to=to).sum()
cpu, peak = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
print(json.dumps([cpu, os.path.getsize(path), peak]))
"""
_SCHEDULED = """
import json, resource, sys, time, numpy as np, dpaudit as dp
from distributed import LocalCluster
from dpaudit.auditors.runs.scheduler import connected

def batch(elsewhere):
    started = time.process_time(), time.perf_counter()
    with dp.simulate(1, elsewhere=elsewhere, every_report=True) as channel:
        total = channel.reports("r", values, dp.Laplace(scale=1), sensitivity=1, to="shuffled").sum()
    return float(total[0]), time.process_time() - started[0], time.perf_counter() - started[1]

if __name__ == "__main__":
    values = np.random.default_rng(1).integers(0, 2, int(sys.argv[1]), dtype=np.int8)
    here = batch(None)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as local:
        with connected(local.scheduler_address) as workers:
            there = batch(workers)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    print(json.dumps([here, there, peak]))
"""


def report_costs() -> Figures:
    for kind in ("randomised response", "Laplace", "unary"):
        for to in ("server", "shuffled"):
            yield _cost(kind, to)
    yield _scheduled()


def _scheduled() -> Figure:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        script = Path(folder) / "batch.py"  # workers that are spawned import it
        script.write_text(_SCHEDULED, encoding="utf-8")
        done = subprocess.run([sys.executable, str(script), str(REPORTS)], capture_output=True, text=True, check=True)
    here, there, peak = json.loads(done.stdout)
    told = (
        f"{1e6 * there[1] / REPORTS:.2f} µs of CPU a report where they are gathered "
        f"({1e6 * here[1] / REPORTS:.2f} when all are drawn there), {there[2]:.1f} s against {here[2]:.1f} s, at most {peak} MB, "
        + ("the same sum to the bit" if here[0] == there[0] else "ANOTHER SUM")
    )
    same = here[0] == there[0] and peak < MOST
    return Figure(f"{REPORTS:.0e} shuffled reports drawn on a scheduler with 2 workers", f"same bits, < {MOST} MB", told, same)


def _cost(kind: str, to: str) -> Figure:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        command = [sys.executable, "-c", _BATCH, str(Path(folder) / "a.ledger"), kind, to, str(REPORTS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu, size, peak = json.loads(done.stdout)
    told = f"{1e6 * cpu / REPORTS:.2f} µs of CPU and {size / REPORTS:.1f} bytes of ledger a report, at most {peak} MB"
    return Figure(f"{REPORTS:.0e} reports in one batch, {kind} to {to}", f"< {MOST} MB", told, peak < MOST)
