"""How claims are rated: a claim that holds has a basis, one that does not a severity, and nothing else is taken."""

from __future__ import annotations

from typing import Any

import pytest

from dpaudit.papers.checks import Check, ClaimError, Decision
from dpaudit.papers.decisions import decide
from dpaudit.papers.severity import BASES, RULES, SEVERITIES
from dpaudit.papers.stored_evidence import read_stored


def check(verdict: str, decision: dict[str, Any] | None = None, **rating: Any) -> Check:
    return Check("a.b", "here", "it holds", lambda quick: Decision(verdict, {"summary": "s"}, **(decision or {})), **rating)


@pytest.mark.parametrize(
    ("verdict", "severity", "basis"),
    [("verified", "none", "range"), ("refuted", "fatal", None), ("conditional", "fatal", None), ("unchecked", "none", None)],
)
def test_a_claim_that_holds_has_a_basis_and_one_that_does_not_a_severity(verdict: str, severity: str, basis: str | None) -> None:
    decided = decide(check(verdict, severity="fatal", basis="range", needs=("a.c",)), True)
    assert (decided.severity, decided.basis, decided.needs) == (severity, basis, ("a.c",))


def test_a_decision_may_rate_itself_and_a_plain_check_is_rated_none() -> None:
    assert decide(check("refuted", {"severity": "slip"}, severity="fatal"), True).severity == "slip"
    assert decide(check("verified", {"basis": "measured"}, basis="range"), True).basis == "measured"
    plain = decide(check("refuted"), True)
    assert (plain.severity, plain.basis, plain.needs) == ("none", None, ())


@pytest.mark.parametrize("rating", [{"severity": "bad"}, {"basis": "belief"}, {"needs": "a.c"}, {"needs": (1,)}])
def test_other_ratings_are_refused(rating: dict[str, Any]) -> None:
    with pytest.raises(ClaimError):
        decide(check("refuted", **rating), True)


def test_what_a_repair_breaks_is_written_and_read_again() -> None:
    one = check("verified", {"breaks": ("a.d",)})
    entry = decide(one, True).to_dict()
    assert entry["breaks"] == ["a.d"]
    (stored,) = read_stored({"schema": "dpaudit.claims/1", "claims": [entry]}, {"a.b": one})
    assert stored.breaks == ("a.d",)
    with pytest.raises(ClaimError):
        decide(check("verified", {"breaks": "a.d"}), True)


def test_stored_evidence_keeps_its_rating_and_older_evidence_has_none() -> None:
    one = check("refuted", severity="slip", needs=("a.c",))
    entry = decide(one, True).to_dict()
    document: dict[str, Any] = {"schema": "dpaudit.claims/1", "claims": [entry]}
    (stored,) = read_stored(document, {"a.b": one})
    assert (stored.severity, stored.basis, stored.needs) == ("slip", None, ("a.c",))
    older = {key: value for key, value in entry.items() if key not in ("severity", "basis", "needs")}
    (stored,) = read_stored({**document, "claims": [older]}, {"a.b": one})
    assert (stored.severity, stored.basis, stored.needs) == ("none", None, ())


def test_every_class_has_one_rule() -> None:
    assert SEVERITIES == ("fatal", "repairable", "slip", "constant", "measured", "none")
    assert set(BASES) == {"proven", "range", "measured"}
    assert len(set(RULES.values())) == len(RULES)
