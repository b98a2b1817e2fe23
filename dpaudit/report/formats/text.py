"""Writes plain text for a terminal: sections parted by an empty line, facts beside their labels, tables in columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from dpaudit.report import document as doc
from dpaudit.report.document import Block, Document, Line, Styled, parts_of, plain_text
from dpaudit.report.formats.columns import columns, fitted, stacked
from dpaudit.report.interface import Report

WIDTH = 110
BESIDE = 90  # columns that the cells beside a row's name need to be read well
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # a stranger's evidence must not steer a terminal


def write(report: Report, room: int | None = None) -> str:
    return render(report.document("terminal"), room)


def render(document: Document, room: int | None = None) -> str:
    """``room``: columns of the terminal; None for a file or a pipe, where a row of a table is one line."""
    sections = ["\n".join(text_lines(section.blocks, room)) for section in document.sections]
    return CONTROL.sub("", "\n\n".join(section for section in sections if section))


def text_lines(blocks: Iterable[Block], room: int | None = None) -> list[str]:
    return [line for block in blocks for line in _block(block, room)]


def _block(block: Block, room: int | None) -> list[str]:
    width = min(room or WIDTH, WIDTH)
    match block:
        case doc.Heading(content):
            return [plain_text(content)]
        case doc.Paragraph(content):
            return [plain_text(content)] if _is_copied(content) else textwrap.wrap(plain_text(content), width)
        case doc.Table(header, rows):
            return _table([plain_text(cell) for cell in header], [[plain_text(cell) for cell in row] for row in rows], room)
        case doc.FactList(pairs, column):
            return [line for name, value in pairs for line in _fact(plain_text(name), value, column, room)]
        case doc.Listing(items):
            return [line for item in items for line in textwrap.wrap(plain_text(item), width, subsequent_indent="    ")]
        case doc.Code(text):
            return text.splitlines()
        case doc.Figure(_, caption, words):
            return text_lines(words, room) or [plain_text(caption)]
        case doc.Figures(blocks) | doc.Aside(blocks):
            return text_lines(blocks, room)
        case doc.Fold(title, blocks):
            return [title, *text_lines(blocks, room)]
    return []


def _is_copied(line: Line) -> bool:
    """A command is copied, so it is not broken into lines."""
    return any(isinstance(part, Styled) and part.style == "code" and " " in part.text for part in parts_of(line))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], room: int | None) -> list[str]:
    """In columns; on a terminal that is too narrow for them, two lines and more for each row."""
    if room is None:
        every = [list(header), *[list(row) for row in rows]]
        widths = [max(len(row[place]) for row in every) for place in range(len(header))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in every]
        return [lines[0], "  ".join("─" * width for width in widths), *lines[1:]]
    whole = sum(max(columns(row[place]) for row in [header, *rows]) + 2 for place in range(len(header))) - 2
    if room < whole and room < max((columns(row[0]) for row in rows), default=0) + BESIDE:
        return stacked(header, rows, room)
    unbroken = [[name.replace(" ", "\u00a0"), *rest] for name, *rest in rows]
    return [line.replace("\u00a0", " ") for line in fitted(header, unbroken, room)]


def _fact(label: str, value: Any, column: int, room: int | None) -> list[str]:
    """A short label stands beside its text; a long one, and that of a table or of more facts, above it."""
    width, indent = min(room or WIDTH, WIDTH), " " * (column + 2)
    above = textwrap.wrap(label, width, initial_indent="  ", subsequent_indent="  ")
    if isinstance(value, doc.Table):
        rows = [[plain_text(cell) for cell in row] for row in value.rows]
        lines = fitted([plain_text(cell) for cell in value.header], rows, (room or WIDTH) - len(indent))
        return [*above, *textwrap.indent("\n".join(lines), indent).splitlines()]
    if isinstance(value, doc.FactList):
        return [*above, *_nest_facts(value, width, indent)]
    beside = f"  {label:<{column}}" if len(label) < column else indent
    lines = textwrap.wrap(plain_text(value), width, initial_indent=beside, subsequent_indent=indent) or [beside.rstrip()]
    return lines if len(label) < column else [*above, *lines]


def _nest_facts(value: doc.FactList, width: int, indent: str) -> list[str]:
    pairs = [(plain_text(name), plain_text(each)) for name, each in value.pairs if not isinstance(each, doc.Table | doc.FactList)]
    column = min(max(columns(name) for name, _ in pairs), 32, max(width - 40, 8))
    lines = []
    for name, each in pairs:
        above, inner = columns(name) > column, " " * (len(indent) + column + 2)
        beside = inner if above else f"{indent}{name}{' ' * (column + 2 - columns(name))}"
        lines += textwrap.wrap(name, width, initial_indent=indent, subsequent_indent=indent) if above else []
        lines += textwrap.wrap(each, width, initial_indent=beside, subsequent_indent=inner) or [beside.rstrip()]
    return lines
