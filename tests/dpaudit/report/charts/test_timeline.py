"""A ledger's releases in their order: labels that can be read whatever the budget, and the same as a table."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.accountants.spending_history import Step
from dpaudit.report.charts.timeline import timeline
from dpaudit.report.document import Document, Figures, Section
from dpaudit.report.formats.html import render
from dpaudit.report.formats.markdown import markdown

BUDGETS = ("0.001", "0.9", "0.99", "1", "1.01", "1.1", "3.9", "1e300")


def steps(epsilons: list[float]) -> list[Step]:
    made, total = [], 0.0
    for place, epsilon in enumerate(epsilons):
        total += epsilon
        made.append(Step(place + 1, place + 1, (f"r{place}", f"r{place}"), epsilon, total))
    return made


@pytest.mark.parametrize("width", [375, 1280])
def test_labels_of_a_timeline_never_cover_each_other(width: int, open_page: Callable[..., Any]) -> None:
    draw, drawn = random.Random(1), [timeline(steps([0.0, 0.0]), Fraction(0))]
    for budget in (None, *map(Fraction, BUDGETS)):
        for count in (1, 2, 48):
            shares = [draw.random() for _ in range(count)]
            drawn.append(timeline(steps([share / sum(shares) for share in shares]), budget))
    open_page(render(Document("timelines", [Section([Figures(drawn)])])), width).whole()


def test_a_ledger_that_meets_its_budget_exactly_is_not_drawn_as_over_it() -> None:
    third = Fraction(1, 3)
    spent = steps([0.33333333333333337])  # the float above one third
    within, over = timeline(spent, third, third), timeline(spent, third, third + Fraction(1, 10**30))
    assert "var(--bad)" not in within.drawing
    assert "ε ≤ 1/3" in within.drawing
    assert "var(--bad)" in over.drawing


def test_a_timeline_in_markdown_has_few_rows_and_marks_what_is_over() -> None:
    (text,) = markdown(timeline(steps([0.125] * 48), Fraction(1)).words)
    assert len(text.splitlines()) == 2 + 10
    assert text.splitlines()[2].startswith("| 1–5 | r0 … r4 | 0.125 | 0.625 |")
    assert [" over " in line for line in text.splitlines()[2:]] == [False] + [True] * 9
