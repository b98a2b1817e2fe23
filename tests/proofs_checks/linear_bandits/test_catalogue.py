"""Every claim of the paper, decided quickly: its evidence says what a verdict of its kind must say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dpaudit.papers.checks import Check, Decided, Decision
from dpaudit.papers.decisions import decide
from proofs_checks.linear_bandits.catalogue import checks

CATALOGUE = {check.id: check for check in checks()}
NUMBER = re.compile(r"\d")


def missing(found: Decided) -> list[str]:
    """What the evidence lacks: a one-line summary; the range of a verification; the counterexample of a refutation, with
    numbers; the condition of a conditional; and for a correction of ours the regret and the privacy that it buys."""
    evidence, lacks = found.evidence, []
    summary = evidence.get("summary")
    if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
        lacks.append("summary")
    if found.verdict == "verified" and not str(evidence.get("range", "")).strip():
        lacks.append("range")
    if found.verdict == "refuted" and not NUMBER.search(str(evidence.get("counterexample", ""))):
        lacks.append("counterexample")
    if found.verdict == "conditional" and not (found.correction or "readings" in evidence or "condition" in evidence):
        lacks.append("condition")
    if found.id.startswith("fix."):
        lacks += [bought for bought in ("regret", "privacy") if not any(bought in name for name in evidence)]
    return lacks


@pytest.mark.parametrize("name", CATALOGUE)
def test_the_evidence_says_what_its_verdict_needs(name: str) -> None:
    assert missing(decide(CATALOGUE[name], quick=True)) == []


def planted(name: str, verdict: str, correction: Any = None, **evidence: Any) -> list[str]:
    return missing(decide(Check(name, "here", "something", lambda quick: Decision(verdict, evidence, correction)), quick=True))


def test_twin_evidence_that_lacks_something_is_noticed() -> None:
    assert planted("a.b", "verified", summary="yes") == ["range"]
    assert planted("a.b", "verified", summary="two\nlines", range="n ≤ 3") == ["summary"]
    assert planted("a.b", "refuted", summary="no", counterexample="there is one") == ["counterexample"]
    assert planted("a.b", "conditional", summary="perhaps") == ["condition"]
    assert planted("fix.b", "verified", summary="yes", range="n ≤ 3", regret=[1]) == ["privacy"]
    assert planted("fix.b", "verified", summary="yes", range="n ≤ 3", regret=[1], privacy="the same ε") == []
