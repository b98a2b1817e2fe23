"""Writes JSON for programs."""

from __future__ import annotations

import json
from typing import Any

from dpaudit.report.interface import Report


def write(report: Report, room: int | None = None) -> str:
    return as_json(report.data())


def as_json(document: Any) -> str:
    return json.dumps(document, allow_nan=False, ensure_ascii=False, indent=2)
