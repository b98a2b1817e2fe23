"""The trade-off as a figure."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.accountants.curves.trade_off import HitRate
from dpaudit.report.charts.hit_rates import trade_off_figure


def test_the_figure_says_it_in_words_and_numbers() -> None:
    rates = [HitRate(Fraction(1, 100), Fraction(3, 100)), HitRate(Fraction(1, 2), Fraction(4, 5))]
    figure = trade_off_figure(rates)
    assert "at a false positive rate of 0.01 no test is right more often than 0.03" in str(figure)
