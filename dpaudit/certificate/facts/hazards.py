"""The privacy hazards of NIST SP 800-226, "Guidelines for Evaluating Differential Privacy Guarantees" (March 2025).

Each is met, not applicable or not assessed, for a reason that is read off the evidence. What dpaudit cannot see is not assessed.
Sections are those of the publication (2: the guarantee, 3: algorithms, 4: deployment); the titles are short forms of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpaudit.claims import Claim, Verdict, show
from dpaudit.claims.decimals import at_least

MET, NOT_APPLICABLE, NOT_ASSESSED = "met", "not applicable", "not assessed"
Answer = tuple[str, str]


@dataclass(frozen=True)
class HazardFacts:
    """The facts that hazards are judged by."""

    claim: Claim
    model: str
    relation: str
    records: int | None
    path: str  # "single" by a plan, or "enforced" by a budget
    verdict: Verdict | None  # of an audit
    ledger: bool  # was a deployment's ledger read?
    mechanisms: tuple[str, ...]
    releases: int
    all_proven: bool
    training: bool = False  # with Opacus, whose steps were checked while it ran


@dataclass(frozen=True)
class Hazard:
    id: str
    section: str
    title: str
    judge: Callable[[HazardFacts], Answer]


def _parameters(facts: HazardFacts) -> Answer:
    return MET, f"{facts.claim} is stated as exact numbers, and proven"


def _small_enough(facts: HazardFacts) -> Answer:
    return NOT_ASSESSED, f"whether ε={show(facts.claim.epsilon)} is small enough for its use is a decision of people"


def _delta(facts: HazardFacts) -> Answer:
    if not facts.claim.delta:
        return NOT_APPLICABLE, "δ = 0: pure differential privacy"
    if facts.records is None:
        return NOT_ASSESSED, "the number of records is not known, so δ cannot be compared with it"
    if facts.claim.delta * facts.records < 1:
        return MET, f"δ = {show(facts.claim.delta)} is below 1/n for the n = {facts.records} records known"
    return (
        NOT_ASSESSED,
        f"δ = {show(facts.claim.delta)} is not below 1/n for n = {facts.records} records; nobody justified it here",
    )


def _unit(facts: HazardFacts) -> Answer:
    return MET, f"neighbours are defined: {facts.relation}"


def _persons(facts: HazardFacts) -> Answer:
    return NOT_ASSESSED, "dpaudit protects records; how many of them one person has is not in the evidence"


def _composition(facts: HazardFacts) -> Answer:
    what = "every release in the ledger" if facts.ledger else "every release of a run"
    return MET, f"{what} is counted, {facts.releases} in all; a door with the budget refuses more"


def _other_releases(facts: HazardFacts) -> Answer:
    return NOT_ASSESSED, "data about the same people that was published elsewhere, or past the door, is not in the evidence"


def _sensitivity(facts: HazardFacts) -> Answer:
    if facts.all_proven:
        return MET, "for each release the bound on one record's influence is proven by the trace of sealed data"
    if facts.training:
        return MET, "gradients are clipped: recomputed in every batch while it ran, not proven"
    return NOT_ASSESSED, "some sensitivities are declared only"


def _bias(facts: HazardFacts) -> Answer:
    return NOT_ASSESSED, "accuracy, and whom the noise harms most, is not part of a privacy proof"


def _query_model(facts: HazardFacts) -> Answer:
    if facts.path == "single":
        return MET, "noise and sensitivity of every release are fixed by a plan; only what they ask may look at earlier ones"
    return MET, "later releases may look at earlier ones; the budget bounds every path"


def _threat_model(facts: HazardFacts) -> Answer:
    return MET, f"{facts.model} model; who is trusted stands among the assumptions"


def _correct(facts: HazardFacts) -> Answer:
    if facts.training:
        return NOT_ASSESSED, "noise, clipping and sampling were checked while it ran, not proven"
    if facts.verdict is None:
        return NOT_ASSESSED, "the code was not audited; certify the ledger together with its subject"
    return MET, f"the running code was attacked: ε ≥ {at_least(facts.verdict.lower.epsilon)} was shown, no more than claimed"


def _floats(facts: HazardFacts) -> Answer:
    if facts.training:
        return NOT_ASSESSED, "Opacus draws its noise in floating point; what its low bits show was not looked at"
    return MET, "noise is drawn exactly, on a grid of integers: " + ", ".join(facts.mechanisms)


def _generator(facts: HazardFacts) -> Answer:
    if facts.training:
        return NOT_ASSESSED, "the generator is torch's; whether it was seeded, or secure_mode on, is not recorded"
    if facts.ledger:
        return MET, "a deployment's ledger takes noise from a cryptographic generator only"
    return NOT_ASSESSED, "no deployment was seen; a live door uses a cryptographic generator"


def _side_channels(facts: HazardFacts) -> Answer:
    return NOT_ASSESSED, "time, memory and errors of the deployment were not measured"


def _security(facts: HazardFacts) -> Answer:
    return NOT_ASSESSED, "storage and access to the data before the door are outside the evidence"


def _collection(facts: HazardFacts) -> Answer:
    if facts.model == "local":
        return MET, "local model: data leaves the client with noise only"
    if facts.model == "shuffled":
        return MET, "data leaves the client with noise; the shuffler is trusted with its order only"
    return NOT_ASSESSED, "central model: raw data is collected, and how that is protected is outside the evidence"


HAZARDS = (
    Hazard("parameters", "2", "privacy parameters are stated and kept", _parameters),
    Hazard("epsilon", "2", "ε is small enough", _small_enough),
    Hazard("delta", "2", "δ allows rare, total failure", _delta),
    Hazard("unit", "2.4", "neighbouring data sets are defined", _unit),
    Hazard("persons", "2.4", "the unit of privacy is a person", _persons),
    Hazard("composition", "2", "several releases add up", _composition),
    Hazard("other-releases", "2", "private and other releases are mixed", _other_releases),
    Hazard("sensitivity", "3", "one record's influence is bounded", _sensitivity),
    Hazard("bias", "3", "noise and clipping bias results", _bias),
    Hazard("query-model", "4", "queries are chosen adaptively", _query_model),
    Hazard("threat-model", "4", "trust is stated", _threat_model),
    Hazard("implementation", "4", "code does what was proven", _correct),
    Hazard("floating-point", "4", "floating-point noise leaks", _floats),
    Hazard("generator", "4", "random numbers can be foretold", _generator),
    Hazard("side-channels", "4", "time and other side channels", _side_channels),
    Hazard("security", "4.4", "data security and access control", _security),
    Hazard("collection", "4", "data is exposed when collected", _collection),
)


def judge_hazards(facts: HazardFacts) -> list[dict[str, Any]]:
    """All hazards, in the order of the publication."""
    judgements = []
    for hazard in HAZARDS:
        status, reason = hazard.judge(facts)
        judgements.append({"id": hazard.id, "section": hazard.section, "title": hazard.title, "status": status, "reason": reason})
    return judgements
