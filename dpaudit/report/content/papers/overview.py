"""A paper in five minutes: a paragraph for each theorem, then which claim rests on which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from dpaudit.papers.checks import Decided
from dpaudit.report import document as doc
from dpaudit.report.charts.claim_graph import claim_graph, rows_below, unneeded
from dpaudit.report.content.audit import verdict_badge
from dpaudit.report.content.papers.evidence import dependants, in_words
from dpaudit.report.document import Block, Line, Section, Styled

FAILS = {"refuted": "what fails", "conditional": "holds under a condition", "unchecked": "not decided"}


def five_minutes(decided: Sequence[Decided]) -> Section | None:
    """As printed, what fails, the smallest repair, its price: for each repaired theorem, else for each claim that is fatal."""
    claims = {one.id: one for one in decided}
    whole = [one for one in decided if any(name in claims for name in one.repairs)]
    blocks: list[Block] = [block for one in whole for block in _theorem(one, [claims[n] for n in one.repairs if n in claims])]
    repaired = {name for one in whole for name in one.repairs}
    if not whole:
        alone = [one for one in decided if one.severity == "fatal" and one.id not in repaired]
        blocks += [block for one in alone for block in _claim(one)]
    return Section([doc.Heading("In five minutes", 2), *blocks], "overview") if blocks else None


def _theorem(repair: Decided, printed: Sequence[Decided]) -> list[Block]:
    """One theorem of the paper, put right as a whole."""
    fails = [one for one in printed if one.verdict != "verified"]
    facts: list[doc.Fact] = [("as printed", _lines([Styled(one.statement, "formula") for one in printed]))]
    facts += [(_named(one, FAILS[one.verdict]), Styled(one.summary, "formula")) for one in fails]
    facts.append((_named(repair, "the repair"), Styled(repair.statement, "formula")))
    price = repair.evidence.get("price")
    if isinstance(price, dict):
        facts += [(f"its price in {name}", Styled(in_words(value), "formula")) for name, value in price.items()]
    return [doc.Heading(_where(printed), 3), doc.FactList(facts)]


def _where(printed: Sequence[Decided]) -> str:
    """What the places have in common, comma by comma; the first place where they have nothing."""
    parts = zip(*(one.where.split(", ") for one in printed), strict=False)
    shared = [each[0] for each in takewhile(lambda each: len(set(each)) == 1, parts)]
    return ", ".join(shared) or printed[0].where


def _claim(one: Decided) -> list[Block]:
    instead = [("instead", Styled(in_words(one.correction), "formula"))] if one.correction else []
    facts: list[doc.Fact] = [("as printed", Styled(one.statement, "formula")), (_named(one), Styled(one.summary, "formula"))]
    return [doc.Heading(one.where, 3), doc.FactList([*facts, *instead])]


def _named(one: Decided, words: str = "what fails") -> Line:
    graded: tuple[doc.Part, ...] = (" ", severity_badge(one.severity)) if one.severity != "none" else ()
    return (f"{words}: ", doc.Link(one.id, one.id), " ", verdict_badge(one.verdict), *graded)


def severity_badge(severity: str) -> doc.Badge:
    return doc.Badge(severity, "bad" if severity == "fatal" else "open")


def _lines(parts: Sequence[doc.Part]) -> Line:
    joined = [part for each in parts for part in (each, "; ")]
    return tuple(joined[:-1])


def graph(decided: Sequence[Decided]) -> Section | None:
    """Each repaired theorem beside the printed one, then all other claims that something rests on."""
    claims = {one.id: one for one in decided}
    figures: list[doc.Figure] = []
    for repair in (one for one in decided if any(name in claims for name in one.repairs)):
        printed = [claims[name] for name in repair.repairs if name in claims]
        figures.append(claim_graph(printed, claims, f"{_where(printed)} as printed"))
        figures.append(claim_graph([repair], claims, f"{_where(printed)}, repaired"))
    wholes = [one for one in decided if one.repairs]
    roots = [*wholes, *(claims[name] for one in wholes for name in one.repairs if name in claims)]
    shown = {row.one.id for row in rows_below(roots, claims)}
    rest = [one for one in unneeded(decided) if one.id not in shown]
    others = [one for one in rest if any(name in claims for name in (*one.needs, *one.breaks))]
    if others:
        figures.append(claim_graph(others, claims, "other claims that rest on some", shown))
    if not figures:
        return None
    legend = (
        "Each claim stands below what needs it: ✓ holds, ~ holds under a condition, ✗ fails, ? not decided. ↑: drawn further up. "
        "Dashed: a repair that, made alone, breaks a claim that held."
    )
    words = doc.Paragraph(legend, "soft")
    return Section([doc.Heading("What rests on what", 2), words, *_reopened(decided), doc.Figures(figures)], "graph")


def _reopened(decided: Sequence[Decided]) -> list[Block]:
    """A repair that breaks claims leaves open all that rests on them, until it is decided again."""
    notes: list[Block] = []
    for repair in decided:
        open_again = dependants(decided, repair.breaks)
        if open_again:
            again = [one.id for one in decided if one.repairs and repair.id in one.needs and one.verdict == "verified"]
            links = [part for name in open_again for part in (doc.Link(name, name), ", ")][:-1]
            closed = [part for name in again for part in (doc.Link(name, name), ", ")][:-1]
            end: list[doc.Part] = ["; decided again, with every part: ", *closed, "."] if closed else ["."]
            words = (doc.Link(repair.id, repair.id), " alone leaves open: ", *links, *end)
            notes.append(doc.Paragraph(words, "note"))
    return notes
