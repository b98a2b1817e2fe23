"""The guessing game: on what an observer of every release knows, or on what is returned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpaudit.auditors.games.guessing_game import Outcome
from dpaudit.auditors.games.play import Screened, best_pair, play_game
from dpaudit.auditors.games.power import detectable, times_as_many
from dpaudit.auditors.interface import REFUTE, Attack, Case, Pair, Replays
from dpaudit.auditors.runs.time_over import TimeOver
from dpaudit.auditors.runs.transcripts import Trials, child
from dpaudit.auditors.stages.statistical_witness import returned_pairs, round_down, score_name, statistics_witness
from dpaudit.auditors.wording import beating, not_yet_refuted
from dpaudit.claims import Lower
from dpaudit.claims.decimals import at_most

SANITY = 10  # of the runs of a game against what is proven, one is played
SCREENED = 6  # pairs that are screened by runs which are calls; replay has seen the others
STAGES = 3  # sample sizes grow fourfold; the error is split over the stages


@dataclass(frozen=True)
class JointGame:
    """Where exact evidence leaves something to a game: on the pairs, and with the score, that it names."""

    name: str = "game on the joint view"

    def supports(self, case: Case, known: Attack) -> bool:
        return not case.sequential and known.game is not None and not known.refuted and not known.replay_void

    def attack(self, case: Case, known: Attack) -> Attack:
        assert known.game is not None  # else it is not supported
        if not case.search and not case.subject.vectorised:  # proven: a game that is played run by run only checks the proof
            case = replace(case, samples=max(100, case.samples // SANITY))
        game = game_attack(case, known.game.pairs, by_likelihood=known.game.by_likelihood, replays=known.replays)
        if game.refuted or game.lower.epsilon > known.lower.epsilon or not known.lower.samples:  # 0 runs show nothing
            return replace(game, findings=known.findings, observed=known.observed, replays=known.replays)
        return replace(known, detectable=game.detectable, losses=game.losses, untried=game.untried, played=game.played)


@dataclass(frozen=True)
class ReturnedGame:
    """For black boxes, and where replay is void: a game on what is returned, with a score that is learned."""

    name: str = "game on what is returned"

    def supports(self, case: Case, known: Attack) -> bool:
        return not case.sequential and (not case.subject.grey or known.replay_void)

    def attack(self, case: Case, known: Attack) -> Attack:
        game = game_attack(case, returned_pairs(case), by_likelihood=False)
        return replace(game, findings=known.findings, observed=known.observed)


@dataclass(frozen=True)
class _LastGame:
    """The game that decides, after as many stages as a refutation was in reach for."""

    trials: Trials
    samples: int
    outcome: Outcome
    level: float  # the ε that it shows at the refuting confidence


def game_attack(case: Case, pairs: Sequence[Pair], *, by_likelihood: bool, replays: Replays = ()) -> Attack:
    """The game on the most promising pair, chosen on runs of its own; stages escalate while a refutation is in reach and there
    is time."""
    one_by_one = by_likelihood and not case.subject.vectorised
    tried = _furthest(pairs, replays) if one_by_one else pairs
    screening = max(100, case.samples // 4) if one_by_one else case.samples
    screened = best_pair(case.subject, case.claim, tried, screening, case.seed, by_likelihood, case.engine)
    first = _play(case, screened, 0, by_likelihood)
    last, stage = first, 0
    epsilon, delta = float(case.claim.epsilon), float(case.claim.delta)
    while last.level <= epsilon < last.outcome.at(0.05) and stage + 1 < STAGES and not case.late:
        try:
            last = _play(case, screened, stage + 1, by_likelihood)
        except TimeOver:
            break
        stage += 1
    outcome, share = first.outcome, case.game_error / STAGES
    method = f"guessing game, {score_name(by_likelihood)}, {outcome.strongest(1 - case.confidence).form}{screened.told()}"
    lower = Lower(round_down(outcome.epsilon), case.confidence, method, case.samples)
    best = outcome.strongest(share)
    least = detectable(best.guesses, epsilon, delta, best.share * share, best.form) if screened.all else None
    shown = None if least is None else round_down(least, 4)
    known = Attack(lower, detectable=shown, losses=last.outcome.losses, played=(first.outcome, last.outcome))
    if last.level > epsilon:
        return _refuted(case, known, pairs, last)
    if outcome.epsilon > epsilon:
        known = replace(known, reason=_not_yet(case, known.lower, last))
    in_reach = epsilon < last.outcome.at(0.05) and stage + 1 < STAGES
    return replace(known, untried=[f"a game of {last.samples * 4:,} runs on each side"]) if in_reach else known


def _furthest(pairs: Sequence[Pair], replays: Replays) -> Sequence[Pair]:
    """The pairs whose replayed runs lose most, by exact losses: each costs two calls a run to try further."""
    losses: dict[int, list[float]] = {}
    for place, replayed in replays:
        losses.setdefault(place, []).append(float(np.abs(replayed.losses()).mean()))
    if len(pairs) <= SCREENED or len(losses) < len(pairs):
        return pairs
    order = sorted(range(len(pairs)), key=lambda place: -float(np.mean(losses[place])))
    return [pairs[place] for place in sorted(order[:SCREENED])]


def _play(case: Case, screened: Screened, stage: int, by_likelihood: bool) -> _LastGame:
    trials = Trials(case.subject, screened.pair, child(case.seed, 1, stage), by_likelihood, case.claim.observer)
    samples = case.samples * 4**stage
    outcome = play_game(trials, samples, float(case.claim.delta), 1 - case.confidence, case.engine)
    return _LastGame(trials, samples, outcome, outcome.at(case.game_error / STAGES))


def _not_yet(case: Case, lower: Lower, game: _LastGame) -> str:
    """Why a bound above the claim does not refute it, and how many runs would do."""
    epsilon, delta, share = float(case.claim.epsilon), float(case.claim.delta), case.game_error / STAGES
    best = game.outcome.strongest(share)
    times = times_as_many(best.guesses, epsilon, delta, best.share * share, best.form)
    enough = None if times is None or game.outcome.epsilon <= epsilon else math.ceil(times * game.samples)
    return not_yet_refuted(lower, game.level, _power(case.error), game.samples, enough)


def _refuted(case: Case, known: Attack, pairs: Sequence[Pair], game: _LastGame) -> Attack:
    guesses, level = game.outcome.guesses, round_down(game.level)
    figures = {
        "epsilon": level, "confidence": 1 - case.error, "samples": game.samples,
        "right": guesses.right, "wrong": guesses.wrong, "runs": guesses.n,
    }  # fmt: skip
    shown = beating(Fraction(game.level), case.claim.epsilon)
    reason = f"the lower bound {shown}at confidence 1−{_power(case.error)} exceeds {at_most(case.claim.epsilon)}"
    witness = statistics_witness(case, "statistics", game.trials, pairs, figures)
    lower = known.lower  # of the first game; a longer one may show more, and more surely
    if level > lower.epsilon:
        lower = Lower(level, 1 - case.error, lower.method, game.samples)
    return replace(known, lower=lower, refuted=True, level=level, witness=witness, reason=reason)


def _power(error: float) -> str:
    return "10^-6" if math.isclose(error, REFUTE) else f"{error:.3g}"
