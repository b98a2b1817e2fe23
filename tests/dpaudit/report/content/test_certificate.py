"""A certificate for a person: who signed it is said, and a key that nobody trusts is never shown as trusted."""

from __future__ import annotations

from typing import Any

import pytest

from dpaudit.report.content.certificate import certified_report, verified_report
from dpaudit.report.formats import write

PREDICATE: dict[str, Any] = {
    "name": "rank", "verdict": "certified", "unit": "one record", "observer": "server", "issued": "today",
    "audit": {"upper": {"path": "enforced"}}, "ledger": None, "configuration": {},
    "guarantee": {"epsilon": "1/3", "delta": "1e-6", "interval": {"lower": "1/3"}}, "trust_model": {"model": "central"},
    "door": {}, "assurance": {"level": "high", "meaning": "proven"}, "assumptions": [{"flag": "a"}, {"flag": "b"}],
    "hazards": [{"title": "timing", "status": "not assessed"}, {"title": "floats", "status": "met"}],
}  # fmt: skip
ANSWER = {"trusted": True, "file": "c.json", "signer": "f" * 64, "checked": ["the ledger"], "not_checked": ["the source"]}


def test_bounds_are_rounded_to_the_safe_side() -> None:
    text = write("text", certified_report(PREDICATE, "f" * 64, "c.json", {}))
    assert text.startswith("✓ rank: CERTIFIED, c.json written\n")
    assert "ε ≤ 1/3, δ = 1e-6 for one record; attacked: ε ≥ 0.3333" in text
    assert "1 of 2 assessed (NIST SP 800-226); not: timing" in text


@pytest.mark.parametrize(("trusted", "mark"), [(True, "✓"), (False, "?")])
def test_only_a_trusted_key_is_called_so(trusted: bool, mark: str) -> None:
    lines = write("text", verified_report({**ANSWER, "trusted": trusted}, PREDICATE)).splitlines()
    assert lines[0].startswith(f"{mark} c.json: whole")
    assert ("NOT TRUSTED" in lines[0]) is not trusted
    assert lines[-2:] == ["  checked  the ledger", "  skipped  the source"]


def test_without_an_audit_or_a_door_it_says_so() -> None:
    text = write("text", certified_report({**PREDICATE, "audit": None, "door": None}, "f" * 64, "c.json", {}))
    assert "not attacked" in text
    assert "none: no running sum keeps this budget" in text


def test_fields_that_are_missing_stop_the_text_and_not_the_data() -> None:
    report = verified_report(ANSWER, {})
    assert write("json", report).startswith("{")
    with pytest.raises(KeyError):
        write("text", report)
