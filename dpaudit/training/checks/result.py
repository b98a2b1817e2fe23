"""What a check says."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.claims import DpauditError, Finding
from dpaudit.claims.rules import RULES

LEVEL = 1e-6  # at which a p-value is a finding: a correct training is accused by each check once in a million runs


@dataclass(frozen=True)
class CheckResult:
    """``p_value``: how often a correct training looks so odd; ``gap``, ``allowed``: exact measures. ``passed`` None: not run."""

    name: str
    rule: str
    passed: bool | None
    message: str
    p_value: float | None = None
    gap: float | None = None
    allowed: float | None = None

    @classmethod
    def by_chance(cls, name: str, rule: str, p_value: float, message: str) -> CheckResult:
        return cls(name, rule, p_value >= LEVEL, message, p_value=p_value)

    @classmethod
    def by_gap(cls, name: str, rule: str, gap: float, allowed: float, message: str) -> CheckResult:
        return cls(name, rule, gap <= allowed, message, gap=gap, allowed=allowed)

    @classmethod
    def not_run(cls, name: str, rule: str, why: str) -> CheckResult:
        return cls(name, rule, None, why)

    def finding(self) -> Finding | None:
        """Of a check that failed."""
        return Finding(self.rule, f"{self.name}: {self.message}", self.name) if self.passed is False else None

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


SCHEMA = "dpaudit.checks/1"


class UnreadableChecks(DpauditError):
    """Not a file of check results."""


def checks_to_json(results: Sequence[CheckResult]) -> str:
    return json.dumps({"schema": SCHEMA, "checks": [result.to_dict() for result in results]}, ensure_ascii=False, indent=1) + "\n"


def read_checks(path: str | Path) -> list[CheckResult]:
    """What ``checks_to_json`` wrote. Raises ``UnreadableChecks``; OSError if there is no such file."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        results = [CheckResult(**each) for each in data["checks"]] if data["schema"] == SCHEMA else None
    except (ValueError, TypeError, LookupError, RecursionError):
        results = None
    if results is None or not all(map(_well_formed, results)):
        raise UnreadableChecks(f"{path}: not a file of check results; make one with TrainingWatch.write(path)")
    return results


def _well_formed(result: CheckResult) -> bool:
    texts = all(isinstance(text, str) for text in (result.name, result.rule, result.message))
    numbers = [number for number in (result.p_value, result.gap, result.allowed) if number is not None]
    known = texts and result.rule in RULES and result.passed in (True, False, None)
    return known and all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
