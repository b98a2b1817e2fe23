"""An accountant is one object in the registry: a toy one is asked like the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accountants import least_epsilon
from dpaudit.accountants.interface import Accountant, Least
from dpaudit.accountants.losses.parts import AnyPart, Part
from dpaudit.accountants.registry import ACCOUNTANTS


@dataclass(frozen=True)
class Half:
    """Not a theorem: what a plain sum says, halved."""

    fixed: bool
    name: str = "toy"

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        return Least(sum((part.pure() or Fraction(0) for part in parts), Fraction(0)) / 2, delta, self.name)


@pytest.mark.parametrize(("needs_fixed", "fixed", "used"), [(False, False, True), (True, True, True), (True, False, False)])
def test_a_new_accountant_is_one_line_of_the_registry(
    needs_fixed: bool, fixed: bool, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy: Accountant = Half(needs_fixed)
    monkeypatch.setattr(least_epsilon, "ACCOUNTANTS", (ACCOUNTANTS[0], toy, *ACCOUNTANTS[1:]))
    group: Counter[AnyPart] = Counter({Part(dp.Laplace(1, grid=1), 1): 3})
    found = least_epsilon.least([group], Fraction(1, 10**9), fixed=fixed)
    assert ("toy" in found.method) == used
    assert (found.epsilon == Fraction(3, 2)) == used
