"""Accounts in a real browser: at a phone's and a desk's width, on paper, and for thousands of releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants.spending_history import STEPS
from dpaudit.cli import main
from dpaudit.ledger import Charge

WIDTHS = [375, 1280]
HOSTILE = "</title><script>console.error(1)</script><img src=x onerror=alert(1)>'\"&"


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    lines = [{"name": f"release <{k}>", "mechanism": "laplace", "scale": str(k + 1), "sensitivity": "1"} for k in range(30)]
    return write_lines(tmp_path / "releases.jsonl", lines)


def account_page(path: Path, *options: str, code: int = 0) -> str:
    out = path.with_suffix(".html")
    assert main(["account", str(path), *options, "--format", "html", "--output", str(out)]) == code
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
def test_an_account_shows_its_figure_the_timeline_and_every_release(
    width: int, releases: Path, open_page: Callable[..., Any]
) -> None:
    page = open_page(account_page(releases, "--epsilon", "1", code=1), width)
    page.whole()
    assert "ε ≤ 3.9" in page.evaluate("document.querySelector('h1').textContent")
    assert page.evaluate("document.querySelector('.badge').textContent") == "over budget"
    assert page.evaluate("document.querySelectorAll('rect').length") == 30
    assert page.evaluate("document.querySelector('rect title').textContent") == "1, release <0>: ε ≤ 1; 1 so far"
    labels = page.evaluate("[...document.querySelectorAll('svg')].map(s => s.getAttribute('aria-label'))")
    assert labels == ["proven ≤ 3.994988, budget 1", "the worst client has paid ε ≤ 3.994988 after 30 releases, budget 1"]
    assert "What to do: Release less" in page.evaluate("document.body.textContent")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("budget", ["1", "39", "40.1", "41", "100", "1e300"])
def test_thousands_of_releases_stay_small_whatever_the_budget(
    budget: str, width: int, tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    facts = {"mechanism": "laplace", "sensitivity": "1"}
    lines = [{"name": f"b{k}", "scale": str(5 + k % 7), "cohort": [[10 * k, 10 * k + 300 + k]], **facts} for k in range(3000)]
    html = account_page(write_lines(tmp_path / "many.jsonl", lines), "--epsilon", budget, code=int(float(budget) < 40.18))
    assert len(html) < 40_000
    page = open_page(html, width)
    page.whole()
    assert 8 <= page.evaluate("document.querySelectorAll('rect').length") <= STEPS
    assert page.evaluate("document.querySelectorAll('.bar').length") == 8


@pytest.mark.parametrize("width", WIDTHS)
def test_names_stay_text_and_long_ones_do_not_break_the_page(width: int, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    facts = {"mechanism": "laplace", "sensitivity": "1"}
    cohort = {"intervals": [[0, 10**12]], "ids": [HOSTILE]}
    lines = [{"name": name, "scale": "1e-9", "cohort": cohort, **facts} for name in (HOSTILE, "名前ε" * 200, "x" * 900)]
    lines.append({"name": "all", "scale": "2", **facts})
    html = account_page(write_lines(tmp_path / "names.jsonl", lines), "--epsilon", "1e-9", code=1)
    page = open_page(html, width)
    page.whole()
    assert "<script>console.error(1)</script>" in page.evaluate("document.body.textContent")


def test_on_paper_nothing_is_cut_off(releases: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(account_page(releases, "--epsilon", "1", code=1), 794)  # A4 at 96 dots per inch
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.wide')].every(d => d.scrollWidth <= d.clientWidth)")


@pytest.mark.parametrize("width", WIDTHS)
def test_refusals_are_shown_by_the_hour_the_latest_first(width: int, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    path = tmp_path / "today.ledger"
    with dp.open_ledger(path, budget="1") as ledger, pytest.raises(dp.BudgetExceeded):
        ledger.charge(Charge(Fraction(2), name="x"))
    refused = path.with_name("today.ledger.refused")
    refused.write_text("2026-01-31T09 budget 1200\n2026-01-31T10 budget 34\n<script>alert(1)</script>\n", encoding="utf-8")
    page = open_page(account_page(path), width)
    page.whole()
    cells = page.evaluate("[...document.querySelectorAll('table')][0].innerText").split()
    assert cells == [
        "hour",
        "(UTC)",
        "reason",
        "refused",
        "2026-01-31",
        "10:00",
        "budget",
        "34",
        "2026-01-31",
        "09:00",
        "budget",
        "1,200",
    ]
    assert "1,234 releases were refused" in page.evaluate("document.body.textContent")
