"""The lower half of a verdict: every attack that fits the subject and the claim's observer, strongest evidence first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.auditors.described import describe
from dpaudit.auditors.float_runs import most_central
from dpaudit.auditors.game import TRAINING, Outcome, detectable, learn_scores, play_game
from dpaudit.auditors.porosity import audit_porosity
from dpaudit.auditors.replayed import Observed, Replayed, check_repeatable, far_replay, play
from dpaudit.auditors.runs import child, finite, likelihood_scores, returned_values
from dpaudit.auditors.shuffled import shuffled_event
from dpaudit.auditors.witness import Witness, action_event, first_release_event, transcript_witness
from dpaudit.channel import PathChanged
from dpaudit.claims import Claim, Finding, Lower, float_down
from dpaudit.subject import Subject

REFUTE = 1e-6  # a statistical refutation holds at confidence 1 − 10^-6
STAGES = 3  # sample sizes grow fourfold; the error is split over the stages
WITNESS_TRIALS = 64


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


def attack(subject: Subject, claim: Claim, *, confidence: float, samples: int, seed: int) -> Attack:
    """Attack a subject. Exact evidence is looked for first; the game is played where it can add something."""
    rng = np.random.default_rng([seed, 4])
    pairs = list(subject.neighbours.pairs(rng))
    if not subject.grey:
        game = _game_attack(subject, claim, pairs, confidence, samples, seed, by_likelihood=False)
        porous = audit_porosity(subject, most_central(subject, pairs, seed), seed=seed, claim=claim)
        game.findings += [porous] if porous is not None else []
        return game
    result = Attack(Lower(0.0, 1.0, "exact replay", 0), detectable=float(claim.epsilon))
    own = check_repeatable(subject, pairs[0][0], seed)
    if own is not None:
        result.findings.append(own)
    played = [] if own is not None else _replay_pairs(subject, pairs, seed, result)
    far = far_replay(subject, seed, rng) if own is None else None
    if far is not None and not any(f.rule == "DPA002" for f in result.findings):
        result.findings.append(far)
    if any(f.rule == "DPA002" for f in result.findings):
        game = _game_attack(subject, claim, pairs, confidence, samples, seed, by_likelihood=False)
        game.findings, game.observed = result.findings, result.observed
        return game
    witness, needs_game = _exact_witness(subject, claim, pairs, played, seed)
    if witness is not None:
        _take(result, witness, claim, played)
    if needs_game and not result.refuted:
        game = _game_attack(subject, claim, pairs, confidence, samples, seed, by_likelihood=claim.observer == "server")
        if game.refuted or game.lower.epsilon > result.lower.epsilon:
            game.findings, game.observed = result.findings, result.observed
            return game
        result.detectable = game.detectable
    return result


def _replay_pairs(subject: Subject, pairs: Sequence[tuple[Any, Any]], seed: int, result: Attack) -> list[tuple[int, Replayed]]:
    played: list[tuple[int, Replayed]] = []
    trials = WITNESS_TRIALS if subject.vectorised else None
    for place, (data, other) in enumerate(pairs):
        for repeat in range(1 if trials else 8):
            try:
                one = play(subject, data, other, seed + 1000 * place + repeat, _fewer(subject, trials))
            except PathChanged as changed:
                result.findings.append(
                    Finding("DPA002", str(changed)[8:] + " on neighbouring data", f"release {changed.release + 1}")
                )
                return played
            played.append((place, one))
            result.observed.look(one, data, other)
    return played


def _fewer(subject: Subject, trials: int | None) -> int | None:
    limit = subject.notes.get("witness trials")
    return trials if trials is None or limit is None else min(trials, int(limit))


def _exact_witness(
    subject: Subject,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    played: Sequence[tuple[int, Replayed]],
    seed: int,
) -> tuple[Witness | None, bool]:
    """The best exact evidence for the claim's observer, and whether a game could find more."""
    shuffled = any(event.to == "shuffled" for _, one in played for event in one.events)
    found: list[Witness | None] = []
    if claim.observer in ("shuffled", "server") and shuffled:
        found += [shuffled_event(subject, claim, *pair, seed) for pair in pairs]
        needs_game = False
    elif claim.observer == "server" and claim.delta == 0:
        found += [transcript_witness(one, *pairs[place], claim.observer) for place, one in played]
        needs_game = False
    elif claim.observer == "server":
        found += [first_release_event(one, claim, *pairs[place]) for place, one in played]
        # One number from one release: a tail event is the best there is (monotone likelihood ratio), so a game adds nothing.
        needs_game = any(len(one.events) != 1 or one.events[0].query.size > (one.trials or 1) for _, one in played)
    else:
        if subject.vectorised:
            found += [action_event(subject, *pair, claim, seed) for pair in pairs]
        needs_game = True
    real = [witness for witness in found if witness is not None]
    return max(real, key=lambda w: w.epsilon, default=None), needs_game


