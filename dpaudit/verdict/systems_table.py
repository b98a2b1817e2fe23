"""A paper's table of systems with measured columns: certified and attacked ε, verdict, regret against the horizon.

Which systems there are is found through entry points: those that are marked with ``in_table``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accountants import account
from dpaudit.accountants.calibration.least_noise import calibrate
from dpaudit.channel import simulate
from dpaudit.claims import DpauditError, show
from dpaudit.ledger import MemoryLedger, Release
from dpaudit.noise import MECHANISMS
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import Printed, make_algorithm, table_rows
from dpaudit.verdict.audit import audit

AUDITED_HORIZON = 3000  # an audit runs a system some thousand times; what a run at T itself costs is accounted besides
_LEAST_HORIZON, _STEP = 10**3, 10  # horizons of the regret curve: T, T/10, …
_FITTED = 3  # horizons that the slope is fitted to: the last ones


def systems_table(
    parameters: Mapping[str, Any], *, instances: int, seed: int, samples: int = 500,
    make: Callable[..., Subject] = make_algorithm, progress: Callable[[str], None] = lambda _: None,
) -> list[dict[str, Any]]:  # fmt: skip
    """A row for each system. ``parameters``: epsilon, horizon, and what else a factory takes."""
    rows = []
    for name, printed in systems(int(parameters.get("contexts") or 1)).items():
        progress(name)
        rows.append(_row(name, printed, parameters, instances, seed, samples, make))
    return rows


def systems(contexts: int = 1) -> dict[str, Printed]:
    """The systems of the table; with stochastic contexts, those that are made for them."""
    return {name: printed for name, printed in table_rows().items() if contexts == 1 or printed.contextual}


def horizons(last: int) -> list[int]:
    """T and its tenths, from 1,000 on; in order."""
    lengths = [last]
    while lengths[0] // _STEP >= _LEAST_HORIZON:
        lengths.insert(0, lengths[0] // _STEP)
    return lengths


def _row(
    name: str,
    printed: Printed,
    parameters: Mapping[str, Any],
    instances: int,
    seed: int,
    samples: int,
    make: Callable[..., Subject],
) -> dict[str, Any]:
    short = {**parameters, "horizon": min(parameters["horizon"], AUDITED_HORIZON)}
    delta = None if printed.model in ("nonprivate", "central") else parameters.get("delta")
    subject = make(name, {**short, "delta": delta})
    private = printed.model != "nonprivate"
    verdict = audit(subject, seed=seed, samples=samples) if private else None
    curve = [
        _regret(make(name, {**parameters, "delta": delta, "horizon": h}), h, instances, seed)
        for h in horizons(parameters["horizon"])
    ]
    slope, error = fitted_slope([(each["horizon"], each["mean"]) for each in curve])
    full = make(name, {**parameters, "delta": delta})
    releases = _releases(full, seed) if private else None
    upper = None if releases is None else account(releases, delta=full.claim.delta).epsilon
    word, why = (None, None) if verdict is None else (str(verdict.verdict), verdict.reason)
    if upper is not None and upper > full.claim.epsilon and word == "certified":
        word, why = (
            "unproven",
            f"certified at T={short['horizon']:,}, but a run at T={parameters['horizon']:,} costs ε ≤ {float(upper):.4g}",
        )
    return {
        "system": name, "source": printed.source, "model": printed.model,
        "claim": subject.claim.to_dict() if private else None, "observer": subject.claim.observer,
        "neighbours": getattr(subject.neighbours, "name", "pairs"),
        "certified": None if upper is None else show(upper), "shrink": _shrink(releases, full) if releases is not None else None,
        "lower": None if verdict is None else verdict.lower.epsilon,
        "lower_method": None if verdict is None else verdict.lower.method,
        "detectable": None if verdict is None or verdict.lower.confidence == 1 else verdict.detectable,
        "verdict": word, "why": why,
        "regret": curve, "slope": slope, "slope_error": error, "exponent": printed.exponent,
        "unconfirmed": printed.unconfirmed or None,
    }  # fmt: skip


def _regret(subject: Subject, horizon: int, instances: int, seed: int) -> dict[str, Any]:
    if subject.evaluate is None:
        raise DpauditError(f"{subject.name} brings no environment to run in")
    with simulate(seed, trials=instances) as channel:
        result = subject.evaluate(channel, np.random.default_rng([seed, 6]))
    return {"horizon": horizon, "mean": round(float(result["regret"]), 1), "error": round(float(result.get("error", 0.0)), 1)}


def fitted_slope(curve: Sequence[tuple[int, float]]) -> tuple[float | None, float | None]:
    """Least squares of log regret on log T over the last horizons, and its standard error; None where there are too few."""
    points = [(math.log(horizon), math.log(mean)) for horizon, mean in curve[-_FITTED:] if mean > 0]
    if len(points) < 2:
        return None, None
    x, y = (np.array(part) for part in zip(*points, strict=True))
    spread = ((x - x.mean()) ** 2).sum()
    slope = float(((x - x.mean()) * y).sum() / spread)
    if len(points) < 3:
        return round(slope, 3), None
    rest = y - y.mean() - slope * (x - x.mean())
    return round(slope, 3), round(math.sqrt(float((rest**2).sum()) / (len(points) - 2) / float(spread)), 3)


def _releases(subject: Subject, seed: int) -> MemoryLedger:
    """The ledger of one simulated run."""
    ledger = MemoryLedger(kind="simulated")
    with simulate(seed, ledger=ledger) as channel:
        assert subject.evaluate is not None
        subject.evaluate(channel, np.random.default_rng([seed, 6]))
    return ledger


def _shrink(ledger: MemoryLedger, subject: Subject) -> float | None:
    """By what factor the least noise of one run could shrink and keep the claim; 1 where it is the least already.

    None for reports to a shuffler, whose least noise depends on the batch, and for randomised response.
    """
    factors = [_factor(release, subject) for release in {_key(each): each for each in ledger.releases()}.values()]
    known = [factor for factor in factors if factor is not None]
    return round(min(known), 3) if known and len(known) == len(factors) else None


def _key(release: Release) -> tuple[str, str, str, int | None]:
    return release.mechanism, str(sorted(release.parameters.items())), release.kind, release.count


def _factor(release: Release, subject: Subject) -> float | None:
    claim, kind = subject.claim, MECHANISMS.get(release.mechanism)
    if release.kind == "shuffled" or kind is None or kind.fails or kind.stronger < 0 or not kind.entrywise:
        return None
    if not kind.pure and not claim.delta:
        return None
    sums = release.count or 1  # of a stream: one record is in so many sums
    least = calibrate(kind.name, claim.epsilon, claim.delta, sensitivity=release.sensitivity, count=sums)
    return float(Fraction(release.parameters[kind.size_name]) / least.rule.value)
