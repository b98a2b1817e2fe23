"""Laplace noise on counts of which only those above a threshold are shown, as a plan states it: ``channel.threshold_counts``.

What is drawn and what a ledger holds is the Laplace noise, beside the probability δ that a key of one record alone is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dpaudit.claims import InvalidValue, Number, exact, exact_delta, show
from dpaudit.noise.laplace import Laplace


@dataclass(frozen=True, init=False)
class ThresholdedLaplace:
    """Noise of this scale on every count, and the least threshold that keeps δ. Counts that move by m in all cost ε = m/scale:
    m is ``per_record`` where records are added or removed, and twice that where they are replaced."""

    laplace: Laplace
    delta: Fraction

    words: ClassVar[str] = "counts of unknown keys"
    verb: ClassVar[str] = "threshold_counts"
    entrywise: ClassVar[bool] = False
    norm: ClassVar[int] = 1
    alphabet: ClassVar[None] = None
    grid: ClassVar[Fraction] = Fraction(1)

    def __init__(self, scale: Number, delta: Number, grid: Number = 1) -> None:
        if exact(grid, "grid") != 1:
            raise InvalidValue("grid", grid, "1: counts are whole numbers")
        object.__setattr__(self, "laplace", Laplace(scale, 1))
        object.__setattr__(self, "delta", exact_delta(delta))
        if not self.delta:
            raise InvalidValue("delta", delta, "above 0: a key that one record alone has is shown that rarely")

    @property
    def size(self) -> object:
        return self.laplace.size

    def parameters(self) -> dict[str, str]:
        return {"scale": self.laplace.parameters()["scale"], "delta": show(self.delta)}
