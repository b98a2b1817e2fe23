"""One check run to its decision, with a digest of the code that decided."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import nullcontext, redirect_stdout
from fractions import Fraction
from typing import Any

from dpaudit import entry_points
from dpaudit.claims import show
from dpaudit.papers.checks import VERDICTS, ClaimError, Decided, Unusable, brief
from dpaudit.papers.code_digests import code_digests
from dpaudit.papers.severity import BASES, SEVERITIES


def decide(check: Any, quick: bool) -> Decided:
    """Run one check. Raises ClaimError if it does not come to a decision."""
    if isinstance(check, Unusable):
        raise ClaimError(check.id, check.reason)
    started = time.perf_counter()
    try:
        with redirect_stdout(sys.stderr):  # standard output is for the answer
            decision = check.run(quick)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ClaimError(check.id, f"its check failed: {brief(error)}") from error
    seconds = time.perf_counter() - started
    verdict, correction = getattr(decision, "verdict", None), getattr(decision, "correction", None)
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise ClaimError(check.id, "its check must decide " + ", ".join(VERDICTS))
    try:
        evidence, correction = plain(getattr(decision, "evidence", {})), plain(correction)
    except Exception as error:
        raise ClaimError(check.id, f"its evidence is not plain data: {brief(error)}") from error
    if not isinstance(evidence, dict) or not evidence:
        raise ClaimError(check.id, "its decision carries no evidence")
    if not isinstance(correction, str | dict | None):
        raise ClaimError(check.id, "its correction must be a text, an object or None")
    severity, basis, lists = _rating(check, decision, verdict)
    return Decided(
        check.id, check.where, check.statement, verdict, evidence, correction, digests(check), round(seconds, 3),
        severity=severity, basis=basis, needs=lists["needs"], breaks=lists["breaks"], repairs=lists["repairs"],
    )  # fmt: skip


def _rating(check: Any, decision: Any, verdict: str) -> tuple[str, str | None, dict[str, tuple[str, ...]]]:
    """A claim that holds has a basis, one that does not a severity."""
    severity = getattr(decision, "severity", None) or getattr(check, "severity", "none")
    basis = getattr(decision, "basis", None) or getattr(check, "basis", None)
    lists = {
        "needs": getattr(check, "needs", ()),
        "breaks": getattr(decision, "breaks", ()),
        "repairs": getattr(check, "repairs", ()),
    }
    if severity not in SEVERITIES:
        raise ClaimError(check.id, "its severity must be one of " + ", ".join(SEVERITIES))
    if basis is not None and basis not in BASES:
        raise ClaimError(check.id, "its basis must be one of " + ", ".join(BASES))
    for word, names in lists.items():
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise ClaimError(check.id, f"what it {word} must be ids of claims")
    holds = verdict == "verified"
    grade = severity if verdict in ("refuted", "conditional") else "none"
    return grade, (basis if holds else None), {word: tuple(names) for word, names in lists.items()}


def attempt(check: Any, quick: bool) -> Decided:
    """As ``decide``; a claim whose check comes to no decision is unchecked, and its evidence says why."""
    try:
        return decide(check, quick)
    except ClaimError as error:
        return Decided(check.id, check.where, check.statement, "unchecked", {"summary": error.reason}, None, {}, failed=True)


def plain(value: Any) -> Any:
    """Evidence as JSON can hold it: fractions as exact texts, tuples as lists; no NaN, no infinity."""
    if isinstance(value, Fraction):
        return show(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    return value


def digests(check: Any) -> dict[str, str]:
    """SHA-256 of the modules that a check is about, its own first; and one of all that these import of the paper's package, of
    the algorithms and of dpaudit: what decides is part of the evidence too. Raises ClaimError."""
    own, covers = getattr(getattr(check, "run", None), "__module__", None), getattr(check, "covers", ())
    try:
        names = [*([own] if isinstance(own, str) else []), *([covers] if isinstance(covers, str) else covers)]
        with entry_points.our_packages() if entry_points.comes_with_us(check.run) else nullcontext():
            return code_digests(list(dict.fromkeys(names)))
    except ModuleNotFoundError as error:
        raise ClaimError(check.id, f"covers {error.name}, which is not installed") from error
    except Exception as error:
        raise ClaimError(check.id, f"the code that it covers cannot be read: {brief(error)}") from error
