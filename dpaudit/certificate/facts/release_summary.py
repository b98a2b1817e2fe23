"""The releases of a certificate: mechanisms, sensitivities and theorems, equal ones counted. No values, records or clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.accountants.readings.release_line import AMPLIFIED, BLANKET, CLONES, SAME
from dpaudit.accountants.sampling.constant_steps import is_training_step
from dpaudit.certificate.facts import training_facts
from dpaudit.certificate.facts.configuration import plain
from dpaudit.claims import Bound, Line, show
from dpaudit.ledger import Release

ADAPTIVE = "adaptive composition: holds when each release is chosen after looking at those before it"
FIXED = "all noise and sensitivities fixed in advance, only queries adaptive"


def release_groups(
    releases: Sequence[Release], lines: Sequence[Line], observed: Mapping[str, Fraction] | None
) -> list[dict[str, Any]]:
    """Releases that differ in nothing but name, time and cohort are one entry with their number.

    ``observed``: the largest move of each release that an audit saw, on data that it made up; None where there was no audit.
    """
    groups: dict[str, dict[str, Any]] = {}
    for release, line in zip(releases, lines, strict=True):
        move = None if observed is None else observed.get(release.name)
        entry = {
            "mechanism": release.mechanism, "parameters": dict(release.parameters), "kind": release.kind, "to": release.to,
            "sensitivity": {
                "declared": show(release.sensitivity), "proven": None if release.derived is None else show(release.derived),
                "observed": None if move is None else show(move),
            },
            "epsilon0": show(line.epsilon0), "epsilon": show(line.epsilon), "delta": show(line.delta),
            "theorem": line.theorem, "in_domain": line.in_domain, "preconditions": _preconditions(release, line),
        }  # fmt: skip
        group = groups.setdefault(repr(entry), {"first": release.name, "count": 0, **entry})
        group["count"] += 1
        group["last"] = release.name
        reports = plain(line.n)
        group["reports"] = reports if "reports" not in group else min(group["reports"], reports, key=int)
    return list(groups.values())


def _preconditions(release: Release, line: Line) -> list[dict[str, str]]:
    """What the theorem of this release needs, and who checked it. Only traces and the door's own rules count as checked."""
    if is_training_step(release):
        return [_met(condition, by) for condition, by in training_facts.preconditions(release)]
    proven = release.derived is not None
    sensitivity = f"sensitivity {show(release.derived if release.derived is not None else release.sensitivity)}"
    preconditions = [
        _met(sensitivity, "trace of the sealed data") if proven else _assumed(sensitivity),
        _met("noise of exactly this law, on a grid", "exact sampler behind the door"),
    ]
    if release.sampling is not None:
        alone = "the value is made of one sample alone, which gives one release"
        preconditions += [
            _met("every record enters by a secret coin of its own, fresh each time", "coins tossed behind the door"),
            _met(alone, "trace of the sealed data") if proven else _assumed(alone),
        ]
    if release.leaves is not None:
        preconditions.append(
            _met(f"one record is in at most {release.count or 1} noisy sums of the stream", "binary tree behind the door")
        )
    if line.theorem in AMPLIFIED.values():
        preconditions += [
            _met("one report per record", "the door refuses others") if proven else _assumed("one report per record"),
            _met("no domain to leave: holds for every ε0 and n", "exact bound, not the closed formula"),
            _assumed("the shuffler keeps the order and senders secret"),
            _assumed("the other clients send honest reports"),
        ]
    if line.theorem in AMPLIFIED.values() and line.theorem != CLONES:
        preconditions.append(_met("one randomiser for all reports of the batch", "one call of the door, one noise"))
    if line.theorem in (BLANKET, SAME):
        preconditions.append(_met("all values in one interval", "trace") if proven else _assumed("all values in one interval"))
    return preconditions


def _met(condition: str, by: str) -> dict[str, str]:
    return {"condition": condition, "status": "checked", "by": by}


def _assumed(condition: str) -> dict[str, str]:
    return {"condition": condition, "status": "assumed", "by": ""}


def theorems(bound: Bound, *, path: str, parallel: bool) -> dict[str, Any]:
    """Composition and amplification, with their checked preconditions. ``path``: "single" by a plan, "enforced" by a budget."""
    conditions = [
        _met(FIXED, "its plan: the door refuses any other release")
        if path == "single"
        else _met("a budget fixed before the first release, kept on every path", "the door refuses what would exceed it"),
        _met("every release is counted", "it left by the door, or it did not leave"),
    ]
    if parallel:
        conditions.append(_met("cohorts are disjoint, and decided by earlier releases only", "trace of the sealed data"))
    amplified = sorted({line.theorem for line in bound.lines if line.theorem in AMPLIFIED.values()})
    return {
        "composition": {"method": bound.method, "rule": FIXED if path == "single" else ADAPTIVE, "preconditions": conditions},
        "amplification": [
            {"theorem": name, "in_domain": all(line.in_domain for line in bound.lines if line.theorem == name)}
            for name in amplified
        ],
    }  # fmt: skip
