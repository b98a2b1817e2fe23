"""Figures of strangers in a page: they draw, and can do nothing else. Stored evidence is a file that anybody may have written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpaudit.papers.checks import Decided
from dpaudit.report.charts.paper_figures import paper_figure
from dpaudit.report.content.papers.claims import claims_report
from dpaudit.report.formats import write
from dpaudit.report.formats.html import html

NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 200 100"'
GOOD = f"""<svg {NS}><metadata><x/></metadata><defs><clipPath id="a"><rect width="9" height="9"/></clipPath></defs>
<style>*{{stroke-linejoin: round}}</style><g clip-path="url(#a)"><path d="M 0 0 L 9 9" style="fill: none"/></g>
<use xlink:href="#a"/><text x="1" y="9">a &lt; b</text></svg>"""
BAD = {
    "script": "<script>document.title = 'run'</script>",
    "handler": "<rect width='9' height='9' onload='document.title = 1'/>",
    "capital handler": "<rect width='9' height='9' OnClick='document.title = 1'/>",
    "page inside": "<foreignObject><p>x</p></foreignObject>",
    "image": "<image href='http://127.0.0.1:9/x.png'/>",
    "link": "<a href='http://127.0.0.1:9/'><text>x</text></a>",
    "use": "<use xlink:href='http://127.0.0.1:9/x.svg#a'/>",
    "data": "<use href='data:image/svg+xml,x'/>",
    "import": "<style>@import url(http://127.0.0.1:9/x.css);</style>",
    "nested style": "<style>a<g>@import 'http://127.0.0.1:9/x.css';</g></style>",
    "fill": "<rect width='9' height='9' fill='url(http://127.0.0.1:9/x.svg#a)'/>",
    "escaped": "<rect width='9' height='9' style='fill: u\\72l(http://127.0.0.1:9/x)'/>",
    "animation": "<set attributeName='href' to='javascript:1'/>",
    "style in a title": "<title><style xmlns='http://www.w3.org/1999/xhtml'>*{color: red}</style></title>",
    "other namespace": "<script xmlns='http://www.w3.org/1999/xhtml'>document.title = 'run'</script>",
}


def test_a_drawing_is_an_image_with_its_caption_as_label() -> None:
    shown = html(paper_figure({"svg": GOOD, "caption": 'regret "over" ε, 10^6'}))
    assert shown.startswith("<figure><svg ")
    assert 'role="img"' in shown
    assert 'aria-label="regret &quot;over&quot; ε, 10^6"' in shown
    assert "<figcaption>regret &quot;over&quot; ε, 10<sup>6</sup></figcaption>" in shown
    assert 'xlink:href="#a"' in shown
    assert "url(#a)" in shown
    assert "a &lt; b" in shown
    assert "metadata" not in shown


@pytest.mark.parametrize("inside", BAD.values(), ids=BAD)
def test_what_runs_or_loads_is_not_shown_and_the_caption_says_why(inside: str) -> None:
    shown = html(paper_figure({"svg": f"<svg {NS}>{inside}</svg>", "caption": "regret"}))
    assert "<svg" not in shown
    assert "regret (The figure is not shown: it" in shown


@pytest.mark.parametrize(
    "drawn",
    [None, 7, "x", {}, {"svg": None}, {"svg": ""}, {"svg": "<p>x</p>"}, {"svg": "<svg"}, {"svg": f"<svg {NS} onload='x'/>"},
     {"svg": f'<!DOCTYPE svg [<!ENTITY a "b">]><svg {NS}>&a;</svg>'},
     {"svg": f"<svg {NS}><style><!-- --><![CDATA[@import 'x']]></style></svg>"}],
)  # fmt: skip
def test_what_is_no_drawing_is_left_out(drawn: Any) -> None:
    assert "<svg" not in html(paper_figure(drawn))
    assert "not shown" in html(paper_figure(drawn))


def test_a_page_with_bad_figures_runs_nothing_and_asks_for_nothing(open_page: Callable[..., Any]) -> None:
    drawn = [{"svg": f"<svg {NS}>{inside}</svg>"} for inside in BAD.values()]
    one = Decided("a.b", "Figure 1", "it falls", "verified", {"summary": "x", "figures": [*drawn, {"svg": GOOD}]}, None, {})
    page = open_page(write("html", claims_report([one])))
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("file:")] == []
    assert page.evaluate("document.title") == "The claims, decided"
    assert page.evaluate("document.querySelectorAll('figure').length") == len(BAD) + 1
    assert page.evaluate("document.querySelectorAll('figure svg').length") == 1
