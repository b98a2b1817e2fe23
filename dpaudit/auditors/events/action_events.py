"""Events of what is played, for the observer ``actions``, with exact probabilities.

Where few single-number releases decide an entry of what is played, the outputs that lead to one value of it often form a box.
Inside the box the queries are fixed, so its probability is a product of exact interval probabilities. That it is a box is
tested, not proven: by runs with chosen outputs, at its edges and with wild numbers inside, outside and in all later releases,
and by drawn runs, which bound how probable the outputs are where it is none. What is shown allows for those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.auditors.events.box_draws import ERROR, few_or_many, is_the_box, slack
from dpaudit.auditors.events.boxes import Box, bases, known, points_inside, points_outside, rough_boxes, sharpened
from dpaudit.auditors.events.chosen_runs import FAR, Chooser, Runs
from dpaudit.auditors.events.tails import decimal, log_down
from dpaudit.auditors.events.transcript_witness import Witness
from dpaudit.auditors.wording import describe
from dpaudit.claims import Claim, show
from dpaudit.noise import Noise
from dpaudit.subjects.subject import Subject

CLOSELY = 8  # boxes that are looked at closely
PLACES = 3  # decimals to which coarse boxes are compared

Two = tuple[Chooser, Chooser]
Bounds = tuple[Fraction, Fraction]
Reading = tuple[bool, float, float]  # may it refute; about which ε; with which probability


def action_event(subject: Subject, pairs: Sequence[tuple[Any, Any]], claim: Claim, seed: int) -> tuple[int, Witness] | None:
    """The best event found, or its complement, with the place of its pair; None where none is exact."""
    rough = [(reading, place, box) for place, pair in enumerate(pairs) for reading, box in _grown(subject, pair, claim, seed)]
    best: tuple[int, Witness] | None = None
    ordered = sorted(rough, key=lambda one: one[0], reverse=True)
    telling = [one for one in ordered if one[0][0]]
    for (_, epsilon, _), place, box in (telling or ordered)[:CLOSELY]:
        if best is not None and not telling:
            break
        if best is not None and _worth(best[1], claim)[0] and round(float(best[1].epsilon), PLACES) >= epsilon:
            break
        witness = box_witness(_choosers(subject, pairs[place], seed), box, claim)
        if witness is not None and (best is None or _worth(witness, claim) > _worth(best[1], claim)):
            best = place, witness
    return best


def _worth(witness: Witness, claim: Claim) -> tuple[bool, Fraction, Fraction]:
    """What refutes is worth more than what does not."""
    return witness.shown > claim.epsilon, witness.epsilon, witness.shown


def _choosers(subject: Subject, pair: tuple[Any, Any], seed: int) -> Two:
    return Chooser(subject, pair[0], seed), Chooser(subject, pair[1], seed)


def _grown(subject: Subject, pair: tuple[Any, Any], claim: Claim, seed: int) -> list[tuple[Reading, Box]]:
    """Boxes with coarse edges, one of those with the same sides (several entries may tell the same), and what each shows."""
    two = _choosers(subject, pair, seed)
    grown: dict[Any, tuple[Reading, Box]] = {}
    most = few_or_many(two[0])[1]
    try:
        for base in bases(*two):
            mine, theirs = two[0](base[None, :]), two[1](base[None, :])
            if known(theirs) == len(base):
                for box in rough_boxes(two[0], base):
                    key = tuple(box.low), tuple(box.high)
                    if key not in grown:
                        grown[key] = _rough_reading(box, mine, theirs, claim, most), box
    except Exception:  # the subject's own, on outputs that it may never have seen
        return []
    return list(grown.values())


def box_witness(two: Two, box: Box, claim: Claim) -> Witness | None:
    """The event that the entry has this value, or that it has not; None unless it passes every test and shows something."""
    try:
        box = sharpened(two[0], box)
        centres = _at_centre(two, box)
        if centres is None or not _is_a_box(two, box, centres):
            return None
        here, there = (_probability(box, runs) for runs in centres)
        runs = _enough(here, there, few_or_many(two[0]), claim)
        if not all(is_the_box(side, box, centre, runs) for side, centre in zip(two, centres, strict=True)):
            return None
    except Exception:  # the subject's own, on outputs that it may never have seen
        return None
    shown = _shown(here, there, runs, claim)
    reading = max(_readings(here, there, claim), key=lambda one: (shown.get(one[3:], 0) > claim.epsilon, one[0]), default=None)
    if reading is None:
        return None
    epsilon, p, p_other, complement, favours = reading
    what = f"entry {box.entry} of what is played is {'not ' if complement else ''}{box.value:.12g}"
    facts = {
        "kind": "event", "observer": claim.observer, "data": describe(two[0].data), "neighbour": describe(two[1].data),
        "event": what, "favours": favours, "probability": decimal(p), "other_probability": decimal(p_other),
        "delta": show(claim.delta), "entry": box.entry, "value": repr(box.value), "centre": box.centre.tolist(),
        "low": box.low.tolist(), "high": box.high.tolist(), "draws": runs, "confidence": 1 - 2 * ERROR,
    }  # fmt: skip
    return Witness(
        epsilon, "event with computed probabilities, tested by draws", facts, tested=shown.get(reading[3:], Fraction(0))
    )


def _at_centre(two: Two, box: Box) -> tuple[Runs, Runs] | None:
    """What each data set asks inside the box."""
    runs = two[0](box.centre[None, :]), two[1](box.centre[None, :])
    usable = all(known(one) == len(box.centre) and not one.public and box.holds(one.played).all() for one in runs)
    alike = usable and runs[0].noises == runs[1].noises
    return runs if alike else None


def _probability(box: Box, runs: Runs) -> Bounds:
    """Certified bounds on P(every output is in its interval)."""
    low, high = Fraction(1), Fraction(1)
    for k, noise in enumerate(runs.noises[: len(box.centre)]):
        part = interval(noise, int(box.low[k]), int(box.high[k]), int(runs.asked[0, k]))
        low, high = low * part[0], high * part[1]
    return low, high


def interval(noise: Noise, low: int, high: int, query: int) -> Bounds:
    """Certified bounds on P(low ≤ output ≤ high | query); ±FAR is no end."""
    return noise.within(None if low <= -FAR else low, None if high >= FAR else high, query)


def _readings(here: Bounds, there: Bounds, claim: Claim) -> Iterator[tuple[Fraction, Fraction, Fraction, bool, str]]:
    """ε of the event and of its complement, read in favour of either data set."""
    for complement in (False, True):
        first, second = (((1 - b[1], 1 - b[0]) if complement else b) for b in (here, there))
        for p, p_other, favours in ((first[0], second[1], "data"), (second[0], first[1], "neighbour")):
            epsilon = log_down((p - claim.delta) / p_other) if p > claim.delta and p_other > 0 else None
            if epsilon is not None:
                yield epsilon, p, p_other, complement, favours


def _shown(here: Bounds, there: Bounds, runs: int, claim: Claim) -> dict[tuple[bool, str], Fraction]:
    """ε of each reading, when as much as ``runs`` draws may miss counts against it."""
    wide = [(max(Fraction(0), low - slack(runs)), min(Fraction(1), high + slack(runs))) for low, high in (here, there)]
    return {one[3:]: one[0] for one in _readings(wide[0], wide[1], claim)}


def _enough(here: Bounds, there: Bounds, sizes: tuple[int, int], claim: Claim) -> int:
    """Many draws where they can refute and few cannot."""
    few, many = (max(_shown(here, there, runs, claim).values(), default=Fraction(0)) for runs in sizes)
    return sizes[1] if few <= claim.epsilon < many else sizes[0]


def _rough_reading(box: Box, mine: Runs, theirs: Runs, claim: Claim, draws: int) -> Reading:
    """About which ε the box shows, and with which probability; of equals, the likelier is the better one."""
    here, there = (_probability(box, runs) for runs in (mine, theirs))
    refutes = max(_shown(here, there, draws, claim).values(), default=Fraction(0)) > claim.epsilon
    figures = ((round(float(one[0]), PLACES), float(one[1])) for one in _readings(here, there, claim))
    return refutes, *max(figures, default=(0.0, 0.0))


def _is_a_box(two: Two, box: Box, centres: tuple[Runs, Runs]) -> bool:
    """Inside, the entry always holds and nothing else is asked; outside, it never holds."""
    rng = np.random.default_rng([two[0].seed, 6])
    answers = np.array([noise.alphabet or 0 for noise in centres[0].noises])
    for chooser, centre in zip(two, centres, strict=True):
        inside = chooser(points_inside(box, answers, chooser.tests, rng), "wild", seed=1)
        outside = chooser(points_outside(box, answers, chooser.tests, rng), "wild", seed=2)
        fixed = (inside.asked == centre.asked).all() and (inside.width == centre.width).all()
        if not fixed or not box.holds(inside.played).all() or box.holds(outside.played).any():
            return False
        if inside.public or outside.public:
            return False
    return True
