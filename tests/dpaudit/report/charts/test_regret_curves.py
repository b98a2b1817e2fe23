"""Curves on log axes: a line for each system, higher regret higher up, and words for those who do not see them."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

from dpaudit.report.charts.regret_curves import BOTTOM, LINE_HEIGHT, apart, regret_curves


def row(system: str, *means: float) -> dict[str, object]:
    regret = [{"horizon": 10 ** (3 + place), "mean": mean, "error": 1.0} for place, mean in enumerate(means)]
    return {"system": system, "regret": regret}


def test_each_system_has_its_line_and_its_number_at_the_end():
    drawn = str(regret_curves([row("low", 10.0, 20.0, 30.0), row("high", 100.0, 1000.0, 9000.0)]))
    ElementTree.fromstring(drawn)
    ends = {number: float(y) for y, number in re.findall(r'y="([0-9.]+)" text-anchor="start">(\d)<', drawn)}
    assert ends["2"] < ends["1"]  # y grows downwards
    assert "high: 9000" in drawn


def test_numbers_of_systems_with_equal_regret_do_not_lie_on_each_other():
    drawn = str(regret_curves([row(f"system {k}", 10.0, 20.0, 1000.0 + k) for k in range(20)]))
    heights = sorted(float(y) for y, _ in re.findall(r'y="([0-9.]+)" text-anchor="start">(\d+)<', drawn))
    assert len(heights) == 20
    assert min(b - a for a, b in pairwise(heights)) >= LINE_HEIGHT - 0.1


def test_heights_keep_their_order_and_move_no_more_than_needed():
    assert apart([50.0, 10.0, 90.0], 13, BOTTOM) == [50.0, 10.0, 90.0]
    assert apart([20.0, 20.0], 13, BOTTOM) == [20.0, 33.0]
    assert apart([BOTTOM, BOTTOM - 5.0], 13, BOTTOM) == [BOTTOM, BOTTOM - 13]


def test_systems_without_any_regret_make_an_empty_drawing():
    assert "no regret" in str(regret_curves([row("none", 0.0)]))
