"""Floating-point noise of a black box: does a low bit of its outputs tell neighbours apart?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpaudit.auditors.floats.float_runs import most_central
from dpaudit.auditors.floats.porosity import audit_porosity
from dpaudit.auditors.interface import Attack, Case


@dataclass(frozen=True)
class PorosityAuditor:
    """For subjects that draw their own noise; behind a door it lies on a grid."""

    name: str = "porosity"

    def supports(self, case: Case, known: Attack) -> bool:
        return not case.subject.grey

    def attack(self, case: Case, known: Attack) -> Attack:
        pair = most_central(case.subject, case.pairs, case.seed)
        finding = audit_porosity(case.subject, pair, seed=case.seed, claim=case.claim)
        return known if finding is None else replace(known, findings=[*known.findings, finding])
