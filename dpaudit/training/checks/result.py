"""What a check says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.claims import Finding

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
