"""Who sees what of a shuffled batch, by enumeration; the same claim for another observer must come out the other way."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

from proofs_checks.linear_bandits.algorithms.shuffle_views import (
    actions_and_pairs,
    curve,
    data_first,
    law,
    pairs_only,
    permute_rewards,
    reduction,
)


def test_who_sees_the_actions_sees_more_than_the_reduction_shows() -> None:
    found = reduction(quick=True)
    assert found.verdict == "conditional"  # the footnote's server sees less
    shown = found.evidence["counterexample"]
    assert shown["δ of the observer"] > shown["δ after the reduction"]
    assert found.evidence["at the paper's sizes, for who sees actions and pairs"]["exceeds it"]
    assert reduction(quick=True, view=actions_and_pairs).verdict == "conditional"


def test_twin_the_server_of_the_footnote_sees_no_more() -> None:
    assert reduction(quick=True, view=pairs_only).verdict == "verified"


def test_known_distinct_actions_undo_a_shuffle_of_rewards() -> None:
    assert permute_rewards(quick=True).verdict == "verified"


def test_twin_equal_actions_or_a_secret_assignment_gain() -> None:
    assert permute_rewards(quick=True, distinct=False).verdict == "refuted"
    assert permute_rewards(quick=True, known=False).verdict == "refuted"


def test_laws_add_up_to_one_and_a_lone_report_leaks_its_epsilon0() -> None:
    assert sum(law((1, -1), (0, 1), actions_and_pairs, list(permutations(range(2)))).values()) == 1
    assert sum(data_first((1, -1, 1), (0, 1, 2)).values()) == 1
    alone = curve(1, lambda rewards: data_first(rewards, (0,)))
    assert alone[Fraction(2)] == Fraction(1, 4)
    assert alone[Fraction(3)] == 0
