"""Lemma 1 as printed, and with planted sizes and constructions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_checks.linear_bandits.lemmas.net import enough, needed, rank, separated, size, spans


def test_the_printed_size_is_enough():
    assert size(True).verdict == "verified"


def test_a_size_without_its_constant_is_refuted():
    assert size(True, claimed=lambda zeta, d: (1 / zeta) ** d).verdict == "refuted"


def test_a_size_between_is_neither():
    assert size(True, claimed=lambda zeta, d: (Fraction(21, 10) / zeta) ** d + d).verdict == "conditional"


def test_the_net_spans_when_completed_and_not_otherwise():
    assert spans(True).verdict == "verified"
    found = spans(True, build=separated)
    assert found.verdict == "refuted"
    assert "rank 1" in found.evidence["summary"]


@pytest.mark.parametrize("zeta", [Fraction(1, 10), Fraction(1), Fraction(6, 5), Fraction(3, 2), Fraction(5, 2)])
@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_what_is_needed_is_never_more_than_what_is_proven_enough(zeta, d):
    assert max(n for _, n in needed(zeta, d)) <= enough(zeta, d)


def test_rank_is_exact():
    assert rank([(1, 2), (2, 4)]) == 1
    assert rank([(0, 0), (720, 1), (720, 2)]) == 2
