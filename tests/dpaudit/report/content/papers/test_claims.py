"""The referee report in a real browser: every claim has its anchor, figures have a size, nothing is asked of a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from dpaudit.papers.checks import Decided
from dpaudit.papers.installed_papers import find_checks
from dpaudit.report.content.papers.claims import claims_report
from dpaudit.report.content.papers.evidence import COMPUTED, EvidenceSource
from dpaudit.report.formats import write


def claims_html(decided: Sequence[Decided], source: EvidenceSource = COMPUTED) -> str:
    return write("html", claims_report(decided, source))


SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><rect width="200" height="100" fill="teal"/></svg>'
REFUTED = {"summary": "ε ≥ 2", "rows": [{"n": 1}]}
DRAWN = {"summary": "yes", "figures": [{"svg": SVG, "caption": "regret"}]}
LONG = {"summary": "a" * 300, "wide": "x" * 400, "rows": [{"n": "y" * 400}]}
CLAIMS = [
    Decided("thm1.privacy", "Theorem 1", "it is <private> & ε-DP", "refuted", REFUTED, "Lap(2/ε)", {"m": "0"}),
    Decided("figure.one", "Figure 1", "it converges", "conditional", DRAWN, None, {}),
    Decided("lemma.x", "Lemma 1", "1 + 1 = 2", "verified", LONG, None, {}, stale=["m"]),
]

VIEWS = [(375, False, "screen"), (375, True, "screen"), (1200, False, "screen"), (1200, True, "screen"), (718, True, "print")]
SECTIONS = "[...document.querySelectorAll('section')].map(s => s.id).filter(id => id != 'overview' && id != 'graph')"
FIGURES = """[...document.querySelectorAll('figure svg:not(.chart)')]
  .map(s => (r => ({claim: s.closest('section').id, width: r.width,
  height: r.height, role: s.getAttribute('role'), label: s.getAttribute('aria-label')}))(s.getBoundingClientRect()))"""
# Text whose contrast to what is behind it is below 4.5 (WCAG 2.2, 1.4.3); figures have their own background.
PALE = """(() => { const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = rgb(c).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (rgb(c)[3] !== 0) return c } return 'rgb(255, 255, 255)' };
  return [...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && [...e.childNodes].some(n => n.nodeType == 3 &&
    n.textContent.trim())).filter(e => {
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => x - y);
    return (b + .05) / (a + .05) < 4.5 }).map(e => e.textContent) })()"""
CUT_OFF = """[...document.querySelectorAll('table, figure, dl')].filter(t => t.getBoundingClientRect().right >
  document.documentElement.clientWidth + 1).map(t => t.textContent.slice(0, 80))"""


@pytest.mark.parametrize("width", [375, 1200])
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_is_whole_at_every_width_and_in_the_dark(width: int, dark: bool, open_page: Callable[..., Any]) -> None:
    page = open_page(claims_html(CLAIMS), width, dark)
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate(SECTIONS) == [each.id for each in CLAIMS]
    links = "[...document.querySelectorAll('a')].every(a => document.getElementById(a.getAttribute('href').slice(1)) !== null)"
    assert page.evaluate(links)
    box = page.evaluate("(r => [r.width, r.height])(document.querySelector('svg').getBoundingClientRect())")
    assert box[0] > 100
    assert box[1] > 50
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light is not dark


@pytest.mark.parametrize(("width", "dark", "media"), VIEWS)
def test_the_real_report_is_whole(width: int, dark: bool, media: str, referee_report: str, open_page: Callable[..., Any]) -> None:
    page, ids = open_page(referee_report, width, dark, media), set(find_checks())
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("[...document.scripts].filter(s => s.src).length + document.images.length") == 0
    sections = page.evaluate(SECTIONS)
    assert sections[0] == "thm1.privacy"  # the gravest first
    assert (len(sections), set(sections)) == (len(ids), ids)
    assert sorted(page.evaluate("[...document.querySelectorAll('nav a')].map(a => a.hash.slice(1))")) == sorted(ids)
    assert page.evaluate(
        "[...document.querySelectorAll('a')].every(a => document.getElementById(a.getAttribute('href').slice(1)) !== null)"
    )
    assert page.evaluate("[...document.querySelectorAll('.badge')].filter(b => b.textContent == 'failed').length") == 0
    assert page.evaluate("document.querySelector('.note').textContent").startswith("Decided with --quick")
    figures = page.evaluate(FIGURES)
    assert {figure["claim"] for figure in figures} >= {"figure.converges", "figure.core-set"}
    for figure in figures:
        assert (figure["role"], figure["width"] > 200, figure["height"] > 150) == ("img", True, True)
        assert figure["label"].startswith("Total regret: K = ")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate(PALE) == []
    if media == "print":
        assert page.evaluate(CUT_OFF) == []
        assert page.pdf().startswith(b"%PDF")


def test_twin_pale_text_and_tables_that_are_cut_off_are_noticed(open_page: Callable[..., Any]) -> None:
    wide = "<table><tr>" + "<td style='white-space: nowrap'>a very wide cell</td>" * 30 + "</tr></table>"
    page = open_page(
        f"<!doctype html><body style='background: #0d1117'><p style='color: #000'>black</p>{wide}", 718, True, "print"
    )
    assert page.evaluate(PALE)[0] == "black"
    assert page.evaluate(CUT_OFF)


def test_the_report_says_what_its_evidence_is() -> None:
    assert "--quick" not in claims_html(CLAIMS[:2])
    assert "Decided with " in claims_html(CLAIMS[:2], EvidenceSource(quick=True))
    stored = claims_html(
        CLAIMS, EvidenceSource(False, "kept.json", ["thm2.x"], "dpaudit claims --format json --output kept.json")
    )
    assert "Stored evidence of kept.json, made by a full run; nothing was computed now." in stored
    assert "Stale, because the code that decides has changed since: lemma.x." in stored
    assert "Not in the stored evidence: thm2.x." in stored
    assert ">dpaudit claims --format json --output kept.json</code>" in stored


def test_what_a_claim_says_is_text_and_never_markup(open_page: Callable[..., Any]) -> None:
    page = open_page(claims_html(CLAIMS))
    assert page.evaluate("document.querySelector('section p').textContent") == "it is <private> & ε-DP"


def test_twin_a_page_that_asks_or_complains_is_noticed(open_page: Callable[..., Any]) -> None:
    outside = '<!doctype html><img src="http://127.0.0.1:9/x.png"><script>console.error("no")</script>'
    page = open_page(outside)
    assert page.complaints
    assert any(url.startswith("http:") for url in page.requests)


def test_markdown_keeps_one_row_per_claim() -> None:
    lines = write("markdown", claims_report(CLAIMS)).splitlines()
    assert sum(line.startswith("| `") for line in lines) == len(CLAIMS)
    assert "verified (stale)" in lines[-1]


def test_the_table_is_searched_and_filtered_without_a_network(open_page: Callable[..., Any]) -> None:
    page = open_page(claims_html(CLAIMS), 390, False)
    left = "[...document.querySelectorAll('.cards tbody tr')].filter(r => !r.hidden).map(r => r.cells[0].textContent)"
    assert page.evaluate(left) == [each.id for each in CLAIMS]
    typed = "(v => { const f = document.querySelector('.search input'); f.value = v; f.dispatchEvent(new Event('input')) })"
    chosen = "(v => { const s = document.querySelector('.search select'); s.value = v; s.dispatchEvent(new Event('change')) })"
    page.evaluate(f"{typed}('PRIVATE theorem')")
    assert page.evaluate(left) == ["thm1.privacy"]  # by its statement
    page.evaluate(f"{typed}('nothing says this')")
    assert page.evaluate(left) == []
    page.evaluate(f"{typed}('Theorem 1')")
    assert page.evaluate(left) == ["thm1.privacy"]
    page.evaluate(f"{typed}('')")
    page.evaluate(f"{chosen}('conditional')")
    assert page.evaluate(left) == ["figure.one"]
    assert page.evaluate("document.querySelector('.search output').textContent") == "1 of 3"
