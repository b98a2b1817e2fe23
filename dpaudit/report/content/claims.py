"""The referee report: a paper's claims, each with its verdict, its evidence and what holds instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dpaudit.papers.checks import SCHEMA, Decided
from dpaudit.report import document as doc
from dpaudit.report.charts.paper_figures import paper_figure
from dpaudit.report.content.audit import verdict_badge
from dpaudit.report.content.evidence import (
    COMPUTED,
    EvidenceSource,
    as_table,
    count_verdicts,
    in_words,
    origin,
    shown_evidence,
    warnings,
)
from dpaudit.report.document import Block, Document, Line, Section, Styled
from dpaudit.report.interface import Depth, Report

TITLE = "The claims, decided"
HEADER = ("claim", "where", "verdict", "evidence")
MARKS = {"verified": "✓", "refuted": "✗", "conditional": "~", "unchecked": "?"}
COMMAND = re.compile(r"(dpaudit claims .+|--[a-z]+)")
SHORT = 12  # letters of a cell that is never broken


def claims_report(decided: Sequence[Decided], source: EvidenceSource = COMPUTED, *, full: bool = False) -> Report:
    """``full``: on a terminal the story of every claim instead of a table."""

    def document(depth: Depth) -> Document:
        if depth == "terminal":
            return _brief(decided, source, full)
        return (_page if depth == "page" else _comment)(decided, source)

    def data() -> dict[str, Any]:
        claims = [each.to_dict() for each in decided]
        return {"schema": SCHEMA, "quick": source.quick, "claims": claims, "missing": list(source.missing)}

    return Report(document, data)


def _notes(decided: Sequence[Decided], source: EvidenceSource) -> list[Block]:
    made = origin(source)
    first = [doc.Paragraph(_with_commands(made), "note")] if made else []
    return [*first, *(doc.Paragraph(_with_commands(note), "warning") for note in warnings(decided, source))]


def _with_commands(note: str) -> Line:
    """A sentence in which what is typed looks so."""
    return tuple(Styled(part, "code") if place % 2 else part for place, part in enumerate(COMMAND.split(note)))


def _page(decided: Sequence[Decided], source: EvidenceSource) -> Document:
    rows = [(doc.Link(one.id, one.id), _formula(one.where), _badges(one), _formula(one.summary)) for one in decided]
    first = [doc.Heading(TITLE), doc.Paragraph(count_verdicts(decided), "soft"), *_notes(decided, source), _contents(decided)]
    return Document(TITLE, [Section([*first, doc.Table(HEADER, rows, "cards")]), *(_section(one) for one in decided)])


def _comment(decided: Sequence[Decided], source: EvidenceSource) -> Document:
    """What a pull request has room for: a row for each claim."""
    rows = [(Styled(one.id, "code"), one.where, _verdict(one), one.summary) for one in decided]
    first = [doc.Heading(TITLE), doc.Paragraph(count_verdicts(decided)), *_notes(decided, source)]
    return Document(TITLE, [Section([*first, doc.Table(HEADER, rows)])])


def _formula(value: str) -> Styled:
    return Styled(value, "formula")


def _verdict(one: Decided) -> str:
    return one.verdict + (" (stale)" if one.stale else "")


def _badges(one: Decided) -> tuple[doc.Part, ...]:
    names = [one.verdict, *(["failed"] if one.failed else []), *(["stale"] if one.stale else [])]
    return tuple(part for name in names for part in (verdict_badge(name), " "))[:-1]


def _contents(decided: Sequence[Decided]) -> doc.Contents:
    """The claims by how they came out, what is wrong first."""
    entries: list[Line] = []
    for verdict in ("refuted", "unchecked", "conditional", "verified"):
        mine = [one.id for one in decided if one.verdict == verdict]
        links = [part for claim in mine for part in (doc.Link(claim, claim), " ")]
        entries += [(verdict_badge(verdict), f" {len(mine)}: ", *links)] if mine else []
    return doc.Contents(entries)


def _section(one: Decided) -> Section:
    blocks: list[Block] = [
        doc.Heading((doc.Link("contents", "contents", back=True), one.id, " ", *_badges(one)), 2),
        doc.Paragraph(_formula(one.statement), "quote"),
        doc.Paragraph(_formula(one.where), "soft"),
        doc.Paragraph(Styled(one.summary, "strong formula")),
    ]
    figures = one.evidence.get("figures", [])
    blocks += [paper_figure(each) for each in (figures if isinstance(figures, list) else [figures])]
    return Section([*blocks, doc.Facts(_evidence(one))], one.id)


def _evidence(one: Decided) -> list[doc.Fact]:
    """Names and values; a list of objects is a table, an object of several values more facts."""
    pairs: list[doc.Fact] = []
    for name, value in shown_evidence(one).items():
        rows = as_table(value)
        if rows is not None:
            pairs.append((_formula(name), doc.Table(tuple(map(_formula, rows[0])), [tuple(map(_cell, row)) for row in rows[1]])))
        elif isinstance(value, dict) and len(value) > 1:
            pairs.append((_formula(name), doc.Facts([(_formula(key), _formula(in_words(each))) for key, each in value.items()])))
        else:
            pairs.append((_formula(name), _formula(in_words(value))))
    if one.code:
        pairs.append(("covers", Styled(", ".join(one.code), "soft")))
    if one.stale:
        pairs.append(("stale", "changed since the evidence was stored: " + ", ".join(one.stale)))
    return pairs


def _cell(cell: str) -> Styled:
    return Styled(cell, "word" if len(cell) <= SHORT and " " not in cell else "formula")


def _brief(decided: Sequence[Decided], source: EvidenceSource, full: bool) -> Document:
    """One table, or the full story of a few."""
    if not decided and not source.missing:
        return Document(TITLE, [Section([doc.Paragraph("no claims to check")])])
    notes = _notes(decided, source)
    if full:
        return Document(TITLE, [*(Section(_story(one)) for one in decided), Section(notes)])
    rows = [(f"{MARKS[one.verdict]} {one.id}", one.where, _verdict(one), one.summary) for one in decided]
    last = doc.Paragraph(_with_commands("The full story of one: dpaudit claims ID"))
    table = Section([doc.Table(("  claim", *HEADER[1:]), rows)])
    return Document(TITLE, [table, Section([doc.Paragraph(count_verdicts(decided)), *notes, last])])


def _story(one: Decided) -> list[Block]:
    head = f"{MARKS[one.verdict]} {one.id}: {one.verdict.upper()}  ({one.where})"
    said: list[doc.Fact] = [
        ("claim", one.statement),
        ("why" if one.failed else "found", one.summary),
    ]
    return [doc.Heading(head), doc.Facts([*said, *_evidence(one)])]
