"""The auditors in their order: what replay says, exact witnesses, then statistics, then floating point. A new one is a row."""

from __future__ import annotations

from dpaudit.auditors.interface import Auditor
from dpaudit.auditors.stages import exact_evidence as exact
from dpaudit.auditors.stages.bets_auditor import JointBets, ReturnedBets
from dpaudit.auditors.stages.game_auditor import JointGame, ReturnedGame
from dpaudit.auditors.stages.porosity_auditor import PorosityAuditor
from dpaudit.auditors.stages.replay_auditor import ReplayAuditor
from dpaudit.auditors.stages.witness_auditor import WitnessAuditor

AUDITORS: tuple[Auditor, ...] = (
    ReplayAuditor(),
    JointBets(),
    WitnessAuditor("events of shuffled batches", exact.sees_batches, exact.search_batches),
    WitnessAuditor("events of public actions", exact.sees_actions, exact.search_actions),
    WitnessAuditor("events of releases", exact.allows_delta, exact.search_events),
    WitnessAuditor("transcripts", exact.sees_transcripts, exact.search_transcripts),
    JointGame(),
    ReturnedBets(),
    ReturnedGame(),
    PorosityAuditor(),
)
