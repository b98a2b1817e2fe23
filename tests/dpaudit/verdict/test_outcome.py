"""The three outcomes follow from the facts in the order of the design; each missing thing is named by itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit.claims import Claim, Outcome, Upper
from dpaudit.verdict.outcome import Lack, failing_rules, lack_of, lacks_more, outcome_of

CLAIM = Claim("1")
PROVEN = Upper(Fraction(1), "pure sums", "proven", "enforced")


def test_all_there_is_certified_and_a_refutation_comes_first() -> None:
    facts = {"grey": True, "refuted": False, "interrupted": False}
    assert outcome_of(CLAIM, PROVEN, set(), **facts) is Outcome.CERTIFIED
    assert outcome_of(CLAIM, PROVEN, set(), **{**facts, "refuted": True}) is Outcome.REFUTED
    assert outcome_of(CLAIM, PROVEN, set(), **{**facts, "interrupted": True}) is Outcome.UNPROVEN


@pytest.mark.parametrize(
    ("upper", "rules", "grey", "lack"),
    [
        (PROVEN, (), False, Lack.PROOF),
        (PROVEN, ("DPA002",), True, Lack.RULE),
        (PROVEN, ("DPA005",), True, Lack.RULE),
        (PROVEN, ("DPA006",), True, Lack.RULE),
        (PROVEN, ("DPA003",), True, None),  # the bound was recomputed
        (None, (), True, Lack.BOUND),
        (replace(PROVEN, epsilon=Fraction(1) + Fraction(1, 10**30)), (), True, Lack.ABOVE),
        (replace(PROVEN, sensitivity="tested"), (), True, Lack.SENSITIVITY),
        (replace(PROVEN, sensitivity="declared"), (), True, Lack.SENSITIVITY),
        (replace(PROVEN, path="observed"), (), True, Lack.PATH),
        (replace(PROVEN, path="single"), (), True, None),
    ],
)
def test_what_is_missing_is_named(upper: Upper | None, rules: tuple[str, ...], grey: bool, lack: Lack | None) -> None:
    assert lack_of(CLAIM, upper, rules, grey=grey) is lack
    outcome = outcome_of(CLAIM, upper, rules, grey=grey, refuted=False, interrupted=False)
    assert outcome is (Outcome.CERTIFIED if lack is None else Outcome.UNPROVEN)


def test_last_bits_stand_in_the_way_of_claims_about_floats_alone() -> None:
    assert lack_of(Claim("1", arithmetic="ideal"), PROVEN, {"DPA006"}, grey=True) is None
    assert lack_of(CLAIM, PROVEN, {"DPA006"}, grey=True) is Lack.RULE


def test_what_a_subject_fails_by_and_whether_waiving_it_would_help() -> None:
    assert failing_rules(Outcome.CERTIFIED, CLAIM) == ()
    assert "DPA003" in failing_rules(Outcome.REFUTED, CLAIM)
    assert "DPA003" not in failing_rules(Outcome.UNPROVEN, CLAIM)
    assert not lacks_more(Outcome.REFUTED, CLAIM, None, (), grey=True)
    assert lacks_more(Outcome.UNPROVEN, CLAIM, PROVEN, ("DPA006",), grey=False)
    assert not lacks_more(Outcome.UNPROVEN, CLAIM, PROVEN, ("DPA006",), grey=True)
    assert lacks_more(Outcome.UNPROVEN, CLAIM, replace(PROVEN, path="observed"), ("DPA006",), grey=True)
    assert not lacks_more(Outcome.UNPROVEN, CLAIM, None, ("DPA005",), grey=True)
    assert lacks_more(Outcome.UNPROVEN, CLAIM, None, ("DPA006",), grey=True)
