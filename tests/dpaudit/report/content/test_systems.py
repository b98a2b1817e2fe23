"""The table of systems in words: unconfirmed rows are marked, and a page has the chart."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from dpaudit.report.content.systems import systems_csv, systems_report
from dpaudit.report.formats import write

REGRET = [{"horizon": 10**3, "mean": 100.0, "error": 5.0}, {"horizon": 10**4, "mean": 300.0, "error": 9.0}]
PRIVATE = {
    "system": "zheng", "source": "Zheng et al. 2020", "model": "local", "claim": {"epsilon": "1", "delta": "1e-6"},
    "observer": "server", "neighbours": "reward-sequence", "certified": "0.25", "shrink": 3.9, "lower": 0.1,
    "lower_method": "exact event", "detectable": None,
    "verdict": "certified", "why": "", "regret": REGRET, "slope": 0.477, "slope_error": None, "exponent": "3/4",
    "unconfirmed": "its width",
}  # fmt: skip
PLAIN = {
    **PRIVATE, "system": "oful", "model": "nonprivate", "claim": None, "certified": None, "shrink": None, "lower": None,
    "verdict": None, "why": None, "unconfirmed": None,
}  # fmt: skip


@pytest.fixture
def data() -> dict[str, Any]:
    return {
        "schema": "dpaudit.compare/1", "epsilon": "1", "horizon": 10**4, "actions": 10, "dim": 2, "audited": 10**4,
        "instances": 3, "seed": 1, "table1": [PLAIN, PRIVATE],
    }  # fmt: skip


def test_the_text_marks_what_was_not_confirmed_and_nothing_else(data):
    text = write("text", systems_report(data))
    assert "zheng *" in text
    assert "oful *" not in text
    assert "its width" in text
    assert "300 ± 9" in text


def test_a_page_has_the_chart_and_a_terminal_has_not(data):
    assert "<svg" in write("html", systems_report(data))
    assert "<svg" not in write("text", systems_report(data))


def test_a_page_has_the_verdict_beside_the_name_before_the_chart_and_a_terminal_keeps_its_columns(data):
    page, text = write("html", systems_report(data)), write("text", systems_report(data))
    header = page[page.index("<thead") : page.index("</thead")]
    assert header.index("system") < header.index("verdict") < header.index("model") < header.index("certified ≤")
    row = page[page.index("zheng *") :]
    assert row.index(">certified<") < row.index("local") < row.index("300 ± 9")
    assert page.index("<thead") < page.index("<svg")
    assert text.index("attacked ≥") < text.index("verdict")


def test_csv_has_a_line_for_each_system_and_horizon(data):
    lines = list(csv.DictReader(io.StringIO(systems_csv(data))))
    assert [(line["system"], line["horizon"]) for line in lines] == [
        ("oful", "1000"), ("oful", "10000"), ("zheng", "1000"), ("zheng", "10000"),
    ]  # fmt: skip
    assert (lines[3]["epsilon"], lines[3]["certified"], lines[3]["regret"]) == ("1", "0.25", "300.0")
    assert lines[0]["epsilon"] == ""


def test_an_attack_that_shows_nothing_says_so_and_from_where_on_it_would(data):
    blind = {**PRIVATE, "system": "tree", "lower": 0.0, "detectable": 0.31}
    text = write("text", systems_report({**data, "table1": [PLAIN, blind, PRIVATE]}))
    assert text.count("none seen") == 2  # the cell, and what it means
    assert "tree (0.31)" in text
    assert "none seen" not in write("text", systems_report(data))


def test_stochastic_contexts_are_named(data):
    assert "one of 4 sets" in write("text", systems_report({**data, "contexts": 4}))
