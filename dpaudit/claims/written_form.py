"""How people write a release of some mechanism by hand: which fields it needs, and what it then costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

_FEWEST_STEPS, _MOST_STEPS = 2**10, 2**40  # that a sensitivity may have on a door's grid: as good as no grid
_PARTS = 2**20  # else it has so many, or fewer where noise would be too wide for its sampler
_WIDEST = 2**50  # steps: what noise may be as wide as
_FINEST = Fraction(1, 2**200)


@dataclass(frozen=True)
class WrittenForm:
    """One way to write a release of ``mechanism``. The ledger reads such forms and knows no mechanism itself.

    ``sizes`` are exact numbers above 0, ``counts`` whole numbers with their least value; all are needed. ``sensitivity`` stands
    where none is written; None: it must be. ``cost``: the pure ε of parameters and sensitivity, None if there is none.
    ``declares``: a larger ε may be written beside them; else ε is the parameter itself. ``grid``: what its noise is drawn on at a
    door; None: no grid.
    """

    mechanism: str
    sizes: tuple[str, ...]
    counts: Mapping[str, int]
    sensitivity: Fraction | None
    cost: Callable[[Mapping[str, Fraction], Fraction], Fraction | None]
    declares: bool = True
    grid: Fraction | None = None

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({*self.sizes, *self.counts})

    def dividing_grid(self, parameters: Mapping[str, Fraction], sensitivity: Fraction) -> Fraction | None:
        """A grid for noise that is written without one, of which the sensitivity is a whole number of steps: what is written is
        then accounted for as it stands, not rounded up. None: that of the door does, or there is none."""
        if self.grid is None:
            return None
        steps = sensitivity / self.grid
        if steps.denominator == 1 and _FEWEST_STEPS <= steps <= _MOST_STEPS:
            return None
        size, parts = parameters[self.sizes[0]], _PARTS
        while parts > 1 and size * parts > _WIDEST * sensitivity:
            parts //= 2
        found = sensitivity / parts
        return found if _FINEST <= found <= 1 / _FINEST else None
