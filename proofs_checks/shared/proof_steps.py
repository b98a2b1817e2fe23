"""Steps of a proof that a computer can decide for all parameters: ranges in interval arithmetic, identities on exact grids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from dpaudit.claims.balls import precision

Ball = Any  # flint.arb has no stubs
CELLS = 1024


@dataclass(frozen=True)
class Step:
    """One step: what it says, why it holds, and whether what was computed of it came out so; None where only the words argue."""

    says: str
    why: str
    holds: bool | None = None

    def row(self) -> dict[str, str]:
        shown = "argued" if self.holds is None else "computed" if self.holds else "NO"
        return {"step": self.says, "because": self.why, "holds": shown}


def rows(steps: Iterable[Step]) -> list[dict[str, str]]:
    return [step.row() for step in steps]


def broken(steps: Iterable[Step]) -> list[str]:
    return [step.says for step in steps if step.holds is False]


def number(value: Fraction | int | str) -> Ball:
    """A ball around an exact number."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def inverse_log() -> Ball:
    """1/log 3: x = 1/log T lies in (0, 1/log 3] for every T ≥ 3, however large."""
    return 1 / flint.arb(3).log()


def supremum(function: Callable[[Ball], Ball], low: Ball, high: Ball, cells: int = CELLS) -> Ball:
    """An upper bound of the function on [low, high]: it is evaluated on balls that cover the interval, so nothing is left out.

    Infinite where a ball is too coarse to divide by: then nothing is proven.
    """
    with precision(64):
        width = (high - low) / cells
        most = None
        for place in range(cells):
            middle = low + width * (2 * place + 1) / 2
            cell = flint.arb(middle.mid(), (width / 2 + middle.rad() * 2).upper())
            value = function(cell).upper()
            if not value.is_finite():
                return flint.arb("inf")
            most = value if most is None or value > most else most
        return most


def at_most_for_every_horizon(function: Callable[[Ball], Ball], bound: Fraction | int | str) -> bool:
    """Is function(1/log T) ≤ bound for every T ≥ 3? ``function`` must be continuous at 0, which stands for T = ∞."""
    with precision(64):
        return bool(supremum(function, flint.arb(0), inverse_log()) <= number(bound))


def vanishes(polynomial: Callable[..., Fraction], degrees: Sequence[int]) -> bool:
    """Is it zero everywhere? A polynomial of degree at most k_j in its j-th variable that is zero on a grid of k_1 + 1 times
    k_2 + 1 times … points is the zero polynomial."""
    return all(polynomial(*map(Fraction, point)) == 0 for point in product(*(range(1, degree + 2) for degree in degrees)))
