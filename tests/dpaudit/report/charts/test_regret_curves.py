"""Curves on log axes: a line for each system, higher regret higher up, and words for those who do not see them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from dpaudit.report.charts.regret_curves import regret_curves


def row(system: str, *means: float) -> dict[str, object]:
    regret = [{"horizon": 10 ** (3 + place), "mean": mean, "error": 1.0} for place, mean in enumerate(means)]
    return {"system": system, "regret": regret}


def test_each_system_has_its_line_and_its_number_at_the_end():
    drawn = str(regret_curves([row("low", 10.0, 20.0, 30.0), row("high", 100.0, 1000.0, 9000.0)]))
    ElementTree.fromstring(drawn)
    ends = {number: float(y) for y, number in re.findall(r'y="([0-9.]+)" text-anchor="start">(\d)<', drawn)}
    assert ends["2"] < ends["1"]  # y grows downwards
    assert "high: 9000" in drawn


def test_systems_without_any_regret_make_an_empty_drawing():
    assert "no regret" in str(regret_curves([row("none", 0.0)]))
