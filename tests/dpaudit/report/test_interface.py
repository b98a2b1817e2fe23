"""The seams: a new page is content only, and a new format is one function and one row."""

from __future__ import annotations

import pytest

from dpaudit.claims import DpauditError
from dpaudit.gate.results import Checked
from dpaudit.report.content.check import check_report
from dpaudit.report.document import Document, FactList, Heading, Paragraph, Section, Table, plain_text
from dpaudit.report.formats import renderers, write
from dpaudit.report.interface import Depth, Report, gate_of

PEOPLE = ("text", "html", "markdown", "latex")


def toy_page(depth: Depth) -> Document:
    blocks = (Heading("A toy"), FactList([("depth", depth)]), Table(("a", "b"), [("1", "cell")]), Paragraph("the end"))
    return Document("Toy", [Section(blocks, anchor="toy")])


TOY = Report(toy_page, lambda: {"toy": 1})


@pytest.mark.parametrize(("form", "depth"), list(zip(PEOPLE, ("terminal", "page", "comment", "letter"), strict=True)))
def test_a_new_page_is_content_only(form: str, depth: str) -> None:
    shown = write(form, TOY)
    places = [shown.index(part) for part in ("A toy", f"{depth}<" if form == "html" else depth, "cell", "the end")]
    assert places == sorted(places)
    assert write("json", TOY) == '{\n  "toy": 1\n}'


def test_a_new_format_is_one_function_and_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def write_shouting(report: Report, room: int | None = None) -> str:
        blocks = [block for section in report.document("comment").sections for block in section.blocks]
        return "\n".join(plain_text(block.content).upper() for block in blocks if isinstance(block, Heading | Paragraph))

    monkeypatch.setitem(renderers, "shouting", write_shouting)
    assert write("shouting", TOY) == "A TOY\nTHE END"
    assert write("shouting", check_report(Checked(""))).startswith("PRIVACY BUDGETS\nNOTHING TO CHECK")


@pytest.mark.parametrize("form", sorted(set(renderers) - {*PEOPLE, "json"}))
def test_formats_of_gates_take_a_gate_and_refuse_all_else(form: str) -> None:
    assert write(form, check_report(Checked("")))
    with pytest.raises(DpauditError):
        write(form, TOY)


def test_a_gate_is_handed_to_the_formats_that_need_it() -> None:
    checked = Checked("")
    assert gate_of(check_report(checked)) is checked
