"""Evidence in words: what a person reads in place of Python's own way to write a value."""

from __future__ import annotations

import re
from typing import Any

from dpaudit.papers.checks import Decided

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a stranger's evidence must not steer a terminal
MARKS = {"verified": "✓", "refuted": "✗", "conditional": "~", "unchecked": "?"}


def told(value: Any) -> str:
    """yes and no, – for nothing, lists with commas; a number is never rounded, for it may be a bound."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {told(each)}" for key, each in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(f"({told(each)})" if isinstance(each, list | dict) else told(each) for each in value) or "none"
    return str(value)


def as_table(value: Any) -> tuple[list[str], list[list[str]]] | None:
    """Header and rows of a list of objects; None for what is no such list."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return None
    header = list(dict.fromkeys(str(key) for row in value for key in row))
    return header, [[told(row[key]) if key in row else "" for key in header] for row in value]


def shown_evidence(one: Decided) -> dict[str, Any]:
    """What there is beside the one line and the figures: the evidence, and what holds instead."""
    evidence = {name: value for name, value in one.evidence.items() if name not in ("summary", "figures")}
    return evidence if one.correction is None else {**evidence, "instead": one.correction}
