"""Five minutes: as printed, what fails, the repair, its price; and what a repair alone leaves open."""

from __future__ import annotations

from dpaudit.papers.checks import Decided
from dpaudit.report.content.papers.evidence import dependants
from dpaudit.report.content.papers.overview import five_minutes, graph
from dpaudit.report.document import Document
from dpaudit.report.formats.html import render

PRICE = {"summary": "proven", "price": {"ε": "none", "noise": "twice", "regret": "3 for 2"}}
CLAIMS = [
    Decided("thm.privacy", "Theorem 1", "it is private", "refuted", {"summary": "2ε"}, "more noise", {}, severity="fatal"),
    Decided("thm.regret", "Theorem 1", "regret √T", "conditional", {"summary": "with A_i"}, None, {}, needs=("lemma.event",)),
    Decided("lemma.event", "Lemma", "good", "verified", {"summary": "yes"}, None, {}),
    Decided("fix.noise", "ours", "Lap(2/ε)", "verified", {"summary": "exact"}, None, {}, breaks=("lemma.event",)),
    Decided("fix.all", "ours", "all", "verified", PRICE, None, {}, needs=("fix.noise",), repairs=("thm.privacy", "thm.regret")),
]


def page(*sections: object) -> str:
    return render(Document("t", [section for section in sections if section is not None]))  # type: ignore[misc]


def test_a_theorem_is_told_with_its_failure_its_repair_and_its_price() -> None:
    shown = page(five_minutes(CLAIMS))
    places = [shown.index(words) for words in ("Theorem 1", "it is private", "2ε", "with A", "the repair", "price in ε", "twice")]
    assert places == sorted(places)
    assert "holds under a condition" in shown


def test_without_a_repair_each_fatal_claim_is_told() -> None:
    shown = page(five_minutes(CLAIMS[:3]))
    assert "more noise" in shown
    assert "regret √T" not in shown
    assert five_minutes(CLAIMS[1:3]) is None


def test_a_repair_that_breaks_a_claim_leaves_open_what_rests_on_it() -> None:
    assert dependants(CLAIMS, ("lemma.event",)) == ["thm.regret", "lemma.event"]
    shown = page(graph(CLAIMS))
    assert "alone leaves open: " in shown
    assert "decided again, with every part: " in shown
    assert "alone leaves open: " not in page(graph([CLAIMS[0], CLAIMS[1], CLAIMS[2], CLAIMS[4]]))
