"""Writes JSON for programs."""

from __future__ import annotations

from dpaudit.claims.json_text import as_json
from dpaudit.report.interface import Report


def write(report: Report, room: int | None = None) -> str:
    return as_json(report.data())
