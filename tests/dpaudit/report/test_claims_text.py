"""Claims as text: every table fits, no value is written as Python writes it."""

from __future__ import annotations

import pytest

from dpaudit.papers.checks import Decided
from dpaudit.report.claims_text import claims_text
from dpaudit.report.claims_values import as_table, told
from dpaudit.report.columns import columns, fitted
from dpaudit.report.text import WIDTH

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


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (True, "yes"), (False, "no"), (715128.0, "715128"), (0.1, "0.1"), (1e300, "1e+300"), ([], "none"), ({}, "none"),
     (["1", "-1"], "1, -1"), ([[0, 1], [1]], "(0, 1), (1)"), ({"a": None, "b": [1]}, "a: –; b: 1"),
     (9.094051984504299, "9.094051984504299")],
)  # fmt: skip
def test_values_are_told_in_words_and_never_rounded(value: object, words: str) -> None:
    assert told(value) == words


def test_a_list_of_objects_is_a_table_whatever_keys_they_have() -> None:
    assert as_table([{"a": 1}, {"b": None}]) == (["a", "b"], [["1", ""], ["", "–"]])
    assert as_table([]) is as_table([{}]) is as_table([1]) is as_table("x") is None


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


def test_a_table_wraps_words_then_goes_on_below_then_becomes_paragraphs() -> None:
    header, rows = ["T", "first of these", "second"], [["1e6", "a b c d e f", DIGITS]]
    wide = fitted(header, rows, 100)
    assert len(wide) == 3
    narrow = fitted(header, rows, 60)
    assert len(narrow) == 5
    assert not any(line.startswith("T") for line in narrow[1:])
    below = fitted(header, rows, 54)
    assert sum(line.startswith("T") for line in below) == 2
    assert "" in below
    paragraphs = fitted(header, rows, 30)
    assert paragraphs[0].startswith("• T: 1e6; first of these: a b")
    for lines, room in ((wide, 100), (narrow, 60), (below, 54), (paragraphs, 30)):
        assert max(map(columns, lines)) <= room
        assert DIGITS in "".join(line.strip() for line in lines)


def test_what_goes_on_below_repeats_the_columns_that_tell_rows_apart() -> None:
    lines = fitted(["T", "ε", "P", "Q"], [["1e6", "1", DIGITS, DIGITS], ["1e6", "100", DIGITS, DIGITS]], 70)
    assert [line.split() for line in lines if line.startswith("T")] == [["T", "ε", "P"], ["T", "ε", "Q"]]
    alike = fitted(["T", "P", "Q"], [["1e6", DIGITS, DIGITS], ["1e6", DIGITS, DIGITS]], 60)
    assert [line.split() for line in alike if line.startswith("T")] == [["T", "P"], ["T", "Q"]]


def test_a_hat_takes_no_column() -> None:
    lines = fitted(["a", "b"], [["θ̂", "x"], ["y", "z"]], 20)
    assert columns("θ̂") == 1
    assert [columns(line) for line in lines] == [4, 4, 4, 4]


def test_a_stranger_s_evidence_does_not_steer_the_terminal() -> None:
    one = Decided("a.b", "here", "x\x1b[2J", "verified", {"summary": "red \x1b[31mtext", "rows": [{"n": "\x9b1m"}]}, None, {})
    for full in (False, True):
        assert not {"\x1b", "\x9b"} & set(claims_text([one], full=full))
