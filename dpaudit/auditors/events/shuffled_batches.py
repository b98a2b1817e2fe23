"""Shuffled batches: events about the extreme report, and about how many reports pass a threshold, with exact probabilities."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpaudit.auditors.events.batch_paths import DOUBT, differing_batch, likely_batch
from dpaudit.auditors.events.report_counts import ReportBatch, count_event
from dpaudit.auditors.events.tails import decimal
from dpaudit.auditors.events.transcript_witness import Witness
from dpaudit.auditors.wording import describe
from dpaudit.claims import Claim, exact
from dpaudit.noise import from_units
from dpaudit.noise.extreme_report import ExtremeAttack, extreme_report_attack
from dpaudit.subjects.subject import Subject

BatchEvent = tuple[Fraction, str, dict[str, Any]]  # ε, how it was found, and what a witness tells


def shuffled_event(subject: Subject, claim: Claim, data: Any, other: Any, seed: int) -> Witness | None:
    """All clients but one hold the same value: the best event about the extreme report, or about how many pass a threshold.

    What came before the batch has the same law under both data sets. So with E = "the batch has this noise and n reports, that
    client's among them", the event "E and S" shows ε ≥ log((p − δ/P(E))/p'), where p and p' are the probabilities of S given E.
    P(E) is 1 where nothing comes before the batch; else it is bounded below from runs.
    """
    difference = differing_batch(subject, data, other, seed)
    likely = None if difference is None else likely_batch(subject, data, other, difference, seed)
    if difference is None or not likely:
        return None
    delta = claim.delta / likely
    if delta >= 1:
        return None
    batch = difference.batch
    events = [one for one in (_extreme(batch, delta), _counted(batch, delta)) if one is not None]
    if not events:
        return None
    epsilon, method, details = max(events, key=lambda one: one[0])
    facts = {
        "kind": "event", "observer": claim.observer, "data": describe(data), "neighbour": describe(other),
        "batch": difference.name, "n": batch.n, "noise": {"mechanism": batch.noise.name, **batch.noise.parameters()}, **details,
        "batch_probability": float(likely), "confidence": 1.0 if likely == 1 else 1 - DOUBT, "seed": seed,
    }  # fmt: skip
    return Witness(epsilon, method, facts)


def _extreme(batch: ReportBatch, delta: Fraction) -> BatchEvent | None:
    """The smallest or largest of Laplace reports, in closed form; the client's value is the crowd's in one of the data sets."""
    if batch.noise.rate is None or batch.crowd not in (batch.first, batch.second):
        return None
    spread = abs(batch.first - batch.second) * batch.noise.grid
    attack = extreme_report_attack(batch.noise.grid / batch.noise.rate, spread, batch.n, delta, batch.noise.grid)
    if attack.epsilon <= 0:
        return None
    apart = batch.second == batch.crowd  # the client stands out in the data, not in the neighbour
    favours = "data" if apart == attack.event.endswith("low)") else "neighbour"
    details = {"event": _extreme_text(batch, attack), "favours": favours}
    details |= {"probability": decimal(exact(attack.p)), "neighbour_probability": decimal(exact(attack.q))}
    return attack.epsilon, "extreme-report event in closed form", details


def _extreme_text(batch: ReportBatch, attack: ExtremeAttack) -> str:
    """The attack is about a client below the crowd; for one above it everything is mirrored."""
    below = min(batch.first, batch.second) < batch.crowd
    mirrored = {
        "the smallest report is at or below": "the largest report is at or above",
        "the smallest report is above": "the largest report is below",
        "the largest report is at or below": "the smallest report is at or above",
        "the largest report is above": "the smallest report is below",
    }
    event = next(text for text in mirrored if attack.event.startswith(text + " the others"))
    value = float(from_units(batch.crowd + (attack.threshold if below else -attack.threshold), batch.noise.grid))
    return f"{event if below else mirrored[event]} {value:.9g}"


def _counted(batch: ReportBatch, delta: Fraction) -> BatchEvent | None:
    event = count_event(batch, delta)
    if event is None:
        return None
    details = {"event": event.text(batch), "favours": "data" if event.favours_first else "neighbour"}
    details |= {"probability": decimal(event.p), "neighbour_probability": decimal(event.p_other)}
    return event.epsilon, "count of reports beyond a threshold, exact", details
