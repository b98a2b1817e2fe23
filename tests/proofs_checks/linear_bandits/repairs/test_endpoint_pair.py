"""The endpoint pair is the worst: every step of the argument in exact fractions, and randomisers for which it fails."""

from fractions import Fraction
from itertools import product

import pytest

from dpaudit.accountants.shuffle.laplace.blanket import Family
from proofs_checks.linear_bandits.repairs import endpoint_pair as proof

LAPLACE = [proof.laplace(Fraction(t), m) for t, m in (("1/2", 1), ("1/3", 2), ("4/5", 3), ("1/10", 4), ("9/10", 5))]
# no monotone likelihood ratio: the middle value stands out, and (0, 1) is a worse pair than (0, 2)
BENT = [[Fraction(k, 10) for k in row] for row in ((5, 3, 2), (1, 1, 8), (4, 3, 3))]


def test_the_rows_are_laws_and_clamp_the_infinite_lattice():
    t, m = Fraction(1, 3), 4
    for x, row in enumerate(proof.laplace(t, m)):
        assert sum(row) == 1
        inside = [(1 - t) / (1 + t) * t ** abs(x - y) for y in range(1, m)]
        assert row[1:-1] == inside
        assert row[0] == sum(((1 - t) / (1 + t) * t ** (x + k) for k in range(60)), Fraction(0)) + t ** (x + 60) / (1 + t)


@pytest.mark.parametrize("rows", LAPLACE)
def test_every_step_holds_for_laplace(rows):
    assert proof.has_monotone_ratios(rows)
    assert proof.ratios_are_below_the_ends(rows)
    assert proof.differences_are_below_the_endpoint_pair(rows)
    assert proof.sums_are_below_the_endpoint_pair(rows, 2, 30)


def test_every_step_fails_without_a_monotone_likelihood_ratio():
    assert not proof.has_monotone_ratios(BENT)
    assert not proof.ratios_are_below_the_ends(BENT)
    assert not proof.differences_are_below_the_endpoint_pair(BENT)
    assert not proof.sums_are_below_the_endpoint_pair(BENT, 2, 30)
    assert proof.worst_table(BENT, 2, 1000)[0] > 1


def test_the_blanket_with_labelled_slots_covers_every_table_by_its_own_pairs():
    """Step 1, exhaustively for two clients and three values."""
    rows, e = proof.laplace(Fraction(1, 2), 2), Fraction(5, 4)
    values = list(product(range(3), repeat=2))
    for first, second, other in product(values, repeat=3):
        found = proof.hockey_stick(proof.observed(rows, (first, other)), proof.observed(rows, (second, other)), e)
        assert found <= proof.bound(rows, list(zip(first, second, strict=True)), e)


def test_no_table_of_any_kind_exceeds_the_endpoint_bound():
    """All tables of three clients with two values, and of two clients with three; both come close."""
    share, _ = proof.worst_table(proof.laplace(Fraction(1, 2), 1), 3, 8**4)
    assert Fraction(9, 10) < share <= 1
    share, _ = proof.worst_table(proof.laplace(Fraction(1, 3), 2), 2, 9**3)
    assert Fraction(9, 10) < share <= 1


def test_the_convex_order_is_told_apart_from_its_reverse_and_from_other_means():
    narrow, wide = {Fraction(0): Fraction(1)}, {Fraction(-1): Fraction(1, 2), Fraction(1): Fraction(1, 2)}
    assert proof.is_below(narrow, wide)
    assert not proof.is_below(wide, narrow)
    assert not proof.is_below(narrow, {Fraction(1): Fraction(1)})


def test_the_bound_is_the_one_that_the_accountant_encloses():
    """t = 1/2 is ε0 = m log 2, which is no fraction: a slightly smaller and a slightly larger one enclose it."""
    rows, epsilon = proof.laplace(Fraction(1, 2), 3), Fraction("0.4")
    low, high = (Fraction("2.0794415416798") + k * Fraction(1, 10**13) for k in (0, 1))
    e = Fraction("1.4918246976412703")
    exact = proof.endpoint_bound(rows, 4, e)
    below, above = (
        Family(3).delta(low, 4, epsilon, Fraction(1, 10**6))[0],
        Family(3).delta(high, 4, epsilon, Fraction(1, 10**6))[1],
    )
    assert float(below) <= float(exact) * (1 + 1e-12)
    assert float(above) >= float(exact) * (1 - 1e-12)
    assert float(above) == pytest.approx(float(exact), rel=1e-10)


def test_the_decision_follows_the_evidence():
    assert proof.endpoint_pair(True).verdict == "verified"
    planted = proof.endpoint_pair(True, randomisers=[("bent", BENT)])
    assert planted.verdict == "refuted"
    assert planted.evidence["counterexample"]["times the bound"] > 1
