"""Audits and accounts in a real browser: at a phone's and a desk's width, in the light and in the dark, on paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants.spending_history import STEPS
from dpaudit.cli import main
from dpaudit.report.audit_html import audit_html

PEOPLE = dp.replace_one(n=20, low=-1, high=1)
WIDTHS = [375, 1280]
HOSTILE = "</title><script>console.error(1)</script><img src=x onerror=alert(1)>'\"&"


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PEOPLE)
def half_noise(ratings: Any, channel: Any) -> Any:
    return channel.release("<sum>", ratings.sum(), dp.Laplace(scale=1), sensitivity=1)


@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=PEOPLE)
def black_box(ratings: Any, rng: Any, trials: Any) -> Any:
    return ratings.sum() + rng.laplace(scale=0.5, size=trials)


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    lines = [{"name": f"release <{k}>", "mechanism": "laplace", "scale": str(k + 1), "sensitivity": "1"} for k in range(30)]
    return write(tmp_path / "releases.jsonl", lines)


def account_page(path: Path, *options: str, code: int = 0) -> str:
    out = path.with_suffix(".html")
    assert main(["account", str(path), *options, "--format", "html", "--output", str(out)]) == code
    return out.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_an_audit_shows_its_verdict_first_then_interval_losses_and_what_to_do(
    width: int, dark: bool, open_page: Callable[..., Any]
) -> None:
    verdict = dp.audit(half_noise, samples=1000, seed=1, picture=True)
    page = open_page(audit_html([verdict]), width, dark)
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
    page = open_page(audit_html(verdicts), width)
    page.whole()
    assert page.evaluate("document.querySelectorAll('section').length") == 2
    assert page.evaluate("document.querySelectorAll('svg').length") == 4
    assert "not proven" in page.evaluate("document.querySelectorAll('svg')[2].textContent")


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
    assert labels == ["proven ≤ 3.995, budget 1", "the worst client has paid ε ≤ 3.995 after 30 releases, budget 1"]
    assert "What to do: Release less" in page.evaluate("document.body.textContent")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("budget", ["1", "39", "40.1", "41", "100", "1e300"])
def test_thousands_of_releases_stay_small_whatever_the_budget(
    budget: str, width: int, tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    facts = {"mechanism": "laplace", "sensitivity": "1"}
    lines = [{"name": f"b{k}", "scale": str(5 + k % 7), "cohort": [[10 * k, 10 * k + 300 + k]], **facts} for k in range(3000)]
    html = account_page(write(tmp_path / "many.jsonl", lines), "--epsilon", budget, code=int(float(budget) < 40.18))
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
    html = account_page(write(tmp_path / "names.jsonl", lines), "--epsilon", "1e-9", code=1)
    page = open_page(html, width)
    page.whole()
    assert "<script>console.error(1)</script>" in page.evaluate("document.body.textContent")

    @dp.subject(claim=dp.Claim(epsilon="1e-3"), neighbours=PEOPLE)
    def subject(ratings: Any, channel: Any) -> Any:
        return channel.release(HOSTILE, ratings.sum(), dp.Laplace(scale="1e-3"), sensitivity=1)

    audited = open_page(audit_html([dp.audit(subject, samples=1000, seed=1, picture=True)]), width)
    audited.whole()
    assert HOSTILE in audited.evaluate("document.body.textContent")


def test_on_paper_nothing_is_cut_off(releases: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(account_page(releases, "--epsilon", "1", code=1), 794)  # A4 at 96 dots per inch
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("[...document.querySelectorAll('.wide')].every(d => d.scrollWidth <= d.clientWidth)")
