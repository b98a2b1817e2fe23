"""A certificate for a person: the verdict first, then what is guaranteed, by whom, and what was and was not checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.claims import Claim, exact, float_down
from dpaudit.claims.audit_verdict import BY_PLAN, BY_WATCH, behind_door
from dpaudit.report.content.account import SEES
from dpaudit.report.document import Document, FactList, Heading, Section
from dpaudit.report.interface import Depth, Report
from dpaudit.report.rounding import at_least, at_most

Pairs = list[tuple[str, str]]


def certified_report(predicate: Mapping[str, Any], keyid: str, path: str, data: Mapping[str, Any]) -> Report:
    """After ``certify``."""

    def document(depth: Depth) -> Document:
        return _document(f"✓ {predicate['name']}: CERTIFIED, {path} written", predicate, [("signed", f"by key {keyid[:16]}…")])

    return Report(document, lambda: data)


def verified_report(answer: Mapping[str, Any], predicate: Mapping[str, Any]) -> Report:
    """After ``verify``. Its document raises KeyError, TypeError or ValueError where fields are missing or of another form."""

    def document(depth: Depth) -> Document:
        head, signer = (
            f"? {answer['file']}: whole, but NOT TRUSTED: anybody may have signed it",
            f"by key {answer['signer'][:16]}…",
        )
        about = ", which is not among the trusted keys; name the trusted one with --key PUB"
        if answer["trusted"]:
            head = f"✓ {answer['file']}: whole, and signed by a trusted key"
            about = f", which is trusted, on {predicate['issued']}"
        pairs = [("signed", signer + about), *(("checked", entry) for entry in answer["checked"])]
        pairs += [("skipped", entry) for entry in answer["not_checked"]]
        return _document(head, predicate, pairs, [("says", f"{predicate['name']} is {predicate['verdict']}")])

    return Report(document, lambda: answer)


def _document(head: str, predicate: Mapping[str, Any], after: Pairs, before: Pairs | None = None) -> Document:
    return Document("Certificate", [Section([Heading(head), FactList([*(before or []), *_content(predicate), *after])])])


def _content(predicate: Mapping[str, Any]) -> Pairs:
    guarantee, interval = predicate["guarantee"], predicate["guarantee"]["interval"]
    delta = "" if guarantee["delta"] == "0" else f", δ = {guarantee['delta']}"
    delta += ", ideal arithmetic" if "arithmetic" in guarantee else ""
    shown = (
        "; not attacked" if predicate["audit"] is None else f"; attacked: ε ≥ {at_least(float_down(exact(interval['lower'])))}"
    )
    door = "dp.live_certified opens it for this code, with this budget"
    if "training" in predicate:
        door = "the recorder's: the step that would exceed this budget is refused before its noise is drawn"
    elif predicate["door"] is None:
        door = "none: no running sum keeps this budget while it runs"
    elif predicate["audit"] is None:
        door = "the ledger's own, with this budget; its code is not part of the certificate (--subject)"
    hazards = [one["title"] for one in predicate["hazards"] if one["status"] == "not assessed"]
    total, observer = len(predicate["hazards"]), predicate["observer"]
    return [
        ("why", _why(predicate)),
        ("holds", f"ε ≤ {at_most(exact(guarantee['epsilon']))}{delta} for {predicate['unit']}{shown}"),
        ("against", f"{observer}: {SEES[observer]}; {predicate['trust_model']['model']} model"),
        ("door", door),
        *_training(predicate),
        ("level", f"{predicate['assurance']['level']}: {predicate['assurance']['meaning']}"),
        ("assumes", ", ".join(one["flag"] for one in predicate["assumptions"])),
        ("hazards", f"{total - len(hazards)} of {total} assessed (NIST SP 800-226); not: {', '.join(hazards)}"),
    ]


def _training(predicate: Mapping[str, Any]) -> Pairs:
    """Of a training: its neighbours, samples and clipping, and what was checked while it ran."""
    if "training" not in predicate:
        return []
    facts = predicate["training"]
    steps = [
        f"{group['steps']} steps on Poisson samples of rate {float(exact(group['sampling'])):.6g}, gradients clipped to "
        f"{group['clip']} ({group['clipping']}), noise of deviation {float(exact(group['noise'])):.6g}"
        for group in facts["steps"]
    ]
    return [("training", "; ".join(steps)), ("relation", facts["adjacency"]), ("seen", ", ".join(facts["checked"]))]


def _why(predicate: Mapping[str, Any]) -> str:
    """What the certificate rests on. A ledger may hold any number of calls: the door alone bounds them together."""
    audit, configuration = predicate["audit"], predicate["configuration"]
    if predicate["ledger"] is None and audit is not None and audit["upper"]["path"] == "single":
        return BY_PLAN if "plan" in configuration else BY_WATCH
    guarantee = predicate["guarantee"]
    if "training" in predicate:
        delta = guarantee["delta"]
        return f"recorded: budget ε={guarantee['epsilon']}, δ={delta} enforced at every step; checked while it ran, not proven"
    return behind_door(Claim(guarantee["epsilon"], guarantee["delta"], predicate["observer"]))
