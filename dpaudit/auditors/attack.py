"""The lower half of a verdict: every attack that fits the subject and the claim's observer, strongest evidence first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpaudit.auditors.events.transcript_witness import Witness, why
from dpaudit.auditors.exact_evidence import SMALL, find_evidence, sees_all, veiled
from dpaudit.auditors.floats.float_runs import most_central
from dpaudit.auditors.floats.porosity import audit_porosity
from dpaudit.auditors.games.betting import PILOT, bet_until
from dpaudit.auditors.games.betting import detectable as detectable_bets
from dpaudit.auditors.games.guessing_game import Outcome, detectable
from dpaudit.auditors.games.play import best_pair, play_game
from dpaudit.auditors.pairs.pair_names import named_pair, pair_generator, pair_name
from dpaudit.auditors.pairs.pair_search import for_black_boxes
from dpaudit.auditors.recomputed_evidence import computed_again
from dpaudit.auditors.replay.pinned_runs import Observed, Replayed
from dpaudit.auditors.replay.replay_checks import check_by_replay, path_finding
from dpaudit.auditors.runs.engine import HERE, Engine
from dpaudit.auditors.runs.transcripts import Trials, child
from dpaudit.auditors.wording import beating, describe
from dpaudit.channel import PathChanged
from dpaudit.claims import Claim, Finding, Losses, Lower, float_down, float_up
from dpaudit.subjects.subject import Subject

REFUTE = 1e-6  # a statistical refutation holds at confidence 1 − 10^-6
STAGES = 3  # sample sizes grow fourfold; the error is split over the stages


@dataclass
class Attack:
    """What was found: a lower bound, perhaps a refutation, and what replay noticed on the way."""

    lower: Lower
    refuted: bool = False
    exact: Fraction | None = None
    level: float = 0.0  # the bound that a statistical refutation rests on, at confidence 1 − 10^-6
    witness: dict[str, Any] | None = None
    detectable: float | None = None
    findings: list[Finding] = field(default_factory=list)
    observed: Observed = field(default_factory=Observed)
    reason: str = ""
    interrupted: bool = False  # by Ctrl-C: what is here holds, but there might have been more
    losses: Losses | None = None  # of the game that was played, for a picture


def attack(
    subject: Subject, claim: Claim, *, confidence: float, samples: int, seed: int, engine: Engine = HERE, search: bool = True,
    sequential: bool = False, error: float = REFUTE,
) -> Attack:  # fmt: skip
    """Attack a subject. Exact evidence is looked for first; the game is played where it can add something.

    ``search``: nothing is proven yet, so look at other neighbours than the listed ones as well.
    ``sequential``: first of all, and in place of the game, an e-process that stops at the first run where it refutes the claim.
    ``error``: the probability of refuting an honest subject by statistics.
    """
    bet, game_of = partial(_bet_attack, error=error), partial(_game_attack, error=error)
    by_statistics = bet if sequential else game_of
    rng = pair_generator(seed)
    pairs = list(subject.neighbours.pairs(rng))
    if not subject.grey:
        more = for_black_boxes(subject.neighbours, pair_generator(seed))
        game = by_statistics(subject, claim, more, confidence, samples, seed, engine, by_likelihood=False)
        if game.interrupted:
            return game
        porous = audit_porosity(subject, most_central(subject, pairs, seed), seed=seed, claim=claim)
        game.findings += [porous] if porous is not None else []
        return game
    checked = check_by_replay(subject, pairs, seed, rng)
    result = Attack(Lower(0.0, 1.0, "exact replay", 0), detectable=float(claim.epsilon))
    result.findings, result.observed = checked.findings, checked.observed

    def without_replay(*found: Finding) -> Attack:
        """What replay says is void: the game on what is returned decides."""
        game = by_statistics(subject, claim, pairs, confidence, samples, seed, engine, by_likelihood=False)
        game.findings, game.observed = [*result.findings, *found], result.observed
        return game

    if any(f.rule == "DPA002" for f in result.findings):
        return without_replay()
    try:
        if sequential:
            exact = _sees_likelihood(subject, claim, checked.played)
            enough = samples if search else max(100, samples // 10)  # a claim that is proven is bet against to check the proof
            bets = bet(subject, claim, pairs, confidence, enough, seed, engine, by_likelihood=exact)
            bets.findings, bets.observed = result.findings, result.observed
            if bets.refuted or bets.interrupted:
                return bets
        evidence = find_evidence(subject, claim, pairs, checked.played, seed, search=search)
        if evidence.witness is not None:
            again = _again(subject, claim, evidence.witness, seed)
            if isinstance(again, Finding):
                return without_replay(again)
            _take(result, again, claim, checked.played)
        if not evidence.strongest:  # what these events did not find, others might
            result.detectable = None
        if sequential:
            result.losses = bets.losses
            return result if result.lower.epsilon >= bets.lower.epsilon else bets
        if evidence.needs_game and not result.refuted:
            chosen, exact = evidence.pairs, evidence.by_likelihood
            game = game_of(subject, claim, chosen, confidence, samples, seed, engine, by_likelihood=exact)
            if game.refuted or game.lower.epsilon > result.lower.epsilon:
                game.findings, game.observed = result.findings, result.observed
                return game
            result.detectable, result.losses = game.detectable, game.losses
    except PathChanged as changed:  # on a path so rare that only these many runs met it
        return without_replay(path_finding(changed))
    return result


def _again(subject: Subject, claim: Claim, witness: Witness, seed: int) -> Witness | Finding:
    """The same witness, if it stands when it is computed again; else why all that replay says is void."""
    if witness.epsilon <= claim.epsilon and "batch" in witness.facts:
        return witness
    if "entry" in witness.facts:  # draws have tested it, and randomness of its own would have shown in them
        return witness
    found = computed_again(subject, claim, named_pair(subject.neighbours, witness.facts["pair"]), witness.facts, seed)
    if isinstance(found, Finding):
        return found
    if found is None or found.epsilon != witness.epsilon:
        return Finding("DPA002", "what a transcript shows is not seen again when it is repeated", subject.name)
    return witness


def _take(result: Attack, witness: Witness, claim: Claim, played: Sequence[tuple[int, Replayed]]) -> None:
    runs = sum(one.trials or 1 for _, one in played)
    confidence = float(witness.facts.get("confidence", 1.0))
    result.lower = Lower(float_down(witness.shown), confidence, witness.method, runs)
    result.exact = witness.epsilon if witness.tested is None else None
    result.refuted = witness.shown > claim.epsilon
    result.level = result.lower.epsilon if result.refuted else 0.0
    result.witness = witness.facts if result.refuted else None
    if result.refuted:
        result.reason = why(witness, claim)


def _game_attack(
    subject: Subject,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    confidence: float,
    samples: int,
    seed: int,
    engine: Engine,
    *,
    by_likelihood: bool,
    error: float,
) -> Attack:
    """The game on the most promising pair, chosen on runs of its own; stages escalate while a refutation is in reach."""
    screened = best_pair(subject, claim, pairs, samples, seed, by_likelihood, engine)
    pair = screened.pair
    epsilon, delta = float(claim.epsilon), float(claim.delta)

    def game(stage: int) -> Outcome:
        trials = Trials(subject, pair, child(seed, 1, stage), by_likelihood, claim.observer)
        return play_game(trials, samples * 4**stage, delta, 1 - confidence, engine)

    stage, first = 0, game(0)
    outcome, level = first, first.at(error / STAGES)
    while level <= epsilon < outcome.at(0.05) and stage + 1 < STAGES:
        stage += 1
        outcome = game(stage)
        level = outcome.at(error / STAGES)
    size = samples * 4**stage
    refuted = level > epsilon
    kind = "likelihood ratio" if by_likelihood else "learned score"
    lower = Lower(_down(first.epsilon), confidence, f"guessing game, {kind}, {first.rule.form}{screened.told()}", samples)
    least = detectable(first.guesses, epsilon, delta, error / STAGES) if screened.all else None
    result = Attack(lower, refuted, detectable=None if least is None else _down(least, 4), losses=outcome.losses)
    if refuted:
        lower_level = Lower(_down(level), 1 - error, lower.method, size)
        result.level = lower_level.epsilon
        result.witness = {
            "kind": "statistics", "observer": claim.observer, "data": describe(pair[0]), "neighbour": describe(pair[1]),
            "epsilon": lower_level.epsilon, "confidence": lower_level.confidence, "samples": size,
            "right": outcome.guesses.right, "wrong": outcome.guesses.wrong, "runs": outcome.guesses.n,
            "score": "likelihood ratio" if by_likelihood else "learned", "seed": child(seed, 1, stage),
            "pair": pair_name(subject.neighbours, pair, _place(pairs, pair), seed, swapped=False),
        }  # fmt: skip
        result.reason = (
            f"the lower bound {beating(Fraction(level), claim.epsilon)}at confidence 1−{_power(error)} exceeds {epsilon:.6g}"
        )
    return result


def _bet_attack(
    subject: Subject,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    confidence: float,
    samples: int,
    seed: int,
    engine: Engine,
    *,
    by_likelihood: bool,
    error: float,
) -> Attack:
    """The e-process on the most promising pair, chosen on runs of its own. It may be looked at after every run, at no cost."""
    screened = best_pair(subject, claim, pairs, min(samples, PILOT), seed, by_likelihood, engine)
    pair = screened.pair
    trials, runs = Trials(subject, pair, child(seed, 3), by_likelihood, claim.observer), 2 * samples
    found = bet_until(trials, claim, runs, alpha=error, confidence=confidence, engine=engine)
    kind = "likelihood ratio" if by_likelihood else "learned score"
    lower = Lower(_down(found.lower), confidence, f"e-process, {kind}, valid at any time{screened.told()}", -(-found.runs // 2))
    least = detectable_bets(found, float(claim.epsilon), float(claim.delta), runs, error) if screened.all else None
    result = Attack(lower, found.flagged, interrupted=found.interrupted, losses=found.losses)
    result.detectable = None if least is None or found.interrupted else _down(least, 4)
    figure = found.log_evidence / np.log(10)
    if found.flagged:
        result.level = float(np.nextafter(float_up(claim.epsilon), np.inf))  # more than the claim, at least
        result.witness = {
            "kind": "sequential", "observer": claim.observer, "data": describe(pair[0]), "neighbour": describe(pair[1]),
            "draws": found.runs, "runs": runs, "log10_evidence": _down(figure, 4), "confidence": 1 - error, "seed": trials.seed,
            "score": "likelihood ratio" if by_likelihood else "learned",
            "pair": pair_name(subject.neighbours, pair, _place(pairs, pair), seed, swapped=False),
        }  # fmt: skip
        result.reason = f"after {found.runs:,} draws the evidence against the claim is 10^{_down(figure, 2):g} to 1"
    elif found.interrupted:
        result.reason = f"interrupted after {found.runs:,} of {runs:,} draws; the lower bound holds as it stands"
    return result


def _sees_likelihood(subject: Subject, claim: Claim, played: Sequence[tuple[int, Replayed]]) -> bool:
    """Is the exact likelihood ratio of all releases this observer's to compute, and can every report be drawn for it?"""
    mixed = [event for _, one in played for event in one.events if event.to == "shuffled"]
    small = subject.vectorised and all(event.query.shape[-1] <= SMALL for event in mixed)
    some = any(one.events for _, one in played)
    return some and sees_all(claim, played) and not veiled(played) and (not mixed or small)


def _place(pairs: Sequence[tuple[Any, Any]], pair: tuple[Any, Any]) -> int:
    return next(place for place, (first, second) in enumerate(pairs) if first is pair[0] and second is pair[1])


def _power(error: float) -> str:
    return "10^-6" if math.isclose(error, REFUTE) else f"{error:.3g}"


def _down(value: float, places: int = 6) -> float:
    return float(np.floor(value * 10**places) / 10**places)
