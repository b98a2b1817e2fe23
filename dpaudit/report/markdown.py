"""Markdown as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows])


def _cell(value: Any) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(str(value).split()))


def plain(text: str) -> str:
    """Text that stays text, in a table too: nothing in it is read as HTML, a link, an image, a mention or emphasis."""
    return re.sub(r"([\\`*_{}\[\]<>#!|@~$&])", r"\\\1", " ".join(text.split())).replace("\\@", "@\u200b")


def bar(value: float, full: float, cells: int = 16) -> str:
    """A bar of blocks: ``full`` fills every cell, and whatever is not nothing shows."""
    filled = min(cells, max(round(cells * value / full), 1)) if value > 0 and full > 0 else 0
    return "█" * filled + "░" * (cells - filled)
