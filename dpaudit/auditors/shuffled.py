"""Shuffled batches: the event on the extreme report, in closed form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpaudit.auditors.described import describe
from dpaudit.auditors.witness import Witness
from dpaudit.channel import Event, simulate
from dpaudit.claims import Claim
from dpaudit.noise.extreme import extreme_report_attack
from dpaudit.subject import Subject

PATHS = 400  # runs that show which batch the differing client is in, and how large it is
DOUBT = 1e-8  # error of that estimate, far below the 10^-6 of a refutation


def shuffled_event(subject: Subject, claim: Claim, data: Any, other: Any, seed: int) -> Witness | None:
    """All other clients hold one value, one holds another: "the smallest (largest) report is beyond τ" has exact probabilities.

    What came before the batch has the same law under both data sets, so with E = "the batch has at most n reports, and this
    scale" the event "E and the extreme report is beyond τ" shows ε ≥ log((p − δ/P(E))/p'). P(E) is bounded below from runs.
    """
    batch = _differing_batch(subject, data, other, seed)
    if batch is None:
        return None
    place, event, mine, theirs = batch
    noise = event.noise
    if noise.name != "laplace":  # the closed form is that of Laplace reports
        return None
    runs = _batch_sizes(subject, data, place, noise, seed)
    good = sum(same for _, same in runs)
    if not good:
        return None
    n = max(size for size, same in runs if same)
    likely = float(betaincinv(good, len(runs) - good + 1, DOUBT))
    effective = claim.delta / Fraction(likely).limit_denominator(10**9) if claim.delta else Fraction(0)
    if effective >= 1:
        return None
    spread = Fraction(abs(mine - theirs)) * noise.grid
    scale = Fraction(noise.parameters()["scale"])
    found_attack = extreme_report_attack(scale, spread, n, effective, noise.grid)
    if found_attack.epsilon <= 0:
        return None
    facts = {
        "kind": "event", "observer": "shuffled", "data": describe(data), "neighbour": describe(other), "batch": event.name,
        "n": n, "scale": noise.parameters()["scale"], "event": found_attack.event,
        "probability": found_attack.p, "neighbour_probability": found_attack.q,
        "batch_probability": round(likely, 6), "confidence": 1 - DOUBT,
    }  # fmt: skip
    return Witness(found_attack.epsilon, "extreme-report event in closed form", facts)


def _differing_batch(subject: Subject, data: Any, other: Any, seed: int) -> tuple[int, Event, int, int] | None:
    """The shuffled batch in which the two data sets differ, if all other clients hold the higher or lower value."""
    events = []
    for values in (data, other):
        with simulate(seed, every_report=True) as channel:
            subject.run(values, channel)
        events.append([e for e in channel.events if e.to == "shuffled"])
    for place, (event, mirror) in enumerate(zip(*events, strict=False)):
        values, counts = np.unique(np.concatenate([event.query.ravel(), mirror.query.ravel()]), return_counts=True)
        if len(values) != 2 or event.query.size != mirror.query.size:
            continue
        crowd = int(values[counts.argmax()])
        odd = [int((e.query != crowd).sum()) for e in (event, mirror)]
        if sorted(odd) == [0, 1]:
            exception = int(values[counts.argmin()])
            return place, event, exception, crowd
    return None


def _batch_sizes(subject: Subject, data: Any, place: int, noise: Any, seed: int) -> list[tuple[int, bool]]:
    """For runs on other noise: the size of that batch, and whether it exists with this scale or less noise."""
    sizes: list[tuple[int, bool]] = []
    if subject.vectorised:
        with simulate(seed + 17, trials=PATHS) as channel:
            subject.run(data, channel)
        return _sizes_of_trials(channel.events, noise, place)
    for k in range(40):
        with simulate(seed + 17 + k, every_report=True) as channel:
            subject.run(data, channel)
        batches = [e for e in channel.events if e.to == "shuffled"]
        same = len(batches) > place and batches[place].noise == noise
        sizes.append((batches[place].query.shape[-1] if same else 0, same))
    return sizes


def _sizes_of_trials(events: Any, noise: Any, place: int) -> list[tuple[int, bool]]:
    names = list(dict.fromkeys(e.name for e in events if e.to == "shuffled"))
    name = names[place] if place < len(names) else None
    sizes: dict[int, tuple[int, bool]] = dict.fromkeys(range(PATHS), (0, False))
    wanted = float(Fraction(noise.parameters()["scale"]))
    for event in events:
        if event.name != name or event.counts is None:
            continue
        index = np.arange(PATHS) if event.index is None else event.index
        totals = np.broadcast_to(event.counts, event.query.shape).sum(axis=-1)
        scale = getattr(event.noise, "scale", None)
        scales = np.broadcast_to(np.asarray(scale, dtype=float), totals.shape)
        for trial, total, one in zip(index, totals, scales, strict=True):
            sizes[int(trial)] = (int(total), bool(one <= wanted * (1 + 1e-9)))
    return list(sizes.values())
