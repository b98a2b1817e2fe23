"""The registered algorithms that are marked for it, in each calibration: run, account, attack, one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.channel import simulate
from dpaudit.claims import show
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import demo_model, demo_rows, make_algorithm
from dpaudit.verdict.audit import audit

EPSILON, HORIZON, INSTANCES = "1", 10**6, 1000


def demo(
    *, seed: int = 1, horizon: int = HORIZON, instances: int = INSTANCES, make: Callable[..., Subject] = make_algorithm,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:  # fmt: skip
    """A row for each of ``demo_rows``, at the algorithm's own δ; every number is computed here by what ``audit`` uses."""
    rows = []
    for model, calibration in sorted(demo_rows(), key=_place):
        progress(f"{model}, {calibration}")
        rows.append(_row(model, calibration, seed, horizon, instances, make))
    return {
        "schema": "dpaudit.demo/1",
        "horizon": horizon,
        "instances": instances,
        "seed": seed,
        "rows": rows,
    }


def _place(row: tuple[str, str]) -> tuple[str, bool]:
    """Rows of one model stand side by side, the paper's algorithm first."""
    model = demo_model(row[0])
    return model, row[0] != model


def _row(model: str, calibration: str, seed: int, horizon: int, instances: int, make: Callable[..., Subject]) -> dict[str, Any]:
    subject = make(model, {"epsilon": EPSILON, "horizon": horizon, "calibration": calibration})
    verdict = audit(subject, seed=seed)
    return {
        "model": demo_model(model), "calibration": calibration, "claim": verdict.claim.to_dict(),
        "upper": None if verdict.upper is None else show(verdict.upper.epsilon),
        "lower": verdict.lower.epsilon, "verdict": str(verdict.verdict), "regret": mean_regret(subject, instances, seed),
        "observer": verdict.claim.observer, "why": verdict.reason,
    }  # fmt: skip


def mean_regret(subject: Subject, instances: int, seed: int) -> float:
    """Mean over random instances, simulated behind the door."""
    if subject.evaluate is None:
        raise TypeError(f"{subject.name} has no environment to play")
    with simulate(seed, trials=instances) as channel:
        result = subject.evaluate(channel, np.random.default_rng([seed, 6]))
    return round(float(result["regret"]), 1)
