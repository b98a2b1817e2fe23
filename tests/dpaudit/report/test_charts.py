"""Charts: numbers rounded to the safe side, labels that can be read whatever the figures, the same in text."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpaudit.accountants.client_shares import Share
from dpaudit.accountants.spending_history import Step
from dpaudit.claims import Finding, Losses
from dpaudit.claims.decimals import number
from dpaudit.report.charts import at_least, at_most, interval, interval_text
from dpaudit.report.clients import clients_html, clients_markdown
from dpaudit.report.findings import MOST, findings_html, findings_markdown
from dpaudit.report.histogram import beyond, histogram, histogram_text
from dpaudit.report.markdown import bar, plain, table
from dpaudit.report.page import element, page
from dpaudit.report.timeline import timeline, timeline_markdown

SIZES = (0.0, 1e-9, 0.1, 0.999999, 1.0, 12345.678, 1e300)


def losses(high: float, data: list[int], neighbour: list[int]) -> Losses:
    return Losses(-high, high, data, neighbour, "likelihood ratio")


def steps(epsilons: list[float]) -> list[Step]:
    found, total = [], 0.0
    for place, epsilon in enumerate(epsilons):
        total += epsilon
        found.append(Step(place + 1, place + 1, (f"r{place}", f"r{place}"), epsilon, total))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_upper_bounds_are_shown_rounded_up_and_lower_bounds_down(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(500):
        value = draw.choice([draw.random(), 1 + draw.random() / 1e6, 10 ** draw.uniform(-12, 12)])
        assert Decimal(at_least(value)) <= Decimal(repr(value)) <= Decimal(at_most(value))
        exact = Fraction(draw.randrange(1, 10**15), draw.randrange(1, 10**12))
        assert Fraction(number(exact)) >= exact
        assert Fraction(number(exact)) <= exact * (1 + Fraction(1, 10**6))
    assert [at_most(0.1), at_least(0.1), at_most(1.0), at_most(0.0)] == ["0.1", "0.1", "1", "0"]


@pytest.mark.parametrize("width", [375, 1280])
def test_labels_of_an_interval_never_cover_each_other(width: int, open_page: Callable[..., Any]) -> None:
    drawn = [
        interval(lower, upper, claim)
        for lower, upper, claim in product((None, *SIZES), (None, *SIZES), SIZES)
        if upper is None or lower is None or lower <= upper
    ]
    open_page(page("intervals", [element("div", *drawn, class_="charts")]), width).whole()


@pytest.mark.parametrize("width", [375, 1280])
def test_labels_of_a_timeline_and_of_losses_never_cover_each_other(width: int, open_page: Callable[..., Any]) -> None:
    draw, drawn = random.Random(1), []
    for budget in (None, 0.001, 0.9, 0.99, 1.0, 1.01, 1.1, 3.9, 1e300):
        for count in (1, 2, 48):
            shares = [draw.random() for _ in range(count)]
            drawn.append(timeline(steps([share / sum(shares) for share in shares]), budget))
    for claim, counts in product((0.0, 1e-6, 0.1, 0.3, 0.5, 0.98, 1.0, 1.5, 2.9, 3.1, 1e300), ([1], [0], [7, 1, 0])):
        sides = (counts * 45)[:45], (counts * 45)[:45][::-1]
        drawn.append(histogram(losses(1.02, *sides), claim))
    drawn.append(timeline(steps([0.0, 0.0]), 0.0))
    open_page(page("charts", [element("div", *drawn, class_="charts")]), width).whole()


def test_twin_labels_that_cover_each_other_or_leave_the_page_are_noticed(open_page: Callable[..., Any]) -> None:
    label = '<text x="{}" y="50" font-size="14">a label</text>'
    close = f'<!doctype html><svg width="300" height="100">{label.format(10)}{label.format(20)}</svg>'
    outside = f'<!doctype html><svg width="300" height="99" overflow="visible">{label.format(-40)}</svg>'
    tiny = '<!doctype html><svg width="300" height="100"><rect width="0" height="3"/></svg>'
    for html in (close, outside, tiny):
        with pytest.raises(AssertionError):
            open_page(html, 375).whole()


def test_an_interval_in_text_has_its_blocks_between_the_bounds_and_the_claim_as_an_upright() -> None:
    drawn, told = interval_text(1.0, 2.0, 2.0).splitlines()
    cells = drawn.split()[1]
    assert told == "attacked ≥ 1, proven ≤ 2, claim 2"
    assert len(cells) == 50
    assert cells.index("█") == 20
    assert cells.index("┃") == 40
    assert "·" in interval_text(1.0, None, 2.0)
    for lower, upper, claim in product((None, *SIZES), (None, *SIZES), SIZES):
        assert len(interval_text(lower, upper, claim).splitlines()[0].split()[1]) == 50


def test_only_losses_surely_beyond_the_claim_are_called_so() -> None:
    counts = [10, 0, 0, 0, 90]  # bins of width 1 from −2.5 on
    assert beyond(losses(2.5, counts, counts), 1.0) == "Beyond ε: 90 % of those on D, 10 % of those on D'."
    assert beyond(losses(2.5, counts, counts), 1.5) == "None was seen clearly beyond ε."  # 1.5 may be in the last bin itself


def test_losses_in_text_are_nine_rows_of_shares() -> None:
    text = histogram_text(losses(1.0, [0] * 40 + [20] * 5, [1] * 45), 0.5)
    rows = text.splitlines()[1:-1]
    assert len(rows) == 9
    assert "100.0%" in rows[-1]
    assert rows[0].count("11.1%") == 1


def test_a_timeline_in_markdown_has_few_rows_and_marks_what_is_over() -> None:
    text = timeline_markdown(steps([0.1] * 48), 1.0)
    assert len(text.splitlines()) == 2 + 10
    assert text.splitlines()[2].startswith("| 1–5 | r0 … r4 | 0.1 | 0.5 |")
    assert [" over " in line for line in text.splitlines()[2:]] == [False, False] + [True] * 8


def test_clients_are_bars_and_everybody_else_has_none() -> None:
    shares = [Share(0.5, 0.5, None), Share(1.0, 1.0, 1), Share(2.0, 3.0, 4000)]
    html, text = clients_html(shares), clients_markdown(shares)
    assert html.count('class="bar"') == 2
    assert "ε 2 to 3: 4,000 clients" in html
    assert "everybody else" in html
    assert "| ε 1 | 1 client | `█░" in text


def test_findings_of_one_rule_share_what_to_do_and_many_are_counted() -> None:
    found = [Finding("DPA003", f"release {k} <b>", "here") for k in range(25)] + [Finding("DPA001", "too much")]
    html, text = "".join(findings_html(found)), "\n".join(findings_markdown(found))
    for told in (html, text):
        assert told.index("DPA001") < told.index("DPA003")
        assert told.count("What to do") == 2
        assert f"and {25 - MOST} more" in told
    assert "<b>" not in html
    assert r"\<b\>" in text
    assert findings_html([]) == findings_markdown([]) == []


def test_text_in_markdown_stays_text() -> None:
    hostile = "<img src=x> [a](b) `c` **d** @you | e \\| f\n# g $x$ &amp;"
    shown = plain(hostile)
    assert "\n" not in shown
    assert "@you" not in shown
    for mark in "<>[]`*|#$&":
        assert all(before == "\\" for before, here in zip(" " + shown, shown, strict=False) if here == mark)
    row = table(("a", "b"), [[shown, "x | y"]]).splitlines()[-1]
    cells = [place for place, here in enumerate(row) if here == "|" and row[place - 1] != "\\"]
    assert len(cells) == 3


def test_a_bar_of_blocks_shows_whatever_is_not_nothing() -> None:
    assert bar(0, 1, 4) == "░░░░"
    assert bar(1e-9, 1, 4) == "█░░░"
    assert bar(1, 1, 4) == "████"
    assert bar(5, 1, 4) == "████"
    assert bar(0, 0, 4) == "░░░░"
