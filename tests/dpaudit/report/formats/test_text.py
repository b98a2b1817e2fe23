"""Documents on a terminal: every line fits, and nothing in them steers it."""

from __future__ import annotations

import pytest

from dpaudit.papers.checks import Decided
from dpaudit.report.content.papers.claims import claims_report
from dpaudit.report.document import Code, Document, FactList, Heading, Listing, Paragraph, Section, Styled, Table
from dpaudit.report.formats import write
from dpaudit.report.formats.columns import columns
from dpaudit.report.formats.text import WIDTH, render

DIGITS = "0.0000000766454161002195842372360327889122664"
ROWS = [{"T": "1e6", "P": DIGITS, "its γ": DIGITS, "holds": True, "proven ≤": None}, {"T": "1e9", "P": DIGITS, "more": 2.0}]
EVIDENCE = {
    "summary": "it fails\nat T = 1e6",
    "rewards": ["1", "-1"],
    "paths": [[0, 0], [1, 0]],
    "a label that is longer than eight letters": "r̂ " * 60,
    "counterexample": {"n": 3, "in the domain": False, "p": DIGITS, "a key of more than thirty-two letters": None},
    "batches": ROWS,
    "figures": [{"svg": "<svg/>"}],
}
ONE = Decided("thm1.x", "Theorem 1", "it holds", "refuted", EVIDENCE, {"noise": "Lap(2)", "regret": None}, {"m": "0"})


def claims_text(decided: list[Decided], *, full: bool, room: int | None = None) -> str:
    return write("text", claims_report(decided, full=full), room)


@pytest.mark.parametrize("room", [40, 60, 80, 110, 200, None])
@pytest.mark.parametrize("full", [False, True])
def test_no_line_is_wider_than_the_terminal(room: int | None, full: bool) -> None:
    text = claims_text([ONE], full=full, room=room)
    assert max(map(columns, text.splitlines())) <= (room or WIDTH)
    assert not any(word in text for word in ("None", "True", "False", "['", "{'", "<svg"))


def test_in_a_pipe_a_claim_of_the_table_is_one_line() -> None:
    long = Decided("thm1.y", "Theorem 2", "it holds", "verified", {"summary": "word " * 100}, None, {})
    lines = claims_text([ONE, long], full=False).splitlines()
    assert sum("thm1." in line for line in lines) == 2
    assert "it fails at T = 1e6" in lines[2]
    assert lines[3].endswith("word " * 99 + "word")


def test_a_story_has_short_labels_beside_and_long_ones_above() -> None:
    lines = claims_text([ONE], full=True).splitlines()
    assert "  rewards  1, -1" in lines
    assert "  a label that is longer than eight letters" in lines
    assert "           in the domain" + " " * 21 + "no" in lines
    assert "           a key of more than thirty-two letters" in lines


def test_nothing_to_show_is_said() -> None:
    assert claims_text([], full=False) == "no claims to check"


def test_a_stranger_s_evidence_does_not_steer_the_terminal() -> None:
    one = Decided("a.b", "here", "x\x1b[2J", "verified", {"summary": "red \x1b[31mtext", "rows": [{"n": "\x9b1m"}]}, None, {})
    for full in (False, True):
        assert not {"\x1b", "\x9b"} & set(claims_text([one], full=full))


def test_sections_are_parted_by_an_empty_line_and_facts_stand_beside_their_labels() -> None:
    facts = FactList([("why", "it is"), ("others-actions", "a long label"), ("", "more")])
    first, empty = Section([Heading("✓ a"), facts]), Section([])
    last = Section([Table(("a", "b"), [("1", "22")]), Listing(["one"]), Code("x\ny")])
    lines = ["✓ a", "  why      it is", "  others-actions", "           a long label", "           more", ""]
    assert render(Document("t", [first, empty, last])).splitlines() == [*lines, "a  b", "─  ──", "1  22", "one", "x", "y"]


def test_a_command_is_never_broken_and_a_sentence_is() -> None:
    command, sentence = f"dpaudit claims {'x' * 200} y", "word " * 60
    shown = render(Document("t", [Section([Paragraph(("To renew it: ", Styled(command, "code"))), Paragraph(sentence)])]))
    assert shown.splitlines()[0] == f"To renew it: {command}"
    assert max(map(len, shown.splitlines()[1:])) <= WIDTH


def test_a_table_that_fits_keeps_its_columns_on_a_narrow_terminal() -> None:
    document = Document("t", [Section([Table(("peer", "method", "ε"), [("opacus", "RDP", "7.3")])])])
    assert render(document, 40).splitlines() == ["peer    method  ε", "──────  ──────  ───", "opacus  RDP     7.3"]
