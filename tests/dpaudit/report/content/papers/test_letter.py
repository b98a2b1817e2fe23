"""The letter has every claim once, by how grave it is."""

from __future__ import annotations

from dpaudit.papers.checks import Decided
from dpaudit.report.content.papers.claims import claims_report
from dpaudit.report.formats import write

STEPS = [{"step": "x ≤ 1", "because": "of T_1", "holds": "yes"}]
CLAIMS = [
    Decided("a.fatal", "Theorem 1", "ε-DP", "refuted", {"summary": "2ε"}, "Lap(2/ε)", {}, severity="fatal"),
    Decided("a.slip", "Lemma 2", "A", "conditional", {"summary": "A_i"}, None, {}, severity="slip"),
    Decided("a.proven", "ours", "all", "verified", {"summary": "by steps", "proof: all": STEPS}, None, {}, basis="proven",
            repairs=("a.fatal",)),
    Decided("a.open", "Remark", "perhaps", "unchecked", {"summary": "who knows"}, None, {}),
]  # fmt: skip


def test_the_letter_goes_from_theorems_to_major_and_minor_points_to_what_holds_and_proofs() -> None:
    shown = write("latex", claims_report(CLAIMS))
    heads = [
        "Referee's letter",
        "In five minutes",
        "Major points",
        "Minor points",
        "What holds",
        "Not rated",
        "What rests on what",
    ]
    places = [shown.index(head) for head in [*heads, "step by step"]]
    assert places == sorted(places)
    assert all(rf"\textbf{{{one.id}}}" in shown for one in CLAIMS)
    assert r"x \ensuremath{\le} 1" in shown
