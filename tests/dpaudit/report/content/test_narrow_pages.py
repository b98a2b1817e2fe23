"""On a phone what decides is seen without scrolling: the verdict and the gate, within the width and on the first screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.gate.results import Checked
from dpaudit.report.content.audit import audit_report, verdict_badge
from dpaudit.report.content.check import check_report
from dpaudit.report.document import Document, Section, Table
from dpaudit.report.formats import write
from dpaudit.report.formats.html import render

# Badges on the first screen, with how far their right edge is from the left of the page.
BADGES = """[...document.querySelectorAll('.badge')].map(b => [b.textContent, b.getBoundingClientRect()])
  .filter(([t, r]) => r.top < 900).map(([t, r]) => [t, r.right, r.top])"""
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
WIDTH = 390


def seen(page: Any) -> set[str]:
    """The badges that a phone shows at once, none of them cut off."""
    return {text for text, right, top in page.evaluate(BADGES) if right <= WIDTH and top >= 0}


@pytest.mark.parametrize("width", [WIDTH, 1280])
def test_the_gate_says_first_what_holds_and_what_fails(
    width: int, gates: dict[str, Checked], open_page: Callable[..., Any]
) -> None:
    page = open_page(write("html", check_report(gates["everything"])), width)
    assert page.evaluate(FITS)
    rows = page.evaluate(
        "[...document.querySelectorAll('table')[0].querySelectorAll('tbody tr')].map(r => [...r.querySelectorAll('.badge')]"
        ".map(b => b.getBoundingClientRect().right))"
    )
    assert len(rows) == len(gates["everything"].budgets)
    assert all(len(row) == 2 and max(row) <= width for row in rows)  # gate and verdict of every budget


def test_a_twin_with_the_gate_in_the_last_column_is_noticed(open_page: Callable[..., Any]) -> None:
    wide = Table(("budget", "about", "verdict"), [("ratings", "a" * 20 + "/" + "b" * 200, verdict_badge("refuted"))], "roomy")
    page = open_page(render(Document("late", [Section([wide])])), WIDTH)
    assert "refuted" not in seen(page)


@pytest.mark.parametrize("noise", [2, 1])
def test_an_audit_says_its_verdict_on_the_first_screen(noise: int, open_page: Callable[..., Any]) -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=20, low=-1, high=1))
    def noisy_sum(ratings: Any, channel: Any) -> Any:
        return channel.release("sum", ratings.sum(), dp.Laplace(scale=noise), sensitivity=noise)

    verdict = dp.audit(noisy_sum, seed=1, samples=100)
    page = open_page(write("html", audit_report([verdict])), WIDTH)
    assert page.evaluate(FITS)
    assert verdict.verdict in seen(page)


def test_an_account_says_whether_it_is_within_budget_on_the_first_screen(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, budget="1") as channel:
        channel.release("sum", dp.seal(np.zeros(30), 0, 1).sum(), dp.Laplace(scale=1), sensitivity=1)
    assert main(["account", str(tmp_path / "a.ledger"), "--format", "html", "--output", str(tmp_path / "a.html")]) == 0
    page = open_page((tmp_path / "a.html").read_text(encoding="utf-8"), WIDTH)
    assert page.evaluate(FITS)
    assert "within budget" in seen(page)
