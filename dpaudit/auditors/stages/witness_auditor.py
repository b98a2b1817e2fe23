"""Exact witnesses: what a search shows is computed again before it counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dpaudit.auditors.events.transcript_witness import Witness, why
from dpaudit.auditors.interface import Attack, Case
from dpaudit.auditors.pairs.pair_names import named_pair
from dpaudit.auditors.recomputed_evidence import computed_again
from dpaudit.auditors.stages.exact_evidence import ExactEvidence
from dpaudit.claims import Finding, Lower, float_down


@dataclass(frozen=True)
class WitnessAuditor:
    """One kind of exact evidence: ``fits`` says for which observers and claims, ``search`` looks for it."""

    name: str
    fits: Callable[[Case, Attack], bool]
    search: Callable[[Case, Attack], ExactEvidence]

    def supports(self, case: Case, known: Attack) -> bool:
        open_question = not known.refuted and not known.replay_void
        return case.subject.grey and open_question and self.fits(case, known)

    def attack(self, case: Case, known: Attack) -> Attack:
        evidence = self.search(case, known)
        doubt = None if evidence.witness is None else _check_again(case, evidence.witness)
        if doubt is not None:
            return replace(known, findings=[*known.findings, doubt])
        shown = _attack_by(case, known, evidence)
        weaker = not shown.refuted and shown.lower.epsilon < known.lower.epsilon
        return known if case.sequential and weaker else shown


def _check_again(case: Case, witness: Witness) -> Finding | None:
    """None if the witness stands when it is computed again; else why all that replay says is void."""
    if witness.epsilon <= case.claim.epsilon and "batch" in witness.facts:
        return None
    if "entry" in witness.facts:  # draws have tested it, and randomness of its own would have shown in them
        return None
    pair = named_pair(case.subject.neighbours, witness.facts["pair"])
    again = computed_again(case.subject, case.claim, pair, witness.facts, case.seed)
    if isinstance(again, Finding):
        return again
    if again is None or again.epsilon != witness.epsilon:
        return Finding("DPA002", "what a transcript shows is not seen again when it is repeated", case.subject.name)
    return None


def _attack_by(case: Case, known: Attack, evidence: ExactEvidence) -> Attack:
    """What is known by this evidence alone. Where it is not the strongest, others might show what it does not."""
    runs = sum(replayed.trials or 1 for _, replayed in known.replays)
    nothing = replace(
        known, lower=Lower(0.0, 1.0, "no exact event shows a loss", runs), game=evidence.game,
        detectable=float(case.claim.epsilon) if evidence.strongest and known.replays else None,
    )  # fmt: skip
    witness = evidence.witness
    if witness is None:
        return nothing
    lower = Lower(float_down(witness.shown), float(witness.facts.get("confidence", 1.0)), witness.method, runs)
    shown = replace(nothing, lower=lower, exact=witness.epsilon if witness.tested is None else None)
    if witness.shown <= case.claim.epsilon:
        return shown
    return replace(shown, refuted=True, level=lower.epsilon, witness=witness.facts, reason=why(witness, case.claim))
