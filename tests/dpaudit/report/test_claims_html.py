"""The referee report in a real browser: every claim has its anchor, figures have a size, nothing is asked of a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.papers import Decided
from dpaudit.report.claims_html import claims_html
from dpaudit.report.claims_markdown import claims_markdown

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><rect width="200" height="100" fill="teal"/></svg>'
REFUTED = {"summary": "ε ≥ 2", "rows": [{"n": 1}]}
DRAWN = {"summary": "yes", "figures": [{"svg": SVG, "caption": "regret"}]}
LONG = {"summary": "a" * 300, "wide": "x" * 400, "rows": [{"n": "y" * 400}]}
CLAIMS = [
    Decided("thm1.privacy", "Theorem 1", "it is <private> & ε-DP", "refuted", REFUTED, "Lap(2/ε)", {"m": "0"}),
    Decided("figure.one", "Figure 1", "it converges", "conditional", DRAWN, None, {}),
    Decided("lemma.x", "Lemma 1", "1 + 1 = 2", "verified", LONG, None, {}, stale=["m"]),
]


@pytest.mark.parametrize("width", [375, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_is_whole_at_every_width_and_in_the_dark(width: int, dark: bool, open_page: Callable[..., Any]) -> None:
    page = open_page(claims_html(CLAIMS), width, dark)
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("[...document.querySelectorAll('section')].map(s => s.id)") == [each.id for each in CLAIMS]
    links = "[...document.querySelectorAll('a')].every(a => document.getElementById(a.hash.slice(1)) !== null)"
    assert page.evaluate(links)
    box = page.evaluate("(r => [r.width, r.height])(document.querySelector('svg').getBoundingClientRect())")
    assert box[0] > 100
    assert box[1] > 50
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light is not dark


def test_what_a_claim_says_is_text_and_never_markup(open_page: Callable[..., Any]) -> None:
    page = open_page(claims_html(CLAIMS))
    assert page.evaluate("document.querySelector('section p').textContent") == "it is <private> & ε-DP"


def test_twin_a_page_that_asks_or_complains_is_noticed(open_page: Callable[..., Any]) -> None:
    outside = '<!doctype html><img src="http://127.0.0.1:9/x.png"><script>console.error("no")</script>'
    page = open_page(outside)
    assert page.complaints
    assert any(url.startswith("http:") for url in page.requests)


def test_markdown_keeps_one_row_per_claim() -> None:
    lines = claims_markdown(CLAIMS).splitlines()
    assert sum(line.startswith("| `") for line in lines) == len(CLAIMS)
    assert "verified (stale)" in lines[-1]
