"""A training's ledger in a certificate: what Opacus does in place of the door, and what was checked of it while it ran.

The recorder charges every step before its noise is drawn and enforces the budget. That gradients are clipped, noise has its
deviation and batches are Poisson samples is Opacus's doing: it is checked on the training itself, not proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.accountants.sampling.constant_steps import checks_of, is_training_step
from dpaudit.certificate.facts.evidence import LedgerEvidence, Opening
from dpaudit.claims import show
from dpaudit.ledger import Release

LEVEL = "checked"
MEANING = (
    "a training's ledger: every step was charged before its noise was drawn, and its budget is enforced; clipping, noise and "
    "sampling are Opacus's, checked while it ran, not proven"
)
RELATION = "zero-out"
ARITHMETIC, GENERATOR = "floating point, as Opacus draws it", "torch's, as Opacus was given it"
ASSUMPTIONS = {
    "opacus-as-checked": "Opacus clips, samples and adds noise in every step as its checks saw it do",
    "float-noise": "the low bits of noise that is drawn in floating point show nothing",
    "torch-generator": "the random numbers of torch's generator cannot be foretold: no fixed seed, secure_mode where it matters",
    "written-by-the-recorder": "the ledger's entries, and the names of the checks in it, were written by dpaudit's recorder",
}
NEEDED = ("noise", "clipping", "batch sizes", "inclusion", "shuffled epochs", "accumulation", "mixing")
HOW_TO_CHECK = "watch it with dpaudit.training.watched, and give record.close(watch.results()) what it found"


def is_training(releases: Sequence[Release]) -> bool:
    """Does the ledger hold steps of trainings, and nothing else?"""
    return bool(releases) and all(map(is_training_step, releases))


def doubts_of_training(ledger: LedgerEvidence) -> list[str]:
    """Why a training has no certificate, in words."""
    passed, failed = checks_of(ledger.releases)
    missing = [name for name in NEEDED if name not in passed and name not in failed]
    doubts = [] if ledger.kind == "deployment" else ["simulated ledger: its noise can be foretold from a seed"]
    doubts += [f"a check of the training failed: {name}" for name in failed]
    doubts += [f"not checked while the training ran: {', '.join(missing)}; {HOW_TO_CHECK}"] if missing else []
    return doubts + _doubts_of_budget(ledger.opening)


def _doubts_of_budget(opening: Opening | None) -> list[str]:
    if opening is None:
        return ["no budget: whether the steps that were made decided their number is not known; give recorded(…, budget=(ε, δ))"]
    if opening.charges_before:
        return [f"the budget was set after charge {opening.charges_before}: what is chosen afterwards promises nothing"]
    return []


def training_facts(releases: Sequence[Release]) -> dict[str, Any]:
    """Adjacency, sampling, clipping, steps and checks, as the ledger holds them; blocks of equal steps count together."""
    groups: dict[str, dict[str, Any]] = {}
    for release in releases:
        facts = {
            "sampling": release.extra["sample"], "clip": release.extra["clip"], "clipping": release.extra["clipping"],
            "accumulated": int(release.extra["accumulated"]), "noise": dict(release.parameters).get("sigma", ""),
            "sensitivity": show(release.sensitivity),
        }  # fmt: skip
        group = groups.setdefault(repr(facts), {**facts, "steps": 0})
        group["steps"] += release.count or 1
    passed, _ = checks_of(releases)
    return {"adjacency": releases[0].extra["adjacency"], "steps": list(groups.values()), "checked": passed}


def preconditions(release: Release) -> list[tuple[str, str]]:
    """(condition, by what it was checked): each holds as far as its check can see."""
    return [
        (f"no record moves the sum by more than {show(release.sensitivity)}", "clipping recomputed in every batch, and mixing"),
        ("Gaussian noise of this deviation, fresh in every step", "χ² of all noise that was added, and repeated numbers"),
        ("every record enters by a secret coin of its own, fresh each time", "batch sizes, inclusion, order of epochs"),
    ]
