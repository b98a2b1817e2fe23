"""The shuffled batch in which two data sets differ, and how likely it is to come about just so."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import betaincinv

from dpaudit.auditors.events.report_counts import ReportBatch
from dpaudit.channel import Channel, Event, simulate
from dpaudit.subjects.subject import Subject, fresh

PATHS, SINGLE_PATHS = 400, 40  # runs from which a probability is estimated: together, or one by one
MOST_REPORTS = 2 * 10**7  # in those that run together
DOUBT = 1e-8  # error of that estimate, far below the 10^-6 of a refutation


@dataclass(frozen=True)
class Difference:
    """Batch number ``place`` of those that are shuffled. ``certain``: nothing random comes before it."""

    place: int
    name: str
    batch: ReportBatch
    certain: bool


def differing_batch(subject: Subject, data: Any, other: Any, seed: int) -> Difference | None:
    """The batch in which one client's value differs and all others hold one value; None if there is none such."""
    runs = [_run(subject, side, seed) for side in (data, other)]
    shuffled = [[event for event in run.events if event.to == "shuffled"] for run in runs]
    for place, (event, mirror) in enumerate(zip(*shuffled, strict=False)):
        if event.veiled or mirror.veiled:
            return None  # who reports, or what, may hang on secret randomness: both runs drew the same, which says nothing
        if event.query.size != mirror.query.size or event.noise != mirror.noise:
            continue
        here, there = _held(event), _held(mirror)
        alone, instead, crowd = list((here - there).elements()), list((there - here).elements()), here & there
        if len(alone) == len(instead) == 1 and len(crowd) <= 1:
            batch = ReportBatch(event.noise, event.query.size, next(iter(crowd), alone[0]), alone[0], instead[0])
            certain = runs[0].events[0] is event and not any(run.used_rng for run in runs)
            return Difference(place, event.name, batch, certain)
    return None


def likely_batch(subject: Subject, data: Any, other: Any, difference: Difference, seed: int) -> Fraction:
    """A lower bound on the probability that the batch has this noise and this many reports, the client's among them.

    Clopper–Pearson from runs on the data set in which the client stands out.
    """
    if difference.certain:
        return Fraction(1)
    batch = difference.batch
    side, value = (data, batch.first) if batch.first != batch.crowd else (other, batch.second)
    total = batch.n * batch.crowd + value - batch.crowd
    if subject.vectorised:
        good, runs = _together(subject, side, difference, total, seed)
    else:
        each = [_run(subject, side, seed + 17 + k).events for k in range(SINGLE_PATHS)]
        batches = [[event for event in events if event.to == "shuffled"][difference.place :][:1] for events in each]
        good, runs = sum(bool(_like(single[0], difference, total).all()) for single in batches if single), len(each)
    return Fraction(float(betaincinv(good, runs - good + 1, DOUBT))) if good else Fraction(0)


def _run(subject: Subject, data: Any, seed: int, trials: int | None = None) -> Channel:
    with simulate(seed, trials=trials, every_report=trials is None) as channel:
        subject.run(fresh(data), channel)
    return channel


def _held(event: Event) -> Counter[int]:
    values, counts = np.unique(event.query, return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def _together(subject: Subject, side: Any, difference: Difference, total: int, seed: int) -> tuple[int, int]:
    """In how many trials the batch came about so, out of how many. Every report is drawn only where the subject asks for them."""
    drawn = any(event.kind == "reports" for event in _run(subject, side, seed + 17, 2).events)
    trials = max(2, min(PATHS, MOST_REPORTS // difference.batch.n)) if drawn else PATHS
    events = [event for event in _run(subject, side, seed + 18, trials).events if event.to == "shuffled"]
    names = list(dict.fromkeys(event.name for event in events))
    mine = [event for event in events if difference.place < len(names) and event.name == names[difference.place]]
    return sum(int(_like(event, difference, total).sum()) for event in mine), trials


def _like(event: Event, difference: Difference, total: int) -> np.ndarray:
    """For each run of this event: the same noise, as many reports, and the sum that they have with the client among them."""
    batch = difference.batch
    query = event.query.reshape(-1, event.query.shape[-1])
    counts = (
        np.full(len(query), query.shape[-1]) if event.counts is None else np.broadcast_to(event.counts, query.shape).sum(axis=-1)
    )
    same = np.abs(_width(event.noise) / _width(batch.noise) - 1) < 1e-12
    matches: np.ndarray = np.broadcast_to(same, counts.shape) & (counts == batch.n) & (query.sum(axis=-1) == total)
    return matches


def _width(noise: Any) -> np.ndarray:
    return np.asarray(noise.size, dtype=float)
