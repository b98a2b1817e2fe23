"""Noise and shuffled reports: intervals rounded outward, and what does not hold said first."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.claims import Enclosure
from dpaudit.report.content.calibration import calibration_report, enclosure_report
from dpaudit.report.formats import write


def test_an_enclosure_is_rounded_outward_and_says_what_does_not_hold() -> None:
    third = Enclosure(Fraction(1, 3), Fraction(2, 3), False, "clone", Fraction(1, 3))
    lines = write("text", enclosure_report(third, "ε", "clone", 3, {})).splitlines()
    assert lines[0].startswith("ε in [0.333, 0.667]  (clone")
    assert lines[1].startswith("  DPA005   the theorem does not hold there")
    assert lines[-1].startswith("  attack   ε ≥ 0.333333333333 for an ε0-LDP randomiser")


def test_a_calibration_says_its_parameter_first() -> None:
    data = {
        "mechanism": "laplace", "parameter": "scale", "value": "2", "claim": {"epsilon": "1", "delta": "0"}, "count": 2,
        "n": None,
        "sensitivity": "1",
        "epsilon": {"lower": "1", "upper": "1"}, "theorem": "t", "adaptive": True, "python": "dp.Laplace(2)", "others": [],
    }  # fmt: skip
    text = write("text", calibration_report(data))
    assert text.startswith("Laplace noise of scale 2, 2 times: keeps ε = 1\n  for      sensitivity 1 (L1)")
    assert "gives    ε = 1, exactly at δ = 0" in text
