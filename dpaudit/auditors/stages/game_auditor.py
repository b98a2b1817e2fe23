"""The guessing game: on what an observer of every release knows, or on what is returned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.auditors.games.guessing_game import Outcome
from dpaudit.auditors.games.play import Screened, best_pair, play_game
from dpaudit.auditors.games.power import detectable, times_as_many
from dpaudit.auditors.interface import REFUTE, Attack, Case, Pair
from dpaudit.auditors.runs.transcripts import Trials, child
from dpaudit.auditors.stages.statistical_witness import returned_pairs, round_down, score_name, statistics_witness
from dpaudit.auditors.wording import beating, not_yet_refuted
from dpaudit.claims import Lower
from dpaudit.claims.decimals import at_most

STAGES = 3  # sample sizes grow fourfold; the error is split over the stages


@dataclass(frozen=True)
class JointGame:
    """Where exact evidence leaves something to a game: on the pairs, and with the score, that it names."""

    name: str = "game on the joint view"

    def supports(self, case: Case, known: Attack) -> bool:
        return not case.sequential and known.game is not None and not known.refuted and not known.replay_void

    def attack(self, case: Case, known: Attack) -> Attack:
        assert known.game is not None  # else it is not supported
        game = game_attack(case, known.game.pairs, by_likelihood=known.game.by_likelihood)
        if game.refuted or game.lower.epsilon > known.lower.epsilon:
            return replace(game, findings=known.findings, observed=known.observed, replays=known.replays)
        return replace(known, detectable=game.detectable, losses=game.losses)


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


def game_attack(case: Case, pairs: Sequence[Pair], *, by_likelihood: bool) -> Attack:
    """The game on the most promising pair, chosen on runs of its own; stages escalate while a refutation is in reach."""
    screened = best_pair(case.subject, case.claim, pairs, case.samples, case.seed, by_likelihood, case.engine)
    first = _play(case, screened, 0, by_likelihood)
    last, stage = first, 0
    epsilon, delta = float(case.claim.epsilon), float(case.claim.delta)
    while last.level <= epsilon < last.outcome.at(0.05) and stage + 1 < STAGES:
        stage += 1
        last = _play(case, screened, stage, by_likelihood)
    outcome, share = first.outcome, case.error / STAGES
    method = f"guessing game, {score_name(by_likelihood)}, {outcome.strongest(1 - case.confidence).form}{screened.told()}"
    lower = Lower(round_down(outcome.epsilon), case.confidence, method, case.samples)
    best = outcome.strongest(share)
    least = detectable(best.guesses, epsilon, delta, best.share * share, best.form) if screened.all else None
    known = Attack(lower, detectable=None if least is None else round_down(least, 4), losses=last.outcome.losses)
    if last.level > epsilon:
        return _refuted(case, known, pairs, last)
    return replace(known, reason=_not_yet(case, known.lower, last)) if outcome.epsilon > epsilon else known


def _play(case: Case, screened: Screened, stage: int, by_likelihood: bool) -> _LastGame:
    trials = Trials(case.subject, screened.pair, child(case.seed, 1, stage), by_likelihood, case.claim.observer)
    samples = case.samples * 4**stage
    outcome = play_game(trials, samples, float(case.claim.delta), 1 - case.confidence, case.engine)
    return _LastGame(trials, samples, outcome, outcome.at(case.error / STAGES))


def _not_yet(case: Case, lower: Lower, game: _LastGame) -> str:
    """Why a bound above the claim does not refute it, and how many runs would do."""
    epsilon, delta, share = float(case.claim.epsilon), float(case.claim.delta), case.error / STAGES
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
    return replace(known, refuted=True, level=level, witness=witness, reason=reason)


def _power(error: float) -> str:
    return "10^-6" if math.isclose(error, REFUTE) else f"{error:.3g}"
