"""The gate on a terminal, a page and in a pull request: nothing that a subject can name breaks out of its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.cli import main
from dpaudit.gate.results import Checked
from dpaudit.report.content.check import check_report
from dpaudit.report.formats import write


def test_markdown_keeps_names_as_text(gates: dict[str, Checked]) -> None:
    text = write("markdown", check_report(gates["everything"]))
    names = re.sub(r"\*\*What to do:\*\* .*|```[^`]*```", "", text)  # remedies and drawings are dpaudit's own
    for read_as_more in (r"(?<!\\)<script", r"(?<!\\)\]\(", r"(?<!\\)!\[", "@all", r"(?<!\\)`", "\x00"):
        assert re.search(read_as_more, names) is None
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(re.sub(r"\\\|", "", row).count("|") in (9, 3) for row in rows)
    assert "ε 0.8 → 1, budget 1" in text
    assert "waived until 2027-01-31 by ann" in text


def test_text_says_what_failed_why_and_what_to_do(gates: dict[str, Checked]) -> None:
    text = write("text", check_report(gates["everything"]))
    assert "6 budgets: 2 hold, 2 fail, 1 waived, 1 not checked, 1 waiver expired, unused or too long" in text
    assert "in the baseline, no longer configured: old <b>budget</b>" in text
    assert "waived until 2027-01-31" in text
    assert "[aaaaaaaaaaaaaaaa]" in text
    assert "change   ε 0.8 → 1, budget 1" in text
    assert "\x00" not in text
    assert "\x1b" not in text
    assert write("text", check_report(gates["clean"])).splitlines()[-1].startswith("1 budget: 1 holds")
    assert "nothing to check" in write("text", check_report(gates["nothing"]))


@pytest.mark.parametrize("width", [375, 1200])
def test_the_page_shows_the_gate_first_and_runs_nothing(
    width: int, open_page: Callable[..., Any], gates: dict[str, Checked]
) -> None:
    page = open_page(write("html", check_report(gates["everything"])), width)
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("document.querySelector('h1').textContent") == "Privacy budgets: not everything could be checked"
    assert page.evaluate("document.querySelectorAll('section').length") == 6
    assert page.evaluate("document.querySelectorAll('script, img').length") == 0
    assert page.evaluate("document.querySelectorAll('svg').length") == 5
    assert page.evaluate("document.getElementById('budget-fails').textContent.includes('DPA004')")
    assert "nothing to check" in write("html", check_report(gates["nothing"]))


@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_of_a_real_check_draws_losses_timeline_and_clients(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: Callable[..., Any]
) -> None:
    subject = '@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=9, low=-1, high=1))\ndef sums(data, channel):\n'
    release = '    return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)\n'
    (tmp_path / "mine.py").write_text(f"import dpaudit as dp\n{subject}{release}", encoding="utf-8")
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, ("1", 0), proven=True) as channel:
        for part in range(3):
            sealed = dp.seal(np.zeros(9), low=-1, high=1)
            channel.release(f"part {part}", sealed[part::3].sum(), dp.Laplace(scale=2), sensitivity=2)
    budgets = [("code", 'subject = "mine.py:sums"'), ("deployment", 'ledger = "a.ledger"')]
    entries = [f'[tool.dpaudit.budgets.{name}]\n{target}\nepsilon = "1"\ndelta = "0"\n' for name, target in budgets]
    (tmp_path / "pyproject.toml").write_text("\n".join(entries), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--format", "html", "--output", "check.html"]) == 0
    page = open_page((tmp_path / "check.html").read_text(encoding="utf-8"), width)
    page.whole()
    captions = page.evaluate("[...document.querySelectorAll('figcaption')].map(c => c.textContent)")
    assert sum("Privacy loss" in told for told in captions) == 1
    assert sum("paid most so far" in told for told in captions) == 1
    assert "Who pays most" in page.evaluate("document.body.textContent")
    assert main(["check", "--output", "check.txt"]) == 0  # without a page nothing is drawn
