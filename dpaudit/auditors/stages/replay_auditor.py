"""Replay before any attack: does a run repeat, do other data take its path, how far do queries move?"""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.auditors.interface import Attack, Case
from dpaudit.auditors.replay.replay_checks import check_by_replay
from dpaudit.auditors.replay.wild_replay import wild_replay
from dpaudit.claims import Lower


@dataclass(frozen=True)
class ReplayAuditor:
    """For subjects behind a door. It bounds nothing; it finds what makes later evidence void, and the runs that they read."""

    name: str = "replay"

    def supports(self, case: Case, known: Attack) -> bool:
        return case.subject.grey

    def attack(self, case: Case, known: Attack) -> Attack:
        checks = check_by_replay(case.subject, case.pairs, case.seed, case.far_generator)
        if not case.search and not checks.findings:  # it would be certified
            rare = wild_replay(case.subject, case.pairs, case.seed)
            checks.findings += [] if rare is None else [rare]
        lower = Lower(0.0, 1.0, "exact replay", 0)
        return Attack(lower, findings=checks.findings, observed=checks.observed, replays=checks.replays)
