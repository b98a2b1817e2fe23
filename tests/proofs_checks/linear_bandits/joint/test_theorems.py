"""The repaired theorems, and planted faults in each of their parts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_checks.linear_bandits.joint.regret_sum import Constants
from proofs_checks.linear_bandits.joint.theorems import Repair, theorem1, theorem2, theorem3

THEOREMS = pytest.mark.parametrize("theorem", [theorem1, theorem2, theorem3])


@THEOREMS
def test_the_repaired_theorem_stands(theorem):
    found = theorem(True)
    assert found.verdict == "verified"
    steps = [row for name, rows in found.evidence.items() if name.startswith("proof:") for row in rows]
    assert {row["holds"] for row in steps} == {"computed", "argued"}
    assert sum(row["holds"] == "computed" for row in steps) > len(steps) / 2
    assert max(row["T"] for row in found.evidence["second route: runs"]) == 10**7  # where the bound says something
    assert {"price", "privacy it buys", "regret, K=10, d=2, T=10^6, ε=1"} <= set(found.evidence)


@THEOREMS
def test_with_the_printed_noise_it_is_refuted_for_its_privacy(theorem):
    found = theorem(True, repair=Repair(noise=Fraction(1)))
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["true ε"] == "2"


@THEOREMS
@pytest.mark.parametrize(
    "repair",
    [
        Repair(maximum="all"),
        Repair(share=Fraction(9, 10)),
        *(Repair(constants=replace(Constants(), **{name: Fraction(value)}))
          for name, value in (("start", 10), ("root", 73), ("batch", 81), ("early", 12), ("late", 66), ("kappa", 8))),
    ],
)  # fmt: skip
def test_a_step_that_fails_leaves_the_theorem_open(theorem, repair):
    found = theorem(True, repair=repair)
    assert found.verdict == "conditional"
    assert found.evidence["summary"]


def test_only_all_four_repairs_together_make_theorem_1_stand():
    rows = theorem1(True).evidence["repairs one by one"]
    assert len(rows) == 16
    assert [row["repairs"] for row in rows if row["the theorem"] == "stands"] == [
        "Lap(2/ε), max over A_i, N that fits T, corrected γ"
    ]
    alone = next(row for row in rows if row["repairs"] == "Lap(2/ε)")
    assert float(alone["good event, T·P"].removeprefix("≥ ")) > 60
