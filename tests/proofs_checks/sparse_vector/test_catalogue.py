"""Every claim about the sparse vector technique as decided, and planted changes that must turn the verdict."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest

from dpaudit.papers.decisions import decide
from proofs_checks.sparse_vector import allocation, privacy
from proofs_checks.sparse_vector.catalogue import checks
from proofs_checks.sparse_vector.transcripts import Variant
from proofs_checks.sparse_vector.variants import frequent_items, no_cutoff, standard

EXPECTED = {
    "refuted": {"svt1.half-noise", "svt3.privacy", "svt4.privacy", "svt5.privacy", "svt6.privacy"},
    "verified": {
        "svt1.privacy", "svt1.tight", "svt1.below-is-free", "svt1.monotone", "svt2.privacy", "svt3.unbounded", "svt4.bound",
        "svt4.monotone-bound", "svt6.unbounded", "svt7.numbers", "svt.split", "svt.split-monotone", "svt2.more-noise",
        "svt.even-split",
    },
}  # fmt: skip


def test_every_claim_is_decided_as_lyu_su_and_li_say():
    decided = [decide(check, True) for check in checks()]
    assert len(decided) >= 15
    assert {verdict: {one.id for one in decided if one.verdict == verdict} for verdict in EXPECTED} == EXPECTED
    assert all(one.evidence.get("range") or one.evidence.get("counterexample") for one in decided)


def one(cutoff: int) -> Fraction:
    return Fraction(1)


PLANTED = [
    (partial(privacy.private, make=lambda c: Variant(Fraction(2), Fraction(3 * c), c), claimed=one), "refuted"),
    (partial(privacy.private, make=standard, claimed=lambda c: Fraction(99, 100)), "refuted"),
    (partial(privacy.private, make=frequent_items, claimed=lambda c: Fraction(1 + 5 * c, 4)), "refuted"),
    (partial(privacy.private, make=lambda c: no_cutoff(Fraction(1, 100)), claimed=one), "conditional"),
    (partial(privacy.tight, make=lambda c: standard(c, Fraction(1, 3), Fraction(1, 3))), "refuted"),
    (partial(privacy.growing, kind="lecture", rate=Fraction(3, 5)), "refuted"),
    (partial(privacy.growing, kind="no cutoff", rate=Fraction(2)), "refuted"),
    (partial(privacy.infinite, variant=standard(2)), "conditional"),
    (partial(privacy.lecture_private, numbers=False), "refuted"),
    (partial(privacy.numbers_beside, scale=Fraction(2)), "refuted"),
    (partial(allocation.best_split, weight=lambda c: 2 * c, power=Fraction(1, 2)), "refuted"),
    (partial(allocation.book_pays_more, make=standard), "refuted"),
    (partial(allocation.even_split, weight=100), "refuted"),
]


@pytest.mark.parametrize(("run", "verdict"), PLANTED)
def test_a_planted_change_turns_the_verdict(run, verdict):
    assert run(True).verdict == verdict
