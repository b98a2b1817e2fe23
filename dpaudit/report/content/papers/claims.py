"""The referee report: a paper's claims, each with its verdict, its evidence and what holds instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dpaudit.papers.checks import SCHEMA, Decided
from dpaudit.papers.severity import BASES, RULES
from dpaudit.report import document as doc
from dpaudit.report.charts.paper_figures import paper_figure
from dpaudit.report.content.audit import verdict_badge
from dpaudit.report.content.papers.evidence import (
    COMPUTED,
    EvidenceSource,
    as_table,
    count_verdicts,
    in_words,
    names_of_papers,
    origin,
    shown_evidence,
    warnings,
)
from dpaudit.report.content.papers.letter import letter
from dpaudit.report.content.papers.overview import five_minutes, graph, severity_badge
from dpaudit.report.document import Block, Document, Line, Section, Styled
from dpaudit.report.interface import Depth, Report

TITLE = "The claims, decided"
HEADER = ("claim", "where", "verdict", "evidence")
PAGE_HEADER = ("claim", "where", "verdict", "statement and evidence")
MARKS = {"verified": "✓", "refuted": "✗", "conditional": "~", "unchecked": "?"}
COMMAND = re.compile(r"(dpaudit claims .+|--[a-z]+)")
SHORT = 12  # letters of a cell that is never broken


def claims_report(decided: Sequence[Decided], source: EvidenceSource = COMPUTED, *, full: bool = False) -> Report:
    """``full``: on a terminal the story of every claim instead of a table."""

    def document(depth: Depth) -> Document:
        if depth == "terminal":
            return _brief(decided, source, full)
        pages = {"page": _page, "comment": _comment, "letter": letter}
        return pages[depth](decided, source)

    def data() -> dict[str, Any]:
        claims = [each.to_dict() for each in decided]
        return {"schema": SCHEMA, "quick": source.quick, "claims": claims, "missing": list(source.missing)}

    return Report(document, data)


def _notes(decided: Sequence[Decided], source: EvidenceSource) -> list[Block]:
    made = origin(source)
    first = [doc.Paragraph(_with_commands(made), "note")] if made else []
    return [*first, *(doc.Paragraph(_with_commands(note), "warning") for note in warnings(decided, source))]


def _papers(source: EvidenceSource) -> list[Block]:
    named = names_of_papers(source)
    return [doc.Paragraph(Styled(named, "strong"))] if named else []


def _with_commands(note: str) -> Line:
    """A sentence in which what is typed looks so."""
    return tuple(Styled(part, "code") if place % 2 else part for place, part in enumerate(COMMAND.split(note)))


def _page(decided: Sequence[Decided], source: EvidenceSource) -> Document:
    ordered = by_severity(decided)
    rows = [(doc.Link(one.id, one.id), _formula(one.where), _badges(one), _told(one)) for one in ordered]
    first = [doc.Heading(TITLE), *_papers(source), doc.Paragraph(count_verdicts(decided), "soft"), *_notes(decided, source)]
    lead = [section for section in (five_minutes(decided), graph(decided)) if section is not None]
    table: list[Block] = [
        doc.Heading("Every claim, by severity", 2),
        _contents(decided),
        doc.Table(PAGE_HEADER, rows, "cards", _filters(decided)),
    ]
    stories = [_section(one, {each.id for each in decided}) for one in ordered]
    return Document(TITLE, [Section(first), *lead, Section(table), *stories])


def _told(one: Decided) -> Line:
    """What the paper says, and what was found."""
    return (Styled("claimed: ", "soft"), _formula(one.statement), Styled("; found: ", "soft"), _formula(one.summary))


def _filters(decided: Sequence[Decided]) -> list[str]:
    """The words by which a reader may choose: severities, verdicts and bases that occur."""
    there = {word for one in decided for word in (one.severity, one.verdict, one.basis)}
    return [word for word in (*RULES, *MARKS, *BASES) if word in there and word != "none"]


def by_severity(decided: Sequence[Decided]) -> list[Decided]:
    """The gravest first; among equals in the order of the paper."""
    grades = list(RULES)
    return sorted(decided, key=lambda one: grades.index(one.severity))


def _comment(decided: Sequence[Decided], source: EvidenceSource) -> Document:
    """What a pull request has room for: a row for each claim."""
    rows = [(Styled(one.id, "code"), one.where, _verdict(one), one.summary) for one in by_severity(decided)]
    first = [doc.Heading(TITLE), *_papers(source), doc.Paragraph(count_verdicts(decided)), *_notes(decided, source)]
    return Document(TITLE, [Section([*first, doc.Table(HEADER, rows)])])


def _formula(value: str) -> Styled:
    return Styled(value, "formula")


def _verdict(one: Decided) -> str:
    """With its severity if it does not hold, its basis if it does."""
    grade = one.severity if one.severity != "none" else one.basis
    return one.verdict + (f", {grade}" if grade else "") + (" (stale)" if one.stale else "")


def _badges(one: Decided) -> tuple[doc.Part, ...]:
    names = [one.verdict, *(["failed"] if one.failed else []), *(["stale"] if one.stale else [])]
    badges: list[doc.Badge] = [verdict_badge(name) for name in names]
    if one.severity != "none":
        badges.insert(1, severity_badge(one.severity))
    elif one.basis is not None:
        badges.insert(1, doc.Badge(one.basis, "good" if one.basis == "proven" else "open"))
    return tuple(part for badge in badges for part in (badge, " "))[:-1]


def _contents(decided: Sequence[Decided]) -> doc.Contents:
    """The claims by how grave it is that they fail, then by how they came out."""
    entries: list[Line] = []
    for severity, rule in RULES.items():
        if severity != "none":
            entries += _entry(severity_badge(severity), rule, decided, severity)
    for verdict in ("refuted", "unchecked", "conditional", "verified"):
        mine = [one for one in decided if one.verdict == verdict]
        entries += _entry(verdict_badge(verdict), "", mine, "none")
    return doc.Contents(entries)


def _entry(badge: doc.Badge, rule: str, decided: Sequence[Decided], severity: str) -> list[Line]:
    mine = [one.id for one in decided if one.severity == severity]
    links = [part for claim in mine for part in (doc.Link(claim, claim), " ")]
    words = f" {len(mine)}" + (f" ({rule}): " if rule else ": ")
    return [(badge, words, *links)] if mine else []


def _grade(one: Decided, present: set[str]) -> list[doc.Fact]:
    """Why it is as grave as it is, what it rests on, and which claims it needs; those on the same page are links."""
    pairs: list[doc.Fact] = []
    if one.severity != "none":
        pairs.append(("severity", f"{one.severity}: {RULES[one.severity]}"))
    if one.basis is not None:
        pairs.append(("basis", f"{one.basis}: {BASES[one.basis]}"))
    for word, ids in (("needs", one.needs), ("alone breaks", one.breaks), ("repairs", one.repairs)):
        names = [part for claim in ids for part in (doc.Link(claim, claim) if claim in present else claim, ", ")]
        pairs += [(word, tuple(names[:-1]))] if names else []
    return pairs


def _section(one: Decided, present: set[str]) -> Section:
    blocks: list[Block] = [
        doc.Heading((doc.Link("contents", "contents", back=True), one.id, " ", *_badges(one)), 2),
        doc.Paragraph(_formula(one.statement), "quote"),
        doc.Paragraph(_formula(one.where), "soft"),
        doc.Paragraph(Styled(one.summary, "strong formula")),
    ]
    figures = one.evidence.get("figures", [])
    blocks += [paper_figure(each) for each in (figures if isinstance(figures, list) else [figures])]
    return Section([*blocks, doc.FactList([*_grade(one, present), *_evidence(one)])], one.id)


def _evidence(one: Decided) -> list[doc.Fact]:
    """Names and values; a list of objects is a table, an object of several values more facts."""
    pairs: list[doc.Fact] = []
    for name, value in shown_evidence(one).items():
        rows = as_table(value)
        if rows is not None:
            pairs.append((_formula(name), doc.Table(tuple(map(_formula, rows[0])), [tuple(map(_cell, row)) for row in rows[1]])))
        elif isinstance(value, dict) and len(value) > 1:
            pairs.append(
                (_formula(name), doc.FactList([(_formula(key), _formula(in_words(each))) for key, each in value.items()]))
            )
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
    rows = [(f"{MARKS[one.verdict]} {one.id}", one.where, _verdict(one), one.summary) for one in by_severity(decided)]
    last = doc.Paragraph(_with_commands("The full story of one: dpaudit claims ID"))
    table = Section([*_papers(source), doc.Table(("  claim", *HEADER[1:]), rows)])
    return Document(TITLE, [table, Section([doc.Paragraph(count_verdicts(decided)), *notes, last])])


def _story(one: Decided) -> list[Block]:
    head = f"{MARKS[one.verdict]} {one.id}: {one.verdict.upper()}  ({one.where})"
    said: list[doc.Fact] = [
        ("claim", one.statement),
        ("why" if one.failed else "found", one.summary),
    ]
    return [doc.Heading(head), doc.FactList([*said, *_grade(one, set()), *_evidence(one)])]
