"""Markdown as GitHub reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows])


def _cell(value: Any) -> str:
    return " ".join(str(value).replace("|", "\\|").split())
