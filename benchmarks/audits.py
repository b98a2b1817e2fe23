"""How long an audit of each model takes, and the demo."""

from __future__ import annotations

import time

from benchmarks.figures import Figure, Figures
from benchmarks.numpy_subjects import numpy_subjects


def audits() -> Figures:
    import dpaudit as dp
    from dpaudit.subjects.targets import make_algorithm
    from dpaudit.verdict.demo import demo

    for model in ("central", "local", "shuffled"):
        for calibration in ("printed", "tight"):
            delta = "1e-6" if model == "shuffled" else "0"
            subject = make_algorithm(model, {"epsilon": "1", "delta": delta, "horizon": 10**6, "calibration": calibration})
            wall, cpu = time.perf_counter(), time.process_time()
            verdict = dp.audit(subject, seed=1)
            spent = f"{time.perf_counter() - wall:.1f} s ({time.process_time() - cpu:.1f} s CPU), {verdict.verdict}"
            yield Figure(f"audit {model} {calibration}, T=10^6", "", spent)
    yield from attacks()
    yield from numpy_subjects()
    wall, cpu = time.perf_counter(), time.process_time()
    demo()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    yield Figure("demo, nine rows", "< 60 s", f"{wall:.1f} s ({cpu:.1f} s CPU)", wall < 60)


def attacks() -> Figures:
    """What the paper's algorithms show to their observers, as printed, and what they do not, corrected."""
    import dpaudit as dp
    from dpaudit.subjects.targets import make_algorithm

    cases = [
        ("central", "actions", "0", (2, 1), "A={±1}", 1.9),
        ("central", "actions", "0", (10, 2), "K=10, d=2", None),
        ("shuffled", "shuffled", "1e-6", (10, 2), "n≈297,170", 3.5),
    ]
    for model, observer, delta, actions, name, least in cases:
        for calibration in ("printed", "corrected"):
            wanted = {"epsilon": "1", "delta": delta, "horizon": 10**6, "actions": actions, "calibration": calibration}
            verdict = dp.audit(make_algorithm(model, wanted), observer=observer, seed=1)
            flagged = verdict.verdict == "refuted"
            asked, met = ("not flagged, < 10 s", not flagged) if calibration == "corrected" else ("", None)
            if calibration == "printed" and least is not None:
                asked, met = f"ε ≥ {least}, < 10 s", verdict.lower.epsilon >= least and flagged
            yield Figure(
                f"{model} {calibration}, T=10^6, {name}, {observer}",
                asked,
                f"ε ≥ {verdict.lower.epsilon:.4f} ({verdict.verdict}), {verdict.seconds:.1f} s",
                None if met is None else met and verdict.seconds < 10,
            )