def _take(result: Attack, witness: Witness, claim: Claim, played: Sequence[tuple[int, Replayed]]) -> None:
    runs = sum(one.trials or 1 for _, one in played)
    confidence = float(witness.facts.get("confidence", 1.0))
    result.lower = Lower(float_down(witness.epsilon), confidence, witness.method, runs)
    result.exact = witness.epsilon
    result.refuted = witness.epsilon > claim.epsilon
    result.witness = witness.facts if result.refuted else None
    if result.refuted:
        result.reason = _why(witness, claim)


def _why(witness: Witness, claim: Claim) -> str:
    """One sentence for a person."""
    figure, allowed = f"{float(witness.epsilon):.9g}", f"{float(claim.epsilon):.9g}"
    if witness.facts["kind"] == "transcript":
        return f"one record changed: a transcript of positive probability has loss {figure}, exactly; the claim allows {allowed}"
    where = f" in {witness.facts['batch']} of {witness.facts['n']} reports" if "batch" in witness.facts else ""
    return (
        f"the event “{witness.facts['event']}”{where} has exact probabilities that need ε ≥ {figure}; the claim allows {allowed}"
    )


def _game_attack(
    subject: Subject,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    confidence: float,
    samples: int,
    seed: int,
    *,
    by_likelihood: bool,
) -> Attack:
    """The game on the most promising pair, chosen on runs of its own; stages escalate while a refutation is in reach."""
    pair = _best_pair(subject, claim, pairs, samples, seed, by_likelihood)
    epsilon, delta = float(claim.epsilon), float(claim.delta)

    def game(stage: int) -> Outcome:
        size = samples * 4**stage
        return _one_game(subject, pair, size, child(seed, 1, stage), delta, 1 - confidence, by_likelihood)

    stage, first = 0, game(0)
    outcome, level = first, first.at(REFUTE / STAGES)
    while level <= epsilon < outcome.at(0.05) and stage + 1 < STAGES:
        stage += 1
        outcome = game(stage)
        level = outcome.at(REFUTE / STAGES)
    size = samples * 4**stage
    refuted = level > epsilon
    kind = "likelihood ratio" if by_likelihood else "learned score"
    lower = Lower(_down(first.epsilon), confidence, f"guessing game, {kind}, {first.rule.form}", samples)
    result = Attack(lower, refuted, detectable=_down(detectable(first.guesses, epsilon, delta, REFUTE / STAGES), 4))
    if refuted:
        lower_level = Lower(_down(level), 1 - REFUTE, lower.method, size)
        result.level = lower_level.epsilon
        result.witness = {
            "kind": "statistics", "observer": claim.observer, "data": describe(pair[0]), "neighbour": describe(pair[1]),
            "epsilon": lower_level.epsilon, "confidence": lower_level.confidence, "samples": size,
            "right": outcome.guesses.right, "wrong": outcome.guesses.wrong, "runs": outcome.guesses.n,
        }  # fmt: skip
        result.reason = f"the lower bound {lower_level.epsilon:.4g} at confidence 1−10^-6 exceeds {epsilon:.6g}"
    return result


def _down(value: float, places: int = 6) -> float:
    return float(np.floor(value * 10**places) / 10**places)


def _best_pair(
    subject: Subject,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]],
    samples: int,
    seed: int,
    by_likelihood: bool,
) -> tuple[Any, Any]:
    """Small games on every pair; the winner is attacked with fresh runs."""
    if len(pairs) == 1:
        return pairs[0]
    size = max(2000, min(samples // 5, 20_000)) if subject.vectorised else max(200, min(samples // 20, 500))
    delta = float(claim.delta)
    results = [
        _one_game(subject, pair, size, child(seed, 2, place), delta, 0.05, by_likelihood).epsilon
        for place, pair in enumerate(pairs[: 12 if subject.vectorised else 6])
    ]
    return pairs[int(np.argmax(results))]


def _one_game(
    subject: Subject,
    pair: tuple[Any, Any],
    samples: int,
    seed: int,
    delta: float,
    alpha: float,
    by_likelihood: bool,
) -> Outcome:
    """2·samples runs, a fair coin each."""
    rng = np.random.default_rng([seed, 5])
    coins = rng.random(2 * samples) < 0.5
    counts = int(coins.sum()), int((~coins).sum())
    trained = int(TRAINING * len(coins))
    if by_likelihood:
        ones = likelihood_scores(subject, pair[0], pair[1], counts[0], child(seed, 1))
        zeros = -likelihood_scores(subject, pair[1], pair[0], counts[1], child(seed, 0))
        scores = np.empty(len(coins))
        scores[coins], scores[~coins] = ones, zeros
        return play_game([scores], coins, delta, alpha, trained=trained)
    rows = [
        returned_values(subject, pair[0], counts[0], child(seed, 1)),
        returned_values(subject, pair[1], counts[1], child(seed, 0)),
    ]
    width = max(part.shape[1] for part in rows)
    rows = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in rows]
    table = np.empty((len(coins), width))
    table[coins], table[~coins] = rows
    table = finite(table)
    table = table[:, (table != table[:1]).any(axis=0)]  # constant in all runs on both data sets: says nothing
    half = trained // 2
    candidates = [score(table[half:]) for score in learn_scores(table[:half], coins[:half])]
    return play_game(candidates, coins[half:], delta, alpha, trained=trained - half)
