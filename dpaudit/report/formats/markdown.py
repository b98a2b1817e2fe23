"""Writes Markdown as GitHub reads it, for a pull request or a job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from dpaudit.report import document as doc
from dpaudit.report.document import Badge, Block, Document, Line, Link, Part, Styled, parts_of
from dpaudit.report.interface import Report

TONES = {"good": "✓", "bad": "✗", "open": "○"}


def write(report: Report, room: int | None = None) -> str:
    return render(report.document("comment"))


def render(document: Document) -> str:
    return "\n\n".join(markdown(block for section in document.sections for block in section.blocks))


def markdown(blocks: Iterable[Block]) -> list[str]:
    """Each block as lines, to be parted by an empty one. Links that only a page can follow are left out."""
    return [part for block in blocks for part in _block(block) if part]


def _block(block: Block) -> list[str]:
    match block:
        case doc.Heading(content, level):
            return [f"{'#' * (level + 1)} {inline(content)}"]
        case doc.Paragraph(content):
            return [inline(content)]
        case doc.Table(header, rows):
            return [table(header, rows)]
        case doc.FactList(pairs):
            return _facts(pairs)
        case doc.Listing(items):
            return ["\n".join(f"- {inline(item)}" for item in items)]
        case doc.Code(text):
            return [f"```\n{text}\n```"]
        case doc.Figure(_, caption, words):
            return markdown(words) or [inline(caption)]
        case doc.Figures(blocks) | doc.Aside(blocks):
            return markdown(blocks)
        case doc.Fold(title, blocks):
            return [f"<details><summary>{title}</summary>", *markdown(blocks), "</details>"]
    return []


def _facts(pairs: Sequence[tuple[Line, Any]]) -> list[str]:
    """Tables stand below, each under its label."""
    short = [(name, value) for name, value in pairs if not isinstance(value, doc.Table | doc.FactList)]
    rows = [[f"**{inline(name)}**", inline(value)] for name, value in short]
    written = [_table(("", ""), rows)] if rows else []
    for name, value in pairs:
        if isinstance(value, doc.Table | doc.FactList):
            written += [f"**{inline(name)}**", *_block(value)]
    return written


def table(header: Sequence[Line], rows: Iterable[Sequence[Line]]) -> str:
    return _table([inline(cell) for cell in header], [[inline(cell) for cell in row] for row in rows])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def inline(line: Line) -> str:
    return "".join(_part(part) for part in parts_of(line))


def _part(part: Part) -> str:
    if isinstance(part, str):
        return plain(part)
    if isinstance(part, Link) and part.back:
        return ""
    if isinstance(part, Styled) and part.style == "code":
        return f"`{_on_one_line(part.text.replace('`', ''))}`".replace("|", "\\|")
    inside = plain(part.text)
    if isinstance(part, Badge):
        return f"{TONES[part.tone]} {inside}"
    strong = isinstance(part, Styled) and part.style.startswith("strong")
    return f"**{inside.strip()}**{' ' * inside.endswith(' ')}" if strong else inside


def plain(text: str) -> str:
    """Text that stays text, in a table too: nothing in it is read as HTML, a link, an image, a mention or emphasis."""
    return re.sub(r"([\\`*_{}\[\]<>#!|@~$&])", r"\\\1", _on_one_line(text)).replace("\\@", "@\u200b")


def _on_one_line(text: str) -> str:
    """On one line, with one space where there were any."""
    return re.sub(r"\s+", " ", text)
