"""What an accountant is: one proven way to bound what releases about one record cost together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Protocol

from dpaudit.accountants.losses.parts import AnyPart

Group = Counter[AnyPart]


@dataclass(frozen=True)
class Least:
    """(ε, δ) and the method that reached it."""

    epsilon: Fraction
    delta: Fraction
    method: str
    group: Group = field(default_factory=Counter)  # of the records that pay most


class Accountant(Protocol):
    """Reads parts and proves an upper bound; it refuses, and never guesses."""

    @property
    def name(self) -> str:
        """As reports call it."""

    @property
    def fixed(self) -> bool:
        """Does it hold only where noise and sensitivity of every part were fixed in advance?"""

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        """An (ε, δ') with δ' ≤ ``delta`` that holds for all parts together, rounded up; None for parts that it cannot bound."""
