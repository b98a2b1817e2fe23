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


def report_costs() -> Figures:
    for kind in ("randomised response", "Laplace", "unary"):
        for to in ("server", "shuffled"):
            yield _cost(kind, to)


def _cost(kind: str, to: str) -> Figure:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        command = [sys.executable, "-c", _BATCH, str(Path(folder) / "a.ledger"), kind, to, str(REPORTS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu, size, peak = json.loads(done.stdout)
    told = f"{1e6 * cpu / REPORTS:.2f} µs of CPU and {size / REPORTS:.1f} bytes of ledger a report, at most {peak} MB"
    return Figure(f"{REPORTS:.0e} reports in one batch, {kind} to {to}", f"< {MOST} MB", told, peak < MOST)
