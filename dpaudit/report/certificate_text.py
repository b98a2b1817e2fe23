"""A certificate for a person: the verdict first, then what is guaranteed, by whom, and what was and was not checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.claims import exact
from dpaudit.claims.decimals import number
from dpaudit.report.text import SEES, wrapped


def certified_text(predicate: Mapping[str, Any], keyid: str, path: str) -> str:
    """After ``certify``."""
    lines = [f"✓ {predicate['name']}: CERTIFIED, {path} written", *_content(predicate)]
    lines += wrapped("signed", f"by key {keyid[:16]}…")
    return "\n".join(lines)


def verified_text(found: Mapping[str, Any], predicate: Mapping[str, Any]) -> str:
    """After ``verify``."""
    if found["trusted"]:
        head = f"✓ {found['file']}: whole, and signed by a trusted key"
        signer = f"by key {found['signer'][:16]}…, which is trusted, on {predicate['issued']}"
    else:
        head = f"? {found['file']}: whole, but NOT TRUSTED: anybody may have signed it"
        signer = f"by key {found['signer'][:16]}…, which is not among the trusted keys; name the trusted one with --key PUB"
    lines = [head, *wrapped("says", f"{predicate['name']} is {predicate['verdict']}"), *_content(predicate)]
    lines += wrapped("signed", signer)
    for title, entries in (("checked", found["checked"]), ("skipped", found["not_checked"])):
        for entry in entries:
            lines += wrapped(title, entry)
    return "\n".join(lines)


def _content(predicate: Mapping[str, Any]) -> list[str]:
    guarantee, interval = predicate["guarantee"], predicate["guarantee"]["interval"]
    delta = "" if guarantee["delta"] == "0" else f", δ = {guarantee['delta']}"
    shown = "; not attacked" if predicate["audit"] is None else f"; attacked: ε ≥ {interval['lower']}"
    lines = wrapped("holds", f"ε ≤ {number(exact(guarantee['epsilon']))}{delta} for {predicate['unit']}{shown}")
    lines += wrapped(
        "against", f"{predicate['observer']}: {SEES[predicate['observer']]}; {predicate['trust_model']['model']} model"
    )
    door = "dp.live_certified opens it for this code, with this budget"
    if predicate["door"] is None:
        door = "none: no running sum keeps this budget while it runs"
    elif predicate["audit"] is None:
        door = "the ledger's own, with this budget; its code is not part of the certificate (--subject)"
    lines += wrapped("door", door)
    lines += wrapped("level", f"{predicate['assurance']['level']}: {predicate['assurance']['meaning']}")
    lines += wrapped("assumes", ", ".join(one["flag"] for one in predicate["assumptions"]))
    open_hazards = [one["title"] for one in predicate["hazards"] if one["status"] == "not assessed"]
    total = len(predicate["hazards"])
    lines += wrapped(
        "hazards", f"{total - len(open_hazards)} of {total} assessed (NIST SP 800-226); not: {', '.join(open_hazards)}"
    )
    return lines
