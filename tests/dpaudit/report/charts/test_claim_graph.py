"""The graph of claims: every need is a row below, a broken claim is dashed and red, nothing leaves the drawing."""

from __future__ import annotations

import re

from dpaudit.papers.checks import Decided
from dpaudit.report.charts.claim_graph import claim_graph, rows_below, unneeded


def claim(name: str, verdict: str = "verified", needs: tuple[str, ...] = (), breaks: tuple[str, ...] = ()) -> Decided:
    return Decided(name, "here", "it holds", verdict, {"summary": "<s>"}, None, {}, needs=needs, breaks=breaks)


CLAIMS = [
    claim("thm.one", "refuted", ("lemma.a", "lemma.b")),
    claim("lemma.a", "conditional", ("step.x",)),
    claim("lemma.b", "verified", ("lemma.a", "elsewhere")),
    claim("step.x", "unchecked"),
    claim("fix.noise", "verified", breaks=("step.x",)),
]
BY_ID = {one.id: one for one in CLAIMS}


def test_what_a_claim_needs_stands_below_it_once() -> None:
    rows = [(row.one.id, row.depth, row.again) for row in rows_below([CLAIMS[0]], BY_ID)]
    assert rows == [
        ("thm.one", 0, False), ("lemma.a", 1, False), ("step.x", 2, False), ("lemma.b", 1, False), ("lemma.a", 2, True),
    ]  # fmt: skip


def test_needs_in_a_circle_end() -> None:
    one, other = claim("a.a", needs=("a.b",)), claim("a.b", needs=("a.a",))
    assert [row.again for row in rows_below([one], {"a.a": one, "a.b": other})] == [False, False, True]


def test_the_drawing_has_colours_links_and_the_same_in_words() -> None:
    figure = claim_graph([CLAIMS[0], CLAIMS[4]], BY_ID, "all")
    drawn = str(figure.drawing)
    assert all(f'href="#{one.id}"' in drawn for one in CLAIMS)
    assert {"var(--good)", "var(--bad)", "var(--open)", "var(--soft)"} <= set(re.findall(r"var\(--\w+\)", drawn))
    assert "&lt;s&gt;" in drawn
    assert "<s>" not in drawn
    assert drawn.count("stroke-dasharray") == 2  # the two parts of the one edge of what is broken
    assert "alone breaks step.x" in drawn
    (listing,) = figure.words
    assert len(listing.items) == 7


def test_long_names_stay_inside() -> None:
    long = claim("remark." + "x" * 80)
    shown = re.findall(r'text-anchor="start">([^<]*)<', str(claim_graph([long], {long.id: long}, "").drawing))
    assert len(shown[0]) < 60
    assert shown[0].endswith("…")


def test_roots_are_what_nothing_rests_on() -> None:
    assert [one.id for one in unneeded(CLAIMS)] == ["thm.one", "fix.noise"]


def test_a_claim_of_a_drawing_further_up_is_not_unfolded_again():
    again = [row.one.id for row in rows_below([CLAIMS[0]], BY_ID, before=[CLAIMS[0].id])]
    assert again == [CLAIMS[0].id]
    assert rows_below([CLAIMS[0]], BY_ID, before=[CLAIMS[0].id])[0].again
