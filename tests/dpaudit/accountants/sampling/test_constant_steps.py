"""Blocks of one plan count as one; nothing else is joined."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import dpaudit as dp
from dpaudit.accountants.sampling.constant_steps import CONSTANT, join_steps
from dpaudit.ledger import Release

BLOCK = Release(
    name="gradient", mechanism="gaussian", sensitivity=Fraction(1), parameters={"sigma": "1"}, sampling="0.1", count=30,
    theorem=CONSTANT,
)  # fmt: skip


def test_equal_blocks_are_one_and_a_lost_one_counts() -> None:
    ((joined,), left) = join_steps([BLOCK, replace(BLOCK, count=12)], [replace(BLOCK, count=8).charge()])
    assert joined.count == 50
    assert left == []


def test_other_noise_other_names_and_unmarked_releases_stay_apart() -> None:
    others = [replace(BLOCK, parameters={"sigma": "2"}), replace(BLOCK, name="other"), replace(BLOCK, theorem=None)]
    charge = replace(BLOCK, sampling="0.2").charge()
    joined, left = join_steps([BLOCK, *others], [charge])
    assert joined == [BLOCK, *others]
    assert left == [charge]


def test_blocks_cost_what_the_whole_plan_costs_and_unmarked_ones_more() -> None:
    whole = dp.account([replace(BLOCK, count=60)], delta="1e-5").epsilon
    assert dp.account([BLOCK, BLOCK], delta="1e-5").epsilon == whole
    loose = replace(BLOCK, theorem=None)
    assert dp.account([loose, loose], delta="1e-5").epsilon > whole
