"""``dpaudit claims``: a paper's claims, decided."""

from __future__ import annotations

import argparse
from typing import Any

from dpaudit.commands import HOLDS, NOTHING, UNPROVEN, VIOLATED, Answer, as_json, progress, worst

CODES = {"verified": HOLDS, "refuted": VIOLATED, "conditional": UNPROVEN, "unchecked": UNPROVEN}


def claims_command(options: argparse.Namespace) -> Answer:
    """Decide them, or read stored evidence and say what of it is stale."""
    from dpaudit.ledger import load_file
    from dpaudit.papers import SCHEMA, decide, find_checks, read_stored, select
    from dpaudit.report.claims_html import claims_html
    from dpaudit.report.claims_markdown import claims_markdown
    from dpaudit.report.claims_text import claims_text

    checks, quick = find_checks(), bool(options.quick)
    missing: list[str] = []
    chosen = select(checks, options.ids)
    if options.stored is not None:
        ids, stored = {check.id for check in chosen}, load_file(options.stored)
        decided = [each for each in read_stored(stored, checks) if each.id in ids or not options.ids]
        quick, missing = bool(stored.get("quick")), sorted(ids - {each.id for each in decided})
    else:
        with progress("claims", len(chosen)) as step:
            decided = [_one(decide, check, options.quick, step) for check in chosen]
    codes = [CODES[each.verdict] for each in decided] + [UNPROVEN for each in decided if each.stale] + [UNPROVEN for _ in missing]
    code = worst(codes) if codes else NOTHING
    if options.format == "json":
        document = {"schema": SCHEMA, "quick": quick, "claims": [each.to_dict() for each in decided], "missing": missing}
        return code, as_json(document)
    if options.format == "html":
        return code, claims_html(decided)
    if options.format == "markdown":
        return code, claims_markdown(decided)
    left = f"\nNot in the stored evidence: {', '.join(missing)}" if missing else ""
    return code, claims_text(decided, full=bool(options.ids)) + left


def _one(decide: Any, check: Any, quick: bool, step: Any) -> Any:
    step(check.id)
    return decide(check, quick)
