"""Privacy losses: only what surely lies beyond the claim is called so, and the labels can be read."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpaudit.claims import Losses
from dpaudit.report.charts.histogram import beyond, histogram, histogram_text
from dpaudit.report.document import Document, Figures, Section
from dpaudit.report.formats.html import render

CLAIMS = ("0", "1e-6", "0.1", "0.3", "0.5", "0.98", "1", "1.5", "2.9", "3.1", "1e300", "1.0001234567")


def losses(high: float, data: list[int], neighbour: list[int]) -> Losses:
    return Losses(-high, high, data, neighbour, "likelihood ratio")


@pytest.mark.parametrize("width", [375, 1280])
def test_labels_of_losses_never_cover_each_other(width: int, open_page: Callable[..., Any]) -> None:
    drawn = []
    for claim, counts in product(CLAIMS, ([1], [0], [7, 1, 0])):
        sides = (counts * 45)[:45], (counts * 45)[:45][::-1]
        drawn.append(histogram(losses(1.02, *sides), Fraction(claim)))
    open_page(render(Document("losses", [Section([Figures(drawn)])])), width).whole()


def test_the_claim_is_named_as_it_was_asked() -> None:
    assert "ε = 1.0001" in histogram(losses(1.2, [1, 1], [1, 1]), Fraction("1.0001")).drawing


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
