"""A witness from a file, checked again: data, event and probabilities are computed anew; the file's own figures prove nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.auditors.events.transcript_witness import why
from dpaudit.auditors.floats.float_runs import FloatRuns
from dpaudit.auditors.floats.low_bits import read_event
from dpaudit.auditors.floats.subject_porosity import count_event
from dpaudit.auditors.games.bets.betting import bet_until
from dpaudit.auditors.games.play import MOST_SAMPLES, play_game
from dpaudit.auditors.interface import REFUTE, Attack
from dpaudit.auditors.pairs.pair_names import named_pair
from dpaudit.auditors.recomputed_evidence import Facts, NotAWitness, Pair, computed_again
from dpaudit.auditors.runs.engine import Engine
from dpaudit.auditors.runs.transcripts import Trials, child
from dpaudit.auditors.stages.game_auditor import STAGES
from dpaudit.auditors.stages.statistical_witness import round_down
from dpaudit.channel import simulate
from dpaudit.claims import Claim, DpauditError, Finding, Lower, float_down, float_up, whole
from dpaudit.claims.decimals import at_least
from dpaudit.subjects.subject import Subject, fresh


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
        if facts["kind"] == "low bits":
            return _low_bits(subject, claim, pair, facts)
        if not subject.grey:
            return _nothing("the subject has no channel, so no transcript of it can be pinned")
        witness = computed_again(subject, claim, pair, facts, 0)
        if isinstance(witness, Finding):
            return _nothing("the subject answers differently when it is asked again", witness)
    except DpauditError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise NotAWitness(f"{type(error).__name__} in its fields") from error
    if witness is None or witness.shown <= claim.epsilon:
        shown = 0.0 if witness is None else float_down(witness.shown)
        return _nothing(f"the witness shows ε ≥ {at_least(shown)} for this subject, which the claim allows", shown=shown)
    again = {**witness.facts, "pair": facts["pair"]}
    lower = Lower(
        float_down(witness.shown), float(witness.facts.get("confidence", 1.0)), f"replayed witness, {witness.method}", 1
    )
    exact = witness.epsilon if witness.tested is None else None
    return Attack(lower, True, exact, lower.epsilon, witness=again, reason=why(witness, claim))


def _nothing(reason: str, *findings: Finding, shown: float = 0.0) -> Attack:
    return Attack(Lower(shown, 1.0, "replayed witness", 1), findings=list(findings), reason=reason)


def _sees_all(subject: Subject, claim: Claim, pair: Pair) -> bool:
    """Does the claim's observer see every release?"""
    with simulate(0, every_report=True) as channel:
        subject.run(fresh(pair[0]), channel)
    if any(event.veiled for event in channel.events):
        return False
    if claim.observer == "server":
        return True
    return claim.observer == "shuffled" and all(event.to == "shuffled" for event in channel.events)


def _game(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Attack:
    """The same runs again, from their seed; they must give the same counts."""
    samples = whole(facts["samples"], "samples", 100, MOST_SAMPLES * 4 ** (STAGES - 1))
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
        return Attack(
            lower, reason=f"its counts show ε ≥ {at_least(lower.epsilon)} at confidence 1−10^-6, which the claim allows"
        )
    reason = f"the same runs as in the witness show ε ≥ {at_least(lower.epsilon, claim.epsilon)} at confidence 1−10^-6"
    return Attack(lower, True, level=lower.epsilon, witness=dict(facts), reason=reason)


def _low_bits(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Attack:
    """As many runs again, fresh ones: the event is the file's, and was chosen on some of the runs that its seed gives."""
    if claim.ideal:
        return _nothing("its event is one of low bits, and the claim is about ideal arithmetic")
    if subject.grey:
        return _nothing("its event is one of a black box; behind a door, noise lies on a grid")
    samples = whole(facts["samples"], "samples", 100, MOST_SAMPLES)
    event, swapped = read_event(facts["low_bits"]), bool(facts["swapped"])
    runs = FloatRuns(subject, pair[::-1] if swapped else pair, child(whole(facts["seed"], "seed", 0), 1))
    counts = count_event(runs, samples, event)
    counts = counts.turned() if swapped else counts
    level = counts.epsilon(REFUTE, float(claim.delta))
    shown = round_down(level)
    lower = Lower(shown, 1 - REFUTE, "replayed witness, event of low bits", samples)
    figures = f"{counts.hits:,} of {counts.runs:,} runs against {counts.other_hits:,} of {counts.other_runs:,}"
    sentence = f"drawn again, {event.words()} are {figures}: ε ≥ {shown:.6g} at confidence 1−10^-6"
    if level <= float(claim.epsilon):
        return Attack(lower, reason=f"{sentence}, which the claim allows")
    return Attack(lower, True, level=shown, witness=dict(facts), reason=sentence)


def _trials(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Trials | None:
    if facts["score"] not in ("likelihood ratio", "learned"):
        raise NotAWitness("its score is none of likelihood ratio, learned")
    likelihood = facts["score"] == "likelihood ratio"
    if likelihood and not (subject.grey and _sees_all(subject, claim, pair)):
        return None
    return Trials(subject, pair, whole(facts["seed"], "seed", 0), likelihood, claim.observer)


def _bets(subject: Subject, claim: Claim, pair: Pair, facts: Facts) -> Attack:
    """The same draws again, from their seed: the evidence must reach 10^6 to 1, and at the same draw."""
    draws, runs = whole(facts["draws"], "draws"), whole(facts["runs"], "runs", 200, 2 * MOST_SAMPLES)
    trials = _trials(subject, claim, pair, facts)
    if trials is None:
        return _nothing("its score is for an observer of the whole joint view")
    betting = bet_until(trials, claim, runs, alpha=REFUTE, confidence=0.95, engine=Engine())
    lower = Lower(betting.lower, 0.95, "replayed witness, e-process", -(-betting.runs // 2))
    if not betting.flagged or betting.runs != draws:
        return Attack(lower, reason=f"the same {draws:,} draws do not refute the claim")
    level = float(np.nextafter(float_up(claim.epsilon), np.inf))
    reason = f"after the same {betting.runs:,} draws as in the witness the evidence against the claim is above 10^6 to 1"
    return Attack(lower, True, level=level, witness=dict(facts), reason=reason)
