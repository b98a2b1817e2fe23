"""Joint bounds: norms of all moves of one record, and which coordinates it can move at once."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.sealed.joint_bounds import FREE, Joint, Region, Shares, joined_shares, root_up
from dpaudit.sealed.origins import Origin

ends = st.tuples(st.integers(0, 6), st.integers(0, 6)).map(sorted)
sizes = st.sampled_from([0.5, 1.0, 3.0, 0.1])


@given(st.lists(st.tuples(ends, ends, sizes), min_size=1, max_size=5))
def test_the_peak_is_the_longest_set_of_shares_that_any_values_allow(boxes: Any) -> None:
    """The independent route: every pair of base values, every box that holds it."""
    low, high = (np.array([[one[side], other[side]] for one, other, _ in boxes], dtype=float) for side in (0, 1))
    size = np.array([s for _, _, s in boxes])
    regions = tuple(Region(Origin(), low[:, base], high[:, base]) for base in (0, 1))
    places, norms = Shares(regions, size, True).peak
    inside = [((low <= point) & (np.array(point) <= high)).all(axis=1) for point in product(range(7), repeat=2)]
    assert places == max(int(one.sum()) for one in inside)
    l1 = max(sum(Fraction(s) for s in size[one]) for one in inside)
    l2 = max(sum(Fraction(s) ** 2 for s in size[one]) for one in inside)
    assert Fraction(norms.l1) >= l1
    assert Fraction(norms.l2) ** 2 >= l2
    assert math.isclose(norms.l1, float(l1), rel_tol=1e-15)
    assert math.isclose(norms.l2, math.sqrt(l2), rel_tol=1e-15)


vectors = st.lists(st.integers(-8, 8), min_size=3, max_size=3).map(np.array)


@given(vectors, vectors, st.booleans())
def test_the_difference_of_two_vectors_is_no_longer_than_is_said(a: Any, b: Any, one_sign: bool) -> None:
    a, b = (np.abs(a), np.abs(b)) if one_sign else (a, b)
    longest = max(int((a**2).sum()), int((b**2).sum()))
    bound = Joint(float(max(np.abs(a).sum(), np.abs(b).sum())), root_up(Fraction(longest))).difference(one_sign=one_sign)
    assert np.abs(a - b).sum() <= bound.l1
    assert int(((a - b) ** 2).sum()) <= Fraction(bound.l2) ** 2


def test_without_one_sign_a_difference_is_twice_as_long_and_with_it_not() -> None:
    assert Joint(1, 1).difference(one_sign=False) == Joint(2, 2)
    assert Fraction(Joint(1, 1).difference(one_sign=True).l2) ** 2 >= 2
    assert Joint(1, 1).difference(one_sign=True).l2 < 1.4142135623730952 + 1e-15


def test_a_norm_of_few_numbers_bounds_the_other_norm() -> None:
    assert Joint(l2=2.0).over(4) == Joint(4.0, 2.0)
    assert Joint(l1=1.0).over(9) == Joint(1.0, 1.0)
    assert FREE.over(4) == FREE


def test_numbers_are_rounded_up() -> None:
    tenth = Joint(0.1, 0.1)
    assert Fraction(tenth.scaled(0.1).l1) >= Fraction(0.1) ** 2
    assert Fraction(tenth.plus(Joint(0.2, 0.2)).l2) >= Fraction(0.1) + Fraction(0.2)
    assert Fraction(tenth.beside(Joint(0.2, 0.2)).l2) ** 2 >= Fraction(0.1) ** 2 + Fraction(0.2) ** 2
    assert tenth.beside(Joint(l1=0.3)).l2 == math.inf


def test_side_by_side_a_base_that_one_part_does_not_know_excludes_none_of_it() -> None:
    base = Origin()
    masked = Shares((Region(base, np.array([0.0, 2.0]), np.array([1.0, 3.0])),), np.ones(2), True)
    free = Shares((), np.array(1.0), True)
    joined = joined_shares([masked, free], [(2,), ()], np.arange(3))
    assert joined.peak[0] == 2
    assert joined_shares([masked, masked], [(2,), (2,)], np.arange(4)).peak[0] == 2
    other = Shares((Region(Origin(), np.array([4.0, 5.0]), np.array([4.0, 5.0])),), np.ones(2), True)
    assert joined_shares([masked, other], [(2,), (2,)], np.arange(4)).peak[0] == 2  # two bases exclude nothing of each other
