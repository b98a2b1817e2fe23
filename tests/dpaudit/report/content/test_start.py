"""The demo, a run and a rule, for a person."""

from __future__ import annotations

from dpaudit.claims.rules import RULES
from dpaudit.report.content.start import demo_report, rule_report, run_report
from dpaudit.report.formats import write


def test_a_demo_has_a_row_and_a_reason_for_each_model() -> None:
    row = {"model": "m", "calibration": "tight", "claim": {"epsilon": "1", "delta": "1e-6"}, "upper": "1/3", "lower": 1.00001}
    text = write("text", demo_report({"rows": [{**row, "verdict": "refuted", "regret": 3.6, "why": "so"}]}, "Title"))
    assert text.startswith("Title\n\nmodel")
    assert "ε=1, δ=1e-6  1/3       1.00001     refuted  4" in text
    assert text.endswith("\n\nm, tight: so")


def test_a_run_says_what_was_spent_and_a_rule_what_to_do() -> None:
    run = {"algorithm": "a", "calibration": "tight", "regret": 2.5, "horizon": 9, "epsilon": "1", "delta": "0", "door": "live"}
    spent = {"epsilon": "10001/10000", "delta": "0"}
    text = write("text", run_report({**run, "spent": spent, "findings": []}, {"witness trials": "no", "a long key of it": "yes"}))
    assert "ε = 1.0001, δ = 0 for the worst client" in text
    assert "witness trials" not in text
    assert text.splitlines()[-2:] == ["  a long key of it", "               yes"]
    assert write("text", rule_report(RULES["DPA001"])).startswith("DPA001: budget exceeded\n  why      ")
