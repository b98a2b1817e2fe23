"""How people write a release of some mechanism by hand: which fields it needs, and what it then costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class WrittenForm:
    """One way to write a release of ``mechanism``. The ledger reads such forms and knows no mechanism itself.

    ``sizes`` are exact numbers above 0, ``counts`` whole numbers with their least value; all are needed. ``sensitivity`` stands
    where none is written; None: it must be. ``cost``: the pure ε of parameters and sensitivity, None if there is none.
    ``declares``: a larger ε may be written beside them; else ε is the parameter itself.
    """

    mechanism: str
    sizes: tuple[str, ...]
    counts: Mapping[str, int]
    sensitivity: Fraction | None
    cost: Callable[[Mapping[str, Fraction], Fraction], Fraction | None]
    declares: bool = True

    @property
    def needs(self) -> frozenset[str]:
        return frozenset({*self.sizes, *self.counts})
