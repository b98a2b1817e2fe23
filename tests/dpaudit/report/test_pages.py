"""Audits and accounts in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.cli import main

PEOPLE = dp.replace_one(n=20, low=-1, high=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PEOPLE)
def half_noise(ratings: Any, channel: Any) -> Any:
    return channel.release("<sum>", ratings.sum(), dp.Laplace(scale=1), sensitivity=1)


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    lines = [{"name": f"release <{k}>", "mechanism": "laplace", "scale": str(k + 1), "sensitivity": "1"} for k in range(30)]
    path = tmp_path / "releases.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def whole(page: Any) -> None:
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("[...document.querySelectorAll('svg')].every(s => s.getBoundingClientRect().height > 40)")


@pytest.mark.parametrize("width", [375, 1200])
def test_an_audit_shows_its_verdict_first_and_the_interval(width: int, open_page: Callable[..., Any]) -> None:
    from dpaudit.report.audit_html import audit_html, audit_markdown

    verdict = dp.audit(half_noise, samples=1000, seed=1)
    page = open_page(audit_html([verdict]), width)
    whole(page)
    assert page.evaluate("document.querySelector('.badge').textContent") == "refuted"
    assert "claimed 1" in page.evaluate("document.querySelector('svg').getAttribute('aria-label')")
    assert "DPA003" in page.evaluate("document.body.textContent")
    assert "### half_noise: refuted" in audit_markdown([verdict])


@pytest.mark.parametrize("width", [375, 1200])
def test_an_account_shows_its_figure_and_every_release(width: int, releases: Path, open_page: Callable[..., Any]) -> None:
    out = releases.with_suffix(".html")
    assert main(["account", str(releases), "--epsilon", "1", "--format", "html", "--output", str(out)]) == 1
    page = open_page(out.read_text(encoding="utf-8"), width)
    whole(page)
    assert "ε ≤ 3.9" in page.evaluate("document.querySelector('h1').textContent")
    assert page.evaluate("document.querySelector('.badge').textContent") == "over budget"
    assert page.evaluate("document.querySelectorAll('rect').length") == 30
    assert page.evaluate("document.querySelector('rect title').textContent") == "release <0>: ε 1"


def test_markdown_of_an_account_is_a_table(releases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["account", str(releases), "--format", "markdown"]) == 0
    assert capsys.readouterr().out.startswith("## ")
