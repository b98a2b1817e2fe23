"""Audits in a real browser: at a phone's and a desk's width, in the light and in the dark; and as a comment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.report.content.audit import audit_report
from dpaudit.report.formats import write

PEOPLE = dp.replace_one(n=20, low=-1, high=1)
WIDTHS = [375, 1280]
HOSTILE = "</title><script>console.error(1)</script><img src=x onerror=alert(1)>'\"&"


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PEOPLE)
def half_noise(ratings: Any, channel: Any) -> Any:
    return channel.release("<sum>", ratings.sum(), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PEOPLE)
def black_box(ratings: Any, rng: Any, trials: Any) -> Any:
    return ratings.sum() + rng.laplace(scale=0.5, size=trials)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_an_audit_shows_its_verdict_first_then_interval_losses_and_what_to_do(
    width: int, dark: bool, open_page: Callable[..., Any]
) -> None:
    verdict = dp.audit(half_noise, samples=1000, seed=1, picture=True)
    page = open_page(write("html", audit_report([verdict])), width, dark)
    page.whole()
    assert page.evaluate("document.querySelector('h1 .badge').textContent") == "refuted"
    labels = page.evaluate("[...document.querySelectorAll('svg')].map(s => s.getAttribute('aria-label'))")
    assert labels[0] == "attacked ≥ 2, proven ≤ 2, claim 1"
    assert labels[1].startswith("privacy losses of 200 runs on D and 200 on D'; Beyond ε:")
    text = page.evaluate("document.body.textContent")
    assert "DPA003" in text
    assert "What to do: Declare the sensitivity" in text
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light is not dark


@pytest.mark.parametrize("width", WIDTHS)
def test_several_audits_are_one_page_with_an_overview(width: int, open_page: Callable[..., Any]) -> None:
    verdicts = [dp.audit(subject, samples=2000, seed=1, picture=True) for subject in (half_noise, black_box)]
    page = open_page(write("html", audit_report(verdicts)), width)
    page.whole()
    assert page.evaluate("document.querySelector('h1').textContent") == "Audit: 2 refuted"
    assert page.evaluate("document.querySelectorAll('section').length") == 2
    assert page.evaluate("document.querySelectorAll('svg').length") == 4
    assert "not proven" in page.evaluate("document.querySelectorAll('svg')[2].textContent")


@pytest.mark.parametrize("width", WIDTHS)
def test_names_in_an_audit_stay_text(width: int, open_page: Callable[..., Any]) -> None:
    @dp.subject(claim=dp.Claim(epsilon="1e-3"), neighbours=PEOPLE)
    def subject(ratings: Any, channel: Any) -> Any:
        return channel.release(HOSTILE, ratings.sum(), dp.Laplace(scale="1e-3"), sensitivity=1)

    audited = open_page(write("html", audit_report([dp.audit(subject, samples=1000, seed=1, picture=True)])), width)
    audited.whole()
    assert HOSTILE in audited.evaluate("document.body.textContent")


def test_one_figure_has_one_text_on_the_terminal_the_page_and_in_a_comment() -> None:
    report = audit_report([dp.audit(black_box, samples=2000, seed=1, picture=True)])
    shown = {form: write(form, report) for form in ("text", "html", "markdown")}
    lower = shown["text"].partition("ε ≥ ")[2].partition(":")[0]
    assert f"attacked ≥ {lower}, proven nothing, claim 1" in shown["html"]
    assert f">≥ {lower}</text>" in shown["html"]
    assert f"attacked ≥ {lower}, proven nothing, claim 1" in shown["markdown"]
    assert report.data()["lower"]["epsilon"] >= float(lower)
