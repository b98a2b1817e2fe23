"""A paper's claims for a terminal: one table, or the full story of a few."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from dpaudit.papers.checks import Decided
from dpaudit.report.claims_notes import COMPUTED, Source, counted, made, warnings
from dpaudit.report.claims_values import CONTROL, MARKS, as_table, shown_evidence, told
from dpaudit.report.columns import columns, fitted
from dpaudit.report.text import WIDTH, table

INDENT = " " * 11
BESIDE = 90  # columns that the cells beside the id need to be read well


def claims_text(decided: Sequence[Decided], *, full: bool, source: Source = COMPUTED, room: int | None = None) -> str:
    """``room``: columns of the terminal; None for a file or a pipe, where a claim of the table is one line."""
    if not decided and not source.missing:
        return "no claims to check"
    width = min(room or WIDTH, WIDTH)
    notes = [*([made(source)] if made(source) else []), *warnings(decided, source)]
    if full:
        stories = ["\n".join(_story(each, width, max(room or 0, width))) for each in decided]
        return CONTROL.sub("", "\n\n".join([*stories, *(["\n".join(_notes(notes, width))] if notes else [])]))
    last = [counted(decided), *notes, "The full story of one: dpaudit claims ID"]
    return CONTROL.sub("", "\n".join([*_overview(decided, room), "", *_notes(last, width)]))


def _overview(decided: Sequence[Decided], room: int | None) -> list[str]:
    """A table; on a terminal that is too narrow for one, two lines and more for each claim."""
    rows = [[f"{MARKS[each.verdict]} {each.id}", each.where, _verdict(each), each.summary] for each in decided]
    header = ["  claim", "where", "verdict", "evidence"]
    if room is None:
        return table(header, rows).splitlines()
    if room >= max((columns(row[0]) for row in rows), default=0) + BESIDE:
        unbroken = [[name.replace(" ", "\u00a0"), *rest] for name, *rest in rows]
        return [line.replace("\u00a0", " ") for line in fitted(header, unbroken, room)]
    lines = []
    for name, where, verdict, summary in rows:
        lines += textwrap.wrap(f"{name}: {verdict} ({where})", room, subsequent_indent="    ")
        lines += textwrap.wrap(summary, room, initial_indent="    ", subsequent_indent="    ")
    return lines


def _verdict(one: Decided) -> str:
    return one.verdict + (" (stale)" if one.stale else "")


def _story(one: Decided, width: int, room: int) -> list[str]:
    lines = [f"{MARKS[one.verdict]} {one.id}: {one.verdict.upper()}  ({one.where})"]
    lines += _field("claim", one.statement, width) + _field("why" if one.failed else "found", one.summary, width)
    for name, value in shown_evidence(one).items():
        rows = as_table(value)
        if rows is not None:
            lines += [*_label(name, width), *textwrap.indent("\n".join(fitted(*rows, room - len(INDENT))), INDENT).splitlines()]
        elif isinstance(value, dict) and len(value) > 1:
            lines += [*_label(name, width), *_pairs(value, width)]
        else:
            lines += _field(name, told(value), width)
    if one.code:
        lines += _field("covers", ", ".join(one.code), width)
    if one.stale:
        lines += _field("stale", "changed since the evidence was stored: " + ", ".join(one.stale), width)
    return lines


def _label(label: str, width: int) -> list[str]:
    return textwrap.wrap(label, width, initial_indent="  ", subsequent_indent="  ")


def _field(label: str, text: str, width: int) -> list[str]:
    """A short label stands beside its text, a long one above it."""
    beside = f"  {label.ljust(8)} " if len(label) <= 8 else INDENT
    lines = textwrap.wrap(text, width, initial_indent=beside, subsequent_indent=INDENT) or [beside.rstrip()]
    return lines if len(label) <= 8 else [*_label(label, width), *lines]


def _pairs(value: dict[str, Any], width: int) -> list[str]:
    column = min(max(map(columns, value)), 32, max(width - 40, 8))
    lines = []
    for name, each in value.items():
        above, room = columns(name) > column, " " * (len(INDENT) + column + 2)
        beside = room if above else f"{INDENT}{name}{' ' * (column + 2 - columns(name))}"
        lines += textwrap.wrap(name, width, initial_indent=INDENT, subsequent_indent=INDENT) if above else []
        lines += textwrap.wrap(told(each), width, initial_indent=beside, subsequent_indent=room) or [beside.rstrip()]
    return lines


def _notes(notes: Sequence[Any], width: int) -> list[str]:
    """Wrapped, but for commands, which are copied."""
    return [line for note in notes for line in ([note] if ": dpaudit " in note else textwrap.wrap(str(note), width))]
