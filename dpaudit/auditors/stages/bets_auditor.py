"""The e-process: bets against the claim, which may be looked at after every run, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpaudit.auditors.games.bets.betting import PILOT, Betting, bet_until, detectable
from dpaudit.auditors.games.play import best_pair
from dpaudit.auditors.interface import Attack, Case, Pair, Replays
from dpaudit.auditors.runs.transcripts import Trials, child
from dpaudit.auditors.stages.exact_evidence import sees_all, small_batches, veiled
from dpaudit.auditors.stages.statistical_witness import returned_pairs, round_down, score_name, statistics_witness
from dpaudit.claims import Lower, float_up

SHARE = 10  # a claim that is proven is bet against with a tenth of the runs, to check the proof


@dataclass(frozen=True)
class JointBets:
    """First of all where an audit is sequential: with the likelihood ratio of all releases, if this observer sees them."""

    name: str = "bets on the joint view"

    def supports(self, case: Case, known: Attack) -> bool:
        return case.sequential and case.subject.grey and not known.replay_void

    def attack(self, case: Case, known: Attack) -> Attack:
        samples = case.samples if case.search else max(100, case.samples // SHARE)
        bets = bet_attack(case, case.pairs, samples, by_likelihood=_sees_likelihood(case, known.replays))
        return replace(bets, findings=known.findings, observed=known.observed, replays=known.replays)


@dataclass(frozen=True)
class ReturnedBets:
    """For black boxes, and where replay is void: bets on what is returned, with a score that is learned."""

    name: str = "bets on what is returned"

    def supports(self, case: Case, known: Attack) -> bool:
        return case.sequential and (not case.subject.grey or known.replay_void)

    def attack(self, case: Case, known: Attack) -> Attack:
        bets = bet_attack(case, returned_pairs(case), case.samples, by_likelihood=False)
        return replace(bets, findings=known.findings, observed=known.observed)


def bet_attack(case: Case, pairs: Sequence[Pair], samples: int, *, by_likelihood: bool) -> Attack:
    """The e-process on the most promising pair, chosen on runs of its own."""
    pilot = min(samples, PILOT)
    screened = best_pair(case.subject, case.claim, pairs, pilot, case.seed, by_likelihood, case.engine)
    trials = Trials(case.subject, screened.pair, child(case.seed, 3), by_likelihood, case.claim.observer)
    runs = 2 * samples
    bets = bet_until(trials, case.claim, runs, alpha=case.game_error, confidence=case.confidence, engine=case.engine)
    method = f"e-process, {score_name(by_likelihood)}, valid at any time{screened.told()}"
    lower = Lower(round_down(bets.lower), case.confidence, method, -(-bets.runs // 2))
    epsilon, delta = float(case.claim.epsilon), float(case.claim.delta)
    least = detectable(bets, epsilon, delta, runs, case.game_error) if screened.all and not bets.interrupted else None
    known = Attack(
        lower, detectable=None if least is None else round_down(least, 4), interrupted=bets.interrupted, losses=bets.losses
    )
    if bets.flagged:
        return _refuted(case, known, pairs, trials, bets, runs)
    if bets.interrupted:
        reason = f"interrupted after {bets.runs:,} of {runs:,} draws; the lower bound holds as it stands"
        return replace(known, reason=reason)
    left = runs - bets.runs if case.late else 0
    return replace(known, untried=[f"{left:,} of {runs:,} draws"]) if left else known


def _refuted(case: Case, known: Attack, pairs: Sequence[Pair], trials: Trials, bets: Betting, runs: int) -> Attack:
    power = bets.log_evidence / np.log(10)
    figures = {"draws": bets.runs, "runs": runs, "log10_evidence": round_down(power, 4), "confidence": 1 - case.error}
    return replace(
        known, refuted=True, witness=statistics_witness(case, "sequential", trials, pairs, figures),
        level=float(np.nextafter(float_up(case.claim.epsilon), np.inf)),  # more than the claim, at least
        reason=f"after {bets.runs:,} draws the evidence against the claim is 10^{round_down(power, 2):g} to 1",
    )  # fmt: skip


def _sees_likelihood(case: Case, replays: Replays) -> bool:
    """Is the exact likelihood ratio of all releases this observer's to compute, and can every report be drawn for it?"""
    some = any(replayed.events for _, replayed in replays)
    mixed = any(event.to == "shuffled" for _, replayed in replays for event in replayed.events)
    drawable = not mixed or small_batches(case.subject, replays)
    return some and sees_all(case.claim, replays) and not veiled(replays) and drawable
