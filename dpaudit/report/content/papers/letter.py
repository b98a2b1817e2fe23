"""A referee's letter: a paragraph for each theorem, major and minor points, what holds, and the repaired theorems' proofs."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.papers.checks import Decided
from dpaudit.papers.severity import BASES, RULES
from dpaudit.report import document as doc
from dpaudit.report.content.audit import verdict_badge
from dpaudit.report.content.papers.evidence import (
    EvidenceSource,
    as_table,
    count_verdicts,
    in_words,
    names_of_papers,
    origin,
    warnings,
)
from dpaudit.report.content.papers.overview import five_minutes, graph
from dpaudit.report.document import Block, Document, Section, Styled

TITLE = "Referee's letter"
MAJOR, MINOR = ("fatal", "repairable"), ("slip", "constant", "measured")


def letter(decided: Sequence[Decided], source: EvidenceSource) -> Document:
    """What authors are sent; every claim is in it once as a point or in a list."""
    made, named = origin(source), names_of_papers(source)
    first: list[Block] = [doc.Heading(TITLE), *([doc.Paragraph(named)] if named else []), doc.Paragraph(count_verdicts(decided))]
    first += [doc.Paragraph(made)] if made else []
    first += [doc.Paragraph(note, "warning") for note in warnings(decided, source)]
    sections = [Section(first), five_minutes(decided)]
    sections += [_points("Major points", decided, MAJOR), _points("Minor points", decided, MINOR), _holds(decided)]
    sections += [_undecided(decided), graph(decided), _proofs(decided)]
    return Document(TITLE, [section for section in sections if section is not None])


def _points(title: str, decided: Sequence[Decided], grades: Sequence[str]) -> Section | None:
    blocks: list[Block] = []
    for grade in grades:
        mine = [one for one in decided if one.severity == grade]
        blocks += [doc.Heading(f"{grade}: {RULES[grade]}", 3)] if mine else []
        blocks += [block for one in mine for block in _point(one)]
    return Section([doc.Heading(title, 2), *blocks]) if blocks else None


def _point(one: Decided) -> list[Block]:
    where = (" (", Styled(one.where, "formula"), ") ")
    head = (Styled(one.id, "strong"), *where, verdict_badge(one.verdict), ". ", Styled(one.statement, "formula"))
    instead = ("Instead: ", Styled(in_words(one.correction), "formula"), ".") if one.correction is not None else ()
    found = (Styled(one.summary, "formula"), ". ", *instead)
    return [doc.Paragraph(head), doc.Paragraph(found, "quote")]


def _holds(decided: Sequence[Decided]) -> Section | None:
    blocks: list[Block] = []
    for basis, rule in (*BASES.items(), (None, "")):
        mine = [one for one in decided if one.verdict == "verified" and one.basis == basis]
        blocks += [doc.Heading(f"{basis}: {rule}" if basis else "holds", 3)] if mine else []
        blocks += (
            [doc.Listing([(Styled(one.id, "strong"), ": ", Styled(one.summary, "formula")) for one in mine])] if mine else []
        )
    return Section([doc.Heading("What holds", 2), *blocks]) if blocks else None


def _undecided(decided: Sequence[Decided]) -> Section | None:
    """Claims that nothing decided, and claims that fail without a grade."""
    mine = [one for one in decided if one.severity == "none" and one.verdict != "verified"]
    lines = [(Styled(one.id, "strong"), f" {one.verdict}: ", Styled(one.summary, "formula")) for one in mine]
    return Section([doc.Heading("Not rated", 2), doc.Listing(lines)]) if mine else None


def _proofs(decided: Sequence[Decided]) -> Section | None:
    """The steps of every theorem that was put right as a whole."""
    blocks: list[Block] = []
    for one in (one for one in decided if one.repairs):
        blocks += [doc.Heading(one.where, 3), doc.Paragraph(Styled(one.statement, "formula"))]
        for name, value in one.evidence.items():
            rows = as_table(value) if name.startswith("proof") else None
            if rows is not None:
                cells = [tuple(Styled(cell, "formula") for cell in row) for row in rows[1]]
                blocks += [doc.Paragraph(Styled(name, "strong")), doc.Table(tuple(rows[0]), cells)]
    return Section([doc.Heading("The repaired theorems, step by step", 2), *blocks]) if blocks else None
