"""Tables that fit: cells are wrapped, what is too wide goes on below, and no word is lost."""

from __future__ import annotations

from dpaudit.report.formats.columns import columns, fitted, stacked

DIGITS = "0.0000000766454161002195842372360327889122664"


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


def test_without_columns_every_row_has_its_last_cell_below() -> None:
    lines = stacked(
        ["claim", "where", "verdict", "why"], [["✗ thm1", "Theorem 1", "refuted", "it fails " * 9], ["alone", "last"]], 40
    )
    assert lines[0] == "✗ thm1: Theorem 1, refuted"
    assert lines[1].startswith("    it fails")
    assert lines[-2:] == ["alone", "    last"]
    assert max(map(columns, lines)) <= 40


def test_without_columns_the_cells_of_a_wide_table_are_named() -> None:
    lines = stacked(["release", "n", "ε0", "holds", "needs"], [["sum", "1", "0.5", "", "nothing"]], 40)
    assert lines == ["sum: n 1, ε0 0.5", "    nothing"]
