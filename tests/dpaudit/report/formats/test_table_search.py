"""The search box is there only for tables that ask for it, and takes its words from badges."""

from __future__ import annotations

from dpaudit.report.document import Badge, Document, Section, Table
from dpaudit.report.formats.html import render
from dpaudit.report.formats.table_search import row_words, search_box


def page(*filters: str) -> str:
    return render(Document("t", [Section([Table(("a",), [(Badge("refuted"),), ("plain",)], "cards", filters)])]))


def test_a_table_without_filters_has_no_script() -> None:
    assert "<script" not in page()
    assert "data-words" not in page()


def test_a_table_with_filters_has_one_box_and_one_script() -> None:
    shown = page("refuted", "<b>")
    assert shown.count("<script>") == 1
    assert 'data-words="refuted"' in shown
    assert "&lt;b&gt;" in search_box(["<b>"])


def test_words_are_those_of_badges() -> None:
    assert row_words(["text", (Badge("fatal"), " ", Badge("stale"))]) == "fatal stale"
