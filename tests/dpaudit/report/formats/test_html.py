"""The page: every block has its element, in order, and a stranger's names are text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.report import document as doc
from dpaudit.report.formats.html import html, render
from dpaudit.report.markup import Html

SVG = Html('<svg class="chart" viewBox="0 0 400 100" role="img"><rect width="9" height="9"/></svg>')
NASTY = "<script>console.error(1)</script>"
EVERY: list[doc.Block] = [
    doc.Heading((NASTY, doc.Badge(NASTY, "bad"), doc.Link("up", "contents", back=True))),
    doc.Paragraph((doc.Styled(NASTY, "strong"), doc.Styled("x_i", "formula"), doc.Styled("a b", "code")), "note"),
    doc.Contents([doc.Link(NASTY, "here")]),
    doc.Table((NASTY,), [(NASTY,)], "roomy"),
    doc.FactList([(NASTY, NASTY), ("rows", doc.Table(("k",), [("v",)])), ("more", doc.FactList([("a", NASTY)]))]),
    doc.Listing([NASTY]),
    doc.Code(NASTY),
    doc.Figures([doc.Figure(SVG, NASTY)]),
    doc.Aside([doc.Paragraph(NASTY)]),
    doc.Fold(NASTY, [doc.Paragraph("inside")], 3),
]


@pytest.mark.parametrize("width", [375, 1280])
def test_every_block_has_its_element_and_names_stay_text(width: int, open_page: Callable[..., Any]) -> None:
    page = open_page(render(doc.Document(NASTY, [doc.Section(EVERY, "here")])), width)
    page.whole()
    assert page.evaluate("document.title") == NASTY
    for selector in ("h1 .badge.bad", "h1 a.back", "p.note code", "nav#contents a", ".wide.roomy td", "dl dl dd", "ul li",
                     "p.label + .wide", "pre", ".charts figure svg", ".finding p", "h3 + p", "section#here"):  # fmt: skip
        assert page.evaluate(f"document.querySelector('{selector}') !== null"), selector


def test_a_link_leads_to_its_section(open_page: Callable[..., Any]) -> None:
    page = open_page(render(doc.Document("t", [doc.Section(EVERY, "here")])))
    assert page.evaluate("[...document.querySelectorAll('a')].every(a => document.getElementById(a.hash.slice(1)) !== null)")


def test_only_formulas_are_set_as_such_and_a_name_never_is() -> None:
    assert html(doc.Paragraph(doc.Styled("release 'n_t'", "strong"))) == "<p><strong>release &#x27;n_t&#x27;</strong></p>"
    assert html(doc.Paragraph(doc.Styled("n_t", "strong formula"))) == "<p><strong>n<sub>t</sub></strong></p>"


def test_a_figure_without_a_caption_has_none() -> None:
    assert html(doc.Figure(SVG)) == f"<figure>{SVG}</figure>"
