"""Markdown as GitHub reads it: text stays text, folds fold, links that only a page can follow are left out."""

from __future__ import annotations

from dpaudit.report.document import (
    Badge,
    Code,
    Contents,
    Document,
    FactList,
    Fold,
    Heading,
    Link,
    Paragraph,
    Section,
    Styled,
    Table,
)
from dpaudit.report.formats.markdown import plain, render, table


def test_text_in_markdown_stays_text() -> None:
    hostile = "<img src=x> [a](b) `c` **d** @you | e \\| f\n# g $x$ &amp;"
    shown = plain(hostile)
    assert "\n" not in shown
    assert "@you" not in shown
    for mark in "<>[]`*|#$&":
        assert all(before == "\\" for before, here in zip(" " + shown, shown, strict=False) if here == mark)
    row = table(("a", "b"), [[hostile, Styled("x | y", "code")]]).splitlines()[-1]
    cells = [place for place, here in enumerate(row) if here == "|" and row[place - 1] != "\\"]
    assert len(cells) == 3


def test_a_document_keeps_its_order_and_folds_what_is_long() -> None:
    first = Section([Heading(("a_b ", Badge("refuted", "bad"), Link("top", "top", back=True))), Contents([Link("x", "x")])])
    facts = FactList([("n", "1 | 2"), ("rows", Table(("k",), [("v",)]))])
    second = Section([Paragraph((Styled("Why: ", "strong"), "so")), Fold("More", [Code("1  2"), facts])])
    assert render(Document("t", [first, second])).split("\n\n") == [
        r"## a\_b ✗ refuted",
        "**Why:** so",
        "<details><summary>More</summary>",
        "```\n1  2\n```",
        "|  |  |\n| --- | --- |\n| **n** | 1 \\| 2 |",
        "**rows**",
        "| k |\n| --- |\n| v |",
        "</details>",
    ]
