"""The privacy hazards of NIST SP 800-226, "Guidelines for Evaluating Differential Privacy Guarantees" (March 2025).

Each is met, not applicable or not assessed, for a reason that is read off the evidence. What dpaudit cannot see is not assessed.
Sections are those of the publication (2: the guarantee, 3: algorithms, 4: deployment); the titles are short forms of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpaudit.claims import Claim, Verdict, show

MET, NOT_APPLICABLE, NOT_ASSESSED = "met", "not applicable", "not assessed"
Answer = tuple[str, str]


@dataclass(frozen=True)
class Evidence:
    """The facts that hazards are judged by."""

    claim: Claim
    model: str
    relation: str
    records: int | None
    path: str  # "single", or "enforced" by a budget
    verdict: Verdict | None  # of an audit
    ledger: bool  # was a deployment's ledger read?
    mechanisms: tuple[str, ...]
    releases: int
    all_proven: bool


@dataclass(frozen=True)
class Hazard:
    id: str
    section: str
    title: str
    judge: Callable[[Evidence], Answer]


def _parameters(seen: Evidence) -> Answer:
    return MET, f"{seen.claim} is stated as exact numbers, and proven"


def _small_enough(seen: Evidence) -> Answer:
    return NOT_ASSESSED, f"whether ε={show(seen.claim.epsilon)} is small enough for its use is a decision of people"


def _delta(seen: Evidence) -> Answer:
    if not seen.claim.delta:
        return NOT_APPLICABLE, "δ = 0: pure differential privacy"
    if seen.records is None:
        return NOT_ASSESSED, "the number of records is not known, so δ cannot be compared with it"
    if seen.claim.delta * seen.records < 1:
        return MET, f"δ = {show(seen.claim.delta)} is below 1/n for the n = {seen.records} records known"
    return NOT_ASSESSED, f"δ = {show(seen.claim.delta)} is not below 1/n for n = {seen.records} records; nobody justified it here"


def _unit(seen: Evidence) -> Answer:
    return MET, f"neighbours are defined: {seen.relation}"


def _persons(seen: Evidence) -> Answer:
    return NOT_ASSESSED, "dpaudit protects records; how many of them one person has is not in the evidence"


def _composition(seen: Evidence) -> Answer:
    what = "every release in the ledger" if seen.ledger else "every release of a run"
    return MET, f"{what} is counted, {seen.releases} in all; a door with the budget refuses more"


def _other_releases(seen: Evidence) -> Answer:
    return NOT_ASSESSED, "data about the same people that was published elsewhere, or past the door, is not in the evidence"


def _sensitivity(seen: Evidence) -> Answer:
    if seen.all_proven:
        return MET, "for each release the bound on one record's influence is proven by the trace of sealed data"
    return NOT_ASSESSED, "some sensitivities are declared only"


def _bias(seen: Evidence) -> Answer:
    return NOT_ASSESSED, "accuracy, and whom the noise harms most, is not part of a privacy proof"


def _query_model(seen: Evidence) -> Answer:
    if seen.path == "single":
        return MET, "no release is chosen after looking at an earlier one"
    return MET, "later releases may look at earlier ones; the budget bounds every path"


def _threat_model(seen: Evidence) -> Answer:
    return MET, f"{seen.model} model; who is trusted stands among the assumptions"


def _correct(seen: Evidence) -> Answer:
    if seen.verdict is None:
        return NOT_ASSESSED, "the code was not audited; certify the ledger together with its subject"
    return MET, f"the running code was attacked: ε ≥ {seen.verdict.lower.epsilon:.4g} was shown, no more than claimed"


def _floats(seen: Evidence) -> Answer:
    return MET, "noise is drawn exactly, on a grid of integers: " + ", ".join(seen.mechanisms)


def _generator(seen: Evidence) -> Answer:
    if seen.ledger:
        return MET, "a deployment's ledger takes noise from a cryptographic generator only"
    return NOT_ASSESSED, "no deployment was seen; a live door uses a cryptographic generator"


def _side_channels(seen: Evidence) -> Answer:
    return NOT_ASSESSED, "time, memory and errors of the deployment were not measured"


def _security(seen: Evidence) -> Answer:
    return NOT_ASSESSED, "storage and access to the data before the door are outside the evidence"


def _collection(seen: Evidence) -> Answer:
    if seen.model == "local":
        return MET, "local model: data leaves the client with noise only"
    if seen.model == "shuffled":
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


def judged(evidence: Evidence) -> list[dict[str, Any]]:
    """All hazards, in the order of the publication."""
    found = []
    for hazard in HAZARDS:
        status, reason = hazard.judge(evidence)
        found.append({"id": hazard.id, "section": hazard.section, "title": hazard.title, "status": status, "reason": reason})
    return found
