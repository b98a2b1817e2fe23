"""The ε interval: numbers as everywhere, labels that can be read whatever the figures, the same in text."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpaudit.report.charts.interval import interval
from dpaudit.report.document import Code, Document, Figures, Section
from dpaudit.report.formats.html import render

SIZES = (0.0, 1e-9, 0.1, 0.999999, 1.0, 12345.678, 1e300)
EXACT = tuple(Fraction(repr(size)) for size in SIZES)


def in_text(lower: float | None, upper: Fraction | None, claim: Fraction) -> list[str]:
    (words,) = interval(lower, upper, claim).words
    assert isinstance(words, Code)
    return words.text.splitlines()


@pytest.mark.parametrize("width", [375, 1280])
def test_labels_of_an_interval_never_cover_each_other(width: int, open_page: Callable[..., Any]) -> None:
    drawn = [
        interval(lower, upper, claim)
        for lower, upper, claim in product((None, *SIZES), (None, *EXACT), EXACT)
        if upper is None or lower is None or lower <= upper
    ]
    open_page(render(Document("intervals", [Section([Figures(drawn)])])), width).whole()


def test_an_interval_in_text_has_its_blocks_between_the_bounds_and_the_claim_as_an_upright() -> None:
    drawn, told = in_text(1.0, Fraction(2), Fraction(2))
    cells = drawn.split()[1]
    assert told == "attacked ≥ 1, proven ≤ 2, claim 2"
    assert len(cells) == 50
    assert cells.index("█") == 20
    assert cells.index("┃") == 40
    assert "·" in in_text(1.0, None, Fraction(2))[0]
    for lower, upper, claim in product((None, *SIZES), (None, *EXACT), EXACT):
        assert len(in_text(lower, upper, claim)[0].split()[1]) == 50


def test_a_bound_just_over_its_budget_is_bad_and_one_that_meets_it_is_good() -> None:
    third = Fraction(1, 3)  # as a float it lies below, rounded up above
    assert "var(--good)" in interval(None, third, third, "budget").drawing
    assert "var(--bad)" in interval(None, third + Fraction(1, 10**30), third, "budget").drawing
    assert "var(--open)" in interval(0.1, third + Fraction(1, 10**30), third).drawing


def test_a_lower_bound_that_refutes_is_seen_above_the_claim() -> None:
    assert in_text(10.000001, Fraction(11), Fraction(10))[1] == "attacked ≥ 10.000001, proven ≤ 11, claim 10"


def test_ends_that_meet_are_one_label_and_a_dot_that_the_claim_does_not_hide(open_page: Callable[..., Any]) -> None:
    page = open_page(render(Document("one", [Section([Figures([interval(1.0, Fraction(1), Fraction(1))])])])), 390)
    assert page.evaluate("[...document.querySelectorAll('svg text')].map(t => t.textContent)") == ["claim 1", "0", "exactly 1"]
    assert page.evaluate("document.querySelector('circle').getBoundingClientRect().width") > 10
    page.whole()
    assert "<circle" not in interval(0.5, Fraction(1), Fraction(1)).drawing  # twin: ends that lie apart


def test_twin_labels_that_cover_each_other_or_leave_the_page_are_noticed(open_page: Callable[..., Any]) -> None:
    label = '<text x="{}" y="50" font-size="14">a label</text>'
    close = f'<!doctype html><svg width="300" height="100">{label.format(10)}{label.format(20)}</svg>'
    outside = f'<!doctype html><svg width="300" height="99" overflow="visible">{label.format(-40)}</svg>'
    tiny = '<!doctype html><svg width="300" height="100"><rect width="0" height="3"/></svg>'
    for html in (close, outside, tiny):
        with pytest.raises(AssertionError):
            open_page(html, 375).whole()
