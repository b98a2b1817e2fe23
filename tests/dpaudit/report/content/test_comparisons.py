"""Side by side: what changed is said with the figures that stand in the columns."""

from __future__ import annotations

from typing import Any

from dpaudit.report.content.comparisons import calibrations_report, ledgers_report, peers_report
from dpaudit.report.formats import write


def ledger(name: str, epsilon: str, delta: str = "0") -> dict[str, Any]:
    figures = {"server": {"epsilon": epsilon, "delta": delta}}
    worst = {"client": None, "releases": 1}
    return {"name": name, "delta": delta, "observers": figures, "worst_client": worst, "releases": 2, "findings": []}


def test_a_change_shows_the_figures_of_its_columns() -> None:
    text = write("text", ledgers_report({"ledgers": [ledger("a/x", "10.01"), ledger("b/y", "1/3")]}))
    row = next(line for line in text.splitlines() if line.startswith("server"))
    assert row.split("  ")[-1].strip() == "ε 10.01 → 1/3 (-97%)"
    assert "ε ≤ 10.01, δ = 0" in row
    assert "different δ" not in text
    same = write("text", ledgers_report({"ledgers": [ledger("a/x", "1"), ledger("b/x", "1", "1e-6")]}))
    assert "same ε" in same
    assert "a/x" in same
    assert "different δ" in same


def test_a_page_has_a_title_and_says_first_what_spoils_the_comparison() -> None:
    page = write("html", ledgers_report({"ledgers": [ledger("a/x", "1"), ledger("b/y", "1", "1e-6")]}))
    assert page.index("<h1>What x and y cost</h1>") < page.index("different δ") < page.index("<table")


def test_a_page_of_calibrations_has_what_is_proven_before_the_rest() -> None:
    claim = {"epsilon": "1", "delta": "0"}
    row = {"algorithm": "a", "calibration": "tight", "claim": claim, "noise": None, "regret": 1.4, "upper": "1/2"}
    page = write("html", calibrations_report({"calibrations": [row], "horizon": 1000, "instances": 3, "seed": 1}))
    header = page[page.index("<thead") : page.index("</thead")]
    assert header.index("calibration") < header.index("proven ≤") < header.index("claimed") < header.index("mean regret")
    assert page.index("side by side") < page.index("T=1,000")


def test_calibrations_and_peers_round_up() -> None:
    noise = {"least": "1/3", "most": "12345678901234/10000000000000"}
    row = {"algorithm": "a", "calibration": "tight", "claim": {"epsilon": "1", "delta": "0"}, "noise": noise, "regret": 1.4}
    data = {"calibrations": [{**row, "upper": None}], "horizon": 1000, "instances": 3, "seed": 1}
    assert "ε=1      1/3 to 1.234568  none" in write("text", calibrations_report(data))
    peer = {"peer": "p", "method": "m", "version": None, "epsilon": 1.0, "seconds": 0.5, "agrees": False, "note": "n"}
    found = {
        "epsilon": {"lower": "1/3", "upper": "2/3"}, "delta": "0", "pure": "1/7", "method": "m", "releases": "one",
        "peers": [peer], "findings": [], "cannot": {"p": {"a": "why", "b": "why"}, "q": {}},
    }  # fmt: skip
    text = write("text", peers_report(found))
    assert "ε in [0.333333333, 0.666666667] at δ = 0" in text
    assert "500 ms  NO" in text
    assert "cannot   p: a, b (why)" in text
    assert "q:" not in text
