"""Writes one self-contained HTML page: no request, light and dark, phone and paper; no script but that of a table's search."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import Any

from dpaudit.report import document as doc
from dpaudit.report.document import Badge, Block, Document, Line, Link, Part, parts_of, plain_text
from dpaudit.report.formats.formulas import formula
from dpaudit.report.formats.style import STYLE
from dpaudit.report.formats.table_search import SCRIPT, row_words, search_box
from dpaudit.report.interface import Report
from dpaudit.report.markup import Html, element, text

KINDS = {"soft": "soft", "note": "note", "warning": "note warning", "quote": "said", "": ""}
SHORT = 12  # letters of a column's title that is never broken


def write(report: Report, room: int | None = None) -> str:
    return render(report.document("page"))


def render(document: Document) -> str:
    inside = "\n".join(part for section in document.sections for part in _section(section))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(document.title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{inside}\n{_script(document)}</body>\n</html>"
    )


def _script(document: Document) -> str:
    """Only where a table can be searched."""
    tables = [block for section in document.sections for block in section.blocks if isinstance(block, doc.Table)]
    return f"<script>{SCRIPT}</script>\n" if any(table.filters for table in tables) else ""


def _section(section: doc.Section) -> list[Html]:
    inside = list(map(html, section.blocks))
    return [element("section", *inside, id=section.anchor)] if section.anchor else inside


def inline(line: Line) -> Html:
    return Html("".join(_part(part) for part in parts_of(line)))


def _part(part: Part) -> Html:
    if isinstance(part, str):
        return text(part)
    if isinstance(part, Badge):
        return element("span", part.text, class_=f"badge {part.tone}")
    if isinstance(part, Link):
        return element("a", part.text, href=f"#{part.anchor}", class_="back" if part.back else "")
    if part.style == "formula":
        return formula(part.text)
    if part.style == "code":
        return element("code", part.text, class_="" if " " in part.text else "word")
    if part.style == "word":
        return element("span", formula(part.text), class_="word")
    if part.style.startswith("strong"):
        return element("strong", part.text if part.style == "strong" else formula(part.text))
    return element("span", part.text, class_=part.style)


def html(block: Block) -> Html:
    match block:
        case doc.Heading(content, level):
            return element(f"h{level}", inline(content))
        case doc.Paragraph(content, kind):
            return element("p", inline(content), class_=KINDS[kind])
        case doc.Table():
            return _table(block)
        case doc.FactList(pairs):
            return _facts(pairs)
        case doc.Listing(items):
            return element("ul", *(element("li", inline(item)) for item in items))
        case doc.Contents(entries, anchor):
            inside = element("ul", *(element("li", inline(entry)) for entry in entries))
            return element("nav", element("h2", "Contents"), inside, id=anchor, aria_label="Contents")
        case doc.Code(code):
            return element("pre", code)
        case doc.Figure(drawing, caption):
            return element("figure", drawing, *([element("figcaption", inline(caption))] if caption else []))
        case doc.Figures(figures):
            return element("div", *map(html, figures), class_="charts")
        case doc.Aside(blocks):
            return element("div", *map(html, blocks), class_="finding")
        case doc.Fold(title, blocks, level):
            return Html("\n".join([element(f"h{level}", title), *map(html, blocks)]))


def _table(table: doc.Table) -> Html:
    """It scrolls by itself when it is too wide for a phone."""
    head = element("tr", *(element("th", inline(cell), class_=_cell_class(cell)) for cell in table.header))
    lines = [
        element("tr", *(element("td", inline(cell)) for cell in row), data_words=row_words(row) if table.filters else "")
        for row in table.rows
    ]
    drawn = element("table", element("thead", head), element("tbody", *lines))
    framed = element("div", drawn, class_=f"wide {table.layout}".strip())
    return Html(f"{search_box(table.filters)}\n{framed}") if table.filters else framed


def _cell_class(cell: Line) -> str:
    return "word" if len(plain_text(cell)) <= SHORT else ""


def _facts(pairs: Iterable[tuple[Line, Any]]) -> Html:
    """A list of definitions; a table among the facts stands below its label."""
    parts: list[Html] = []
    for tabular, group in groupby(pairs, lambda pair: isinstance(pair[1], doc.Table)):
        if tabular:
            parts += [part for name, table in group for part in (element("p", inline(name), class_="label"), html(table))]
        else:
            parts.append(element("dl", *(part for name, value in group for part in _fact(name, value))))
    return Html("\n".join(parts))


def _fact(name: Line, value: Any) -> tuple[Html, Html]:
    return element("dt", inline(name)), element("dd", html(value) if isinstance(value, doc.FactList) else inline(value))
