"""Evidence in words: no value is written as Python writes it, and what is stale, missing or failed is said."""

from __future__ import annotations

import pytest

from dpaudit.papers.checks import Decided
from dpaudit.report.content.papers.evidence import (
    EvidenceSource,
    as_table,
    count_verdicts,
    in_words,
    origin,
    shown_evidence,
    warnings,
)

STALE = Decided("a.b", "Lemma 1", "it holds", "verified", {"summary": "yes", "n": 1}, "instead", {}, stale=["m"])
FAILED = Decided("a.c", "Lemma 2", "it holds", "unchecked", {"summary": "no"}, None, {}, failed=True)


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (True, "yes"), (False, "no"), (715128.0, "715128"), (0.1, "0.1"), (1e300, "1e+300"), ([], "none"), ({}, "none"),
     (["1", "-1"], "1, -1"), ([[0, 1], [1]], "(0, 1), (1)"), ({"a": None, "b": [1]}, "a: –; b: 1"),
     (9.094051984504299, "9.094051984504299")],
)  # fmt: skip
def test_values_are_told_in_words_and_never_rounded(value: object, words: str) -> None:
    assert in_words(value) == words


def test_a_list_of_objects_is_a_table_whatever_keys_they_have() -> None:
    assert as_table([{"a": 1}, {"b": None}]) == (["a", "b"], [["1", ""], ["", "–"]])
    assert as_table([]) is as_table([{}]) is as_table([1]) is as_table("x") is None


def test_what_must_not_be_overlooked_is_a_sentence_each() -> None:
    source = EvidenceSource(True, "kept.json", ["a.d"], "dpaudit claims")
    told = warnings([STALE, FAILED], source)
    assert [sentence.split(":")[-1].strip() for sentence in told] == ["a.c.", "a.b.", "a.d.", "dpaudit claims"]
    assert "made with --quick" in (origin(source) or "")
    assert origin(EvidenceSource()) is None
    assert warnings([], EvidenceSource(refresh="dpaudit claims")) == []
    assert count_verdicts([STALE, FAILED]) == "2 claims: 1 verified, 1 unchecked."


def test_what_holds_instead_stands_beside_the_evidence_and_the_summary_does_not() -> None:
    assert shown_evidence(STALE) == {"n": 1, "instead": "instead"}


def test_what_rests_on_a_stale_claim_is_open_until_that_is_decided_again() -> None:
    above = Decided("a.e", "Theorem 1", "it holds", "verified", {"summary": "yes"}, None, {}, needs=("a.b",))
    apart = Decided("a.f", "Theorem 2", "it holds", "verified", {"summary": "yes"}, None, {})
    told = " ".join(warnings([STALE, above, apart], EvidenceSource()))
    assert "rest on them: a.e." in told
    assert "a.f" not in told
