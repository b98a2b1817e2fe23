"""What a mechanism says of its privacy loss L = log p(O|q)/p(O|q') under its worst pair of queries: facts, not yet a law.

An accountant turns them into moments and tails. Every pair here is symmetric: L has the same law with q and q' exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class LaplaceFact:
    """Noise P(k) ∝ e^(−rate·|k|) on whole numbers, a query that moves by ``steps``. Several entries may share the move."""

    rate: Fraction
    steps: int


@dataclass(frozen=True)
class GaussianFact:
    """Noise P(k) ∝ e^(−k²/(2·spread²)) on whole numbers, a query that moves by ``steps`` in L2."""

    spread: Fraction
    steps: int


@dataclass(frozen=True)
class LossAtom:
    """P(L = loss) ∝ weight·e^exponent."""

    loss: Fraction
    weight: int
    exponent: Fraction


@dataclass(frozen=True)
class FiniteFact:
    """Finitely many losses, from the largest down; ``times`` independent ones add up."""

    atoms: tuple[LossAtom, ...]
    times: int


@dataclass(frozen=True)
class RangeFact:
    """All losses of one pair of neighbours lie in some interval of length ε, which may differ from pair to pair: ε-bounded range
    (Durfee, Rogers 2019). No mechanism attains all such pairs at once: an upper bound alone."""

    epsilon: Fraction


@dataclass(frozen=True)
class PureFact:
    """Nothing is known but that no loss exceeds ε: an upper bound alone."""

    epsilon: Fraction


LossFact = LaplaceFact | GaussianFact | FiniteFact | RangeFact | PureFact
