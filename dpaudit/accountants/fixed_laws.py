"""The accountants that compose laws of losses: tight, and valid only where every noise and sensitivity was fixed in advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.interface import Least
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart
from dpaudit.accountants.losses.renyi import renyi_epsilon
from dpaudit.claims import Enclosure, InvalidValue

NUMERICAL, RDP = "certified numerical composition", "Rényi divergences"


@dataclass(frozen=True)
class NumericalComposition:
    """The exact composition, enclosed (Zhu, Dong, Wang 2022, Thm 10)."""

    name: str = NUMERICAL
    fixed: bool = True

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        return _composed(compose, NUMERICAL, parts, delta)


@dataclass(frozen=True)
class RenyiDivergences:
    """Divergences at the best order; for parts whose law the exact composition does not take."""

    name: str = RDP
    fixed: bool = True

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        return _composed(renyi_epsilon, RDP, parts, delta)


@lru_cache(maxsize=1024)
def _composed(
    rule: Callable[[Sequence[AnyPart], Fraction], Enclosure], method: str, parts: tuple[AnyPart, ...], delta: Fraction
) -> Least | None:
    if not delta:
        return None
    try:
        return Least(rule(parts, delta).upper, delta, method)
    except InvalidValue:
        return None
