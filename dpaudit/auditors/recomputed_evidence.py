"""The exact part of a witness, computed from its subject again; figures that the witness itself states prove nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.auditors.events.action_events import box_witness
from dpaudit.auditors.events.boxes import box_of
from dpaudit.auditors.events.chosen_runs import Chooser
from dpaudit.auditors.events.independent_releases import independent_coordinates
from dpaudit.auditors.events.server_events import event_facts, measure
from dpaudit.auditors.events.shuffled_batches import shuffled_event
from dpaudit.auditors.events.transcript_witness import Witness, transcript_facts, transcript_loss
from dpaudit.auditors.replay.repeatability import check_repeatable
from dpaudit.claims import Claim, DpauditError, Finding, whole
from dpaudit.subjects import foreign_randomness as outside
from dpaudit.subjects.subject import Subject

Facts = Mapping[str, Any]
Pair = tuple[Any, Any]
TIMES = 4  # a witness is computed; each time it must show the same


class NotAWitness(DpauditError):
    """A file that dpaudit cannot read as a witness. Keeps what is wrong with it."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"not a witness that can be replayed: {problem}; write one with dpaudit audit … --witness FILE")


def computed_again(subject: Subject, claim: Claim, pair: Pair, facts: Facts, seed: int) -> Witness | Finding | None:
    """The witness, computed anew several times; a finding where the subject answers differently when it is asked again.

    A subject with randomness of its own asks something else in the run and in its replay, which looks like a loss and is none.
    """
    with outside.watching() as watch:
        own = check_repeatable(subject, pair, seed)
        if own is not None:
            return own
        first = computed(subject, claim, pair, facts)
        repeats = 0 if "entry" in facts or "batch" in facts else TIMES - 1  # those are tested by draws of their own
        for _ in range(repeats):
            again = computed(subject, claim, pair, facts)
            if (None if again is None else again.epsilon) != (None if first is None else first.epsilon):
                message = "the same transcript shows another loss when it is computed again: randomness, a clock or a memory"
                return Finding("DPA002", message + " that the channel does not know", subject.name)
    return Finding("DPA002", str(watch), subject.name) if watch.sources else first


def computed(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Witness | None:
    """What the witness's transcript or event shows for this subject. Raises NotAWitness."""
    if facts["kind"] == "transcript":
        return _transcript(subject, claim, pair, facts)
    if facts["kind"] != "event":
        raise NotAWitness("its kind is none of transcript, event, statistics")
    if "batch" in facts:
        return shuffled_event(subject, claim, *pair, whole(facts["seed"], "seed", 0))
    return _box(subject, claim, pair, facts) if "entry" in facts else _numbers(subject, claim, pair, facts)


def _transcript(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Witness | None:
    """One transcript refutes a pure claim about an observer who sees all of it, and no other."""
    if claim.observer != "server" or claim.delta:
        return None
    chosen = {whole(place, "place", 0): np.asarray(output, dtype=np.int64) for place, output in facts["outputs"].items()}
    releases, seed = whole(facts["releases"], "releases"), whole(facts["seed"], "seed", 0)
    if any(place >= releases for place in chosen):
        raise NotAWitness("it chooses outputs of more releases than it has")
    loss = transcript_loss(subject, *pair, chosen, seed, releases)
    if loss is None:
        return None
    return Witness(abs(loss.loss), "exact replay", transcript_facts(loss, pair, claim))


def _numbers(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Witness | None:
    wanted = [
        (whole(position, "position", 0), tuple(whole(i, "index", 0) for i in index)) for position, index in facts["numbers"]
    ]
    thresholds = [int(threshold) for threshold in facts["thresholds"]]
    if facts["beyond"] not in ("each", "sum") or len(thresholds) != (1 if facts["beyond"] == "sum" else len(wanted)):
        raise NotAWitness("its thresholds do not fit its numbers")
    if not wanted or len(set(wanted)) != len(wanted):
        raise NotAWitness("it names no number, or one twice")
    known = {(one.position, one.index): one for one in independent_coordinates(subject, *pair, 0)}
    if claim.observer != "server" or any(one not in known for one in wanted):
        return None
    event = measure([known[one] for one in wanted], thresholds, facts["beyond"], claim)
    return None if event is None else Witness(event.epsilon, "exact event", event_facts(event, pair, claim))


def _box(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Witness | None:
    if claim.observer == "server":
        return None
    sides = [np.asarray([int(value) for value in facts[side]], dtype=np.int64) for side in ("centre", "low", "high")]
    if len({len(side) for side in sides}) != 1 or not len(sides[0]):
        raise NotAWitness("its box has sides of different numbers")
    box = box_of(whole(facts["entry"], "entry", 0), float(facts["value"]), *sides)
    return box_witness((Chooser(subject, pair[0], 0), Chooser(subject, pair[1], 0)), box, claim)
