"""The accountants. To add one: its file, its test, and its place here."""

from __future__ import annotations

from dpaudit.accountants.fixed_laws import NumericalComposition, RenyiDivergences
from dpaudit.accountants.interface import Accountant
from dpaudit.accountants.selection.composition import RangeComposition
from dpaudit.accountants.sums import EpsilonSums, RhoSums

PLAIN = EpsilonSums()  # bounds whatever can be bounded; preferred where the others gain little
# Of those for parameters that were fixed in advance the first that answers is taken: they stand from the tightest on.
ACCOUNTANTS: tuple[Accountant, ...] = (PLAIN, RhoSums(), RangeComposition(), NumericalComposition(), RenyiDivergences())
