"""How long an audit of each model takes, and the demo."""

from __future__ import annotations

import time

from benchmarks.figures import Figure, Figures


def audits() -> Figures:
    import dpaudit as dp
    from dpaudit.demo import demo
    from dpaudit.targets import make_algorithm

    for model in ("central", "local", "shuffled"):
        for calibration in ("printed", "tight"):
            delta = "1e-6" if model == "shuffled" else "0"
            subject = make_algorithm(model, {"epsilon": "1", "delta": delta, "horizon": 10**6, "calibration": calibration})
            wall, cpu = time.perf_counter(), time.process_time()
            verdict = dp.audit(subject, seed=1)
            spent = f"{time.perf_counter() - wall:.1f} s ({time.process_time() - cpu:.1f} s CPU), {verdict.verdict}"
            yield Figure(f"audit {model} {calibration}, T=10^6", "", spent)
    wall, cpu = time.perf_counter(), time.process_time()
    demo()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    yield Figure("demo, nine rows", "< 60 s", f"{wall:.1f} s ({cpu:.1f} s CPU)", wall < 60)
