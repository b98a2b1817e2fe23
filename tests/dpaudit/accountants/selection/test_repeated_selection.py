"""The best of a random number of runs, against exact enumeration."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from dpaudit.accountants.selection.repeated_selection import repeated_epsilon
from dpaudit.claims import InvalidValue


def _generating(x: float, gamma: float, shape: float) -> float:
    """E x^K of the truncated negative binomial law."""
    if shape == 0:
        return math.log1p(-(1 - gamma) * x) / math.log(gamma)
    return ((1 - (1 - gamma) * x) ** -shape - 1) / (gamma**-shape - 1)


def _best_of(law: list[float], gamma: float, shape: float) -> list[float]:
    below = [sum(law[:k]) for k in range(len(law) + 1)]
    values = [_generating(min(at, 1.0), gamma, shape) for at in below]
    return [b - a for a, b in itertools.pairwise(values)]


def _neighbours(draw: random.Random, size: int, epsilon: float) -> tuple[list[float], list[float]]:
    """Two laws whose ratios are e^{±ε} (randomised response on a random half), in a random order of outcomes."""
    base = [draw.random() ** 3 + 1e-3 for _ in range(size)]
    side = [draw.random() < 0.5 for _ in range(size)]
    p = [b * (math.exp(epsilon) if s else 1) for b, s in zip(base, side, strict=True)]
    q = [b * (1 if s else math.exp(epsilon)) for b, s in zip(base, side, strict=True)]
    return [x / sum(p) for x in p], [x / sum(q) for x in q]


@pytest.mark.parametrize("shape", ["-1/2", "0", "1", "2"])
def test_no_outcome_is_told_apart_better_than_the_bound(shape: str) -> None:
    draw, worst = random.Random(5), 0.0
    for _ in range(1500):
        p, q = _neighbours(draw, draw.randint(2, 4), draw.choice([0.1, 1.0, 2.0]))
        own = max(1e-9, *(abs(math.log(a / b)) for a, b in zip(p, q, strict=True)))
        gamma = draw.choice([1e-4, 0.01, 0.3])
        a, b = (_best_of(law, gamma, float(Fraction(shape))) for law in (p, q))
        shown = max(abs(math.log(x / y)) for x, y in zip(a, b, strict=True))
        worst = max(worst, shown / float(repeated_epsilon(own, shape)))
    assert worst <= 1 + 1e-6
    assert worst > 0.6  # the search comes near it: a smaller factor would be caught


def test_shapes_that_have_no_law_are_refused() -> None:
    with pytest.raises(InvalidValue):
        repeated_epsilon(1, -1)
    assert repeated_epsilon("0.1", 1) == Fraction(3, 10)
