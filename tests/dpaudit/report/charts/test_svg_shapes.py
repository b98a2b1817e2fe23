"""What charts are drawn with: names stay text, and whatever is not nothing shows."""

from __future__ import annotations

from dpaudit.report.charts.svg_shapes import bar, box, drawing, label


def test_a_bar_of_blocks_shows_whatever_is_not_nothing() -> None:
    assert bar(0, 1, 4) == "░░░░"
    assert bar(1e-9, 1, 4) == "█░░░"
    assert bar(1, 1, 4) == "████"
    assert bar(5, 1, 4) == "████"
    assert bar(0, 0, 4) == "░░░░"


def test_names_in_a_drawing_stay_text() -> None:
    for drawn in (box(0, 0, 0, 0, "red", "<b>"), label(0, 0, "<b>"), drawing("", 9, '"<b>"')):
        assert "<b>" not in drawn
        assert "&lt;b&gt;" in drawn


def test_labels_turn_inward_near_the_edges() -> None:
    assert [label(x, 0, "a").split('anchor="')[1].split('"')[0] for x in (16, 200, 384)] == ["start", "middle", "end"]
