"""A witness from a file, checked again: data, event and probabilities are computed anew; the file's own figures prove nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.auditors.action_events import box_witness
from dpaudit.auditors.attack import REFUTE, STAGES, Attack, why
from dpaudit.auditors.betting import bet_until
from dpaudit.auditors.boxes import box_of
from dpaudit.auditors.chosen_runs import Chooser
from dpaudit.auditors.engine import Engine
from dpaudit.auditors.independent import independent_coordinates
from dpaudit.auditors.pair_names import named_pair
from dpaudit.auditors.play import play_game
from dpaudit.auditors.replayed import check_repeatable
from dpaudit.auditors.runs import Trials
from dpaudit.auditors.server_events import event_facts, measure
from dpaudit.auditors.shuffled import shuffled_event
from dpaudit.auditors.witness import Witness, transcript_facts, transcript_loss
from dpaudit.channel import simulate
from dpaudit.claims import Claim, DpauditError, Finding, Lower, float_down, float_up, whole
from dpaudit.subject import Subject, fresh

Facts = Mapping[str, Any]
Pair = tuple[Any, Any]


class NotAWitness(DpauditError):
    """A file that dpaudit cannot read as a witness. Keeps what is wrong with it."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"not a witness that can be replayed: {problem}; write one with dpaudit audit … --witness FILE")


def recheck(subject: Subject, claim: Claim, facts: Any) -> Attack:
    """Does this witness refute this claim about this subject? Raises NotAWitness; DpauditError for data of other neighbours."""
    if not isinstance(facts, Mapping):
        raise NotAWitness("it is no JSON object")
    try:
        if facts["observer"] != claim.observer:
            raise DpauditError(f"the witness is about the observer {facts['observer']!s:.20}, the claim about {claim.observer}")
        pair = named_pair(subject.neighbours, facts["pair"])
        if facts["kind"] == "statistics":
            return _game(subject, claim, pair, facts)
        if facts["kind"] == "sequential":
            return _bets(subject, claim, pair, facts)
        if not subject.grey:
            return _nothing("the subject has no channel, so no transcript of it can be pinned")
        own = check_repeatable(subject, pair[0], 0)
        if own is not None:
            return _nothing("the subject answers differently when it is asked again", own)
        found = _exact(subject, claim, pair, facts)
    except DpauditError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise NotAWitness(f"{type(error).__name__} in its fields") from error
    if found is None or found.epsilon <= claim.epsilon:
        shown = 0.0 if found is None else float_down(found.epsilon)
        return _nothing(f"the witness shows ε ≥ {shown:.6g} for this subject, which the claim allows", shown=shown)
    again = {**found.facts, "pair": facts["pair"]}
    lower = Lower(float_down(found.epsilon), float(found.facts.get("confidence", 1.0)), f"replayed witness, {found.method}", 1)
    return Attack(lower, True, found.epsilon, witness=again, reason=why(found, claim))


def _nothing(reason: str, *findings: Finding, shown: float = 0.0) -> Attack:
    return Attack(Lower(shown, 1.0, "replayed witness", 1), findings=list(findings), reason=reason)


def _exact(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Witness | None:
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
    found = transcript_loss(subject, *pair, chosen, seed, releases)
    if found is None:
        return None
    return Witness(abs(found.loss), "exact replay", transcript_facts(found, pair, claim))


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
    found = measure([known[one] for one in wanted], thresholds, facts["beyond"], claim)
    return None if found is None else Witness(found.epsilon, "exact event", event_facts(found, pair, claim))


def _box(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Witness | None:
    if claim.observer == "server":
        return None
    sides = [np.asarray([int(value) for value in facts[side]], dtype=np.int64) for side in ("centre", "low", "high")]
    if len({len(side) for side in sides}) != 1 or not len(sides[0]):
        raise NotAWitness("its box has sides of different numbers")
    box = box_of(whole(facts["entry"], "entry", 0), float(facts["value"]), *sides)
    return box_witness((Chooser(subject, pair[0], 0), Chooser(subject, pair[1], 0)), box, claim)


def _sees_all(subject: Subject, claim: Claim, pair: Pair) -> bool:
    """Does the claim's observer see every release?"""
    if claim.observer == "server":
        return True
    with simulate(0, every_report=True) as channel:
        subject.run(fresh(pair[0]), channel)
    return claim.observer == "shuffled" and all(event.to == "shuffled" for event in channel.events)


def _game(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Attack:
    """The same runs again, from their seed; they must give the same counts."""
    samples = whole(facts["samples"], "samples", 100)
    trials = _trials(subject, claim, pair, facts)
    if trials is None:
        return _nothing("its score is for an observer of the whole joint view")
    outcome = play_game(trials, samples, float(claim.delta), 0.05, Engine())
    level = outcome.at(REFUTE / STAGES)
    counts = {"right": outcome.guesses.right, "wrong": outcome.guesses.wrong, "runs": outcome.guesses.n}
    if any(facts[key] != count for key, count in counts.items()):
        return _nothing(f"the same runs give other counts here: {counts['right']} right, {counts['wrong']} wrong")
    lower = Lower(round(level - 5e-7, 6) if level > 0 else 0.0, 1 - REFUTE, "replayed witness, guessing game", samples)
    if level <= float(claim.epsilon):
        return Attack(lower, reason=f"its counts show ε ≥ {lower.epsilon:.6g} at confidence 1−10^-6, which the claim allows")
    reason = f"the same runs as in the witness show ε ≥ {lower.epsilon:.6g} at confidence 1−10^-6"
    return Attack(lower, True, level=lower.epsilon, witness=dict(facts), reason=reason)


def _trials(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Trials | None:
    if facts["score"] not in ("likelihood ratio", "learned"):
        raise NotAWitness("its score is none of likelihood ratio, learned")
    likelihood = facts["score"] == "likelihood ratio"
    if likelihood and not (subject.grey and _sees_all(subject, claim, pair)):
        return None
    return Trials(subject, pair, whole(facts["seed"], "seed", 0), likelihood)


def _bets(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Attack:
    """The same draws again, from their seed: the evidence must reach 10^6 to 1, and at the same draw."""
    draws, runs = whole(facts["draws"], "draws"), whole(facts["runs"], "runs", 200)
    trials = _trials(subject, claim, pair, facts)
    if trials is None:
        return _nothing("its score is for an observer of the whole joint view")
    found = bet_until(trials, claim, runs, alpha=REFUTE, confidence=0.95, engine=Engine())
    lower = Lower(found.lower, 0.95, "replayed witness, e-process", -(-found.runs // 2))
    if not found.flagged or found.runs != draws:
        return Attack(lower, reason=f"the same {draws:,} draws do not refute the claim")
    level = float(np.nextafter(float_up(claim.epsilon), np.inf))
    reason = f"after the same {found.runs:,} draws as in the witness the evidence against the claim is above 10^6 to 1"
    return Attack(lower, True, level=level, witness=dict(facts), reason=reason)
