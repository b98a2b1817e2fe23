"""The law of G for Laplace reports on a lattice, as the contour asks for it: in the blanket, or in the attack beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint

from dpaudit.accountants.numerics.contour import Tilt
from dpaudit.accountants.shuffle.few_values import FewValues
from dpaudit.accountants.shuffle.laplace.lattice import TERMS, Lattice
from dpaudit.accountants.shuffle.laplace.quadrature import LaplaceFloats
from dpaudit.accountants.shuffle.laplace.tilt import Tilted
from dpaudit.claims.balls import ball

Values = list[tuple[Any, Any]]


@dataclass(frozen=True)
class BlanketLaw:
    """The summand of blanket.py at ε."""

    lattice: Lattice
    n: int
    epsilon: Fraction

    @cached_property
    def e(self) -> Any:
        return ball(self.epsilon).exp()

    @cached_property
    def empty(self) -> Any:
        return 1 - self.lattice.mass

    @cached_property
    def ends(self) -> Values:
        """(weight, value) of the two ends."""
        top = ball(self.epsilon).exp() * ball(self.lattice.epsilon0 - self.epsilon).expm1()
        return [(self.lattice.end, top), (self.lattice.end, -ball(self.lattice.epsilon0 + self.epsilon).expm1())]

    @cached_property
    def floats(self) -> LaplaceFloats:
        return LaplaceFloats(float(self.lattice.epsilon0), self.lattice.steps, self.n, float(self.epsilon))

    @property
    def series_reach(self) -> float:
        """How large z e^ε0 may be for the power series of the lattice at z and at −ez."""
        return TERMS[-1][1] / math.exp(float(self.epsilon))

    def moment(self, z: Any) -> Any:
        cells = self.lattice
        ends = sum((weight * (z * value).exp() for weight, value in self.ends), flint.acb(0))
        inside = (-z * self.e).exp() * cells.inner_sum(z) + z.exp() * cells.inner_sum(-z * self.e)
        return ends + inside + cells.centre * (z * (1 - self.e)).exp() + self.empty

    def tilt(self, c: float) -> Tilt:
        return Tilted(self, c)

    def few_values(self) -> FewValues:
        """The same law as a list of values: for a coarse lattice."""
        inner = [(w, value) for w, u in self.lattice.points for value in (u - self.e, 1 - self.e * u)]
        mean, steps = -ball(self.epsilon).expm1(), self.lattice.steps
        middle = [(self.lattice.centre, mean)] if steps % 2 == 0 else []
        return FewValues(self.n, (*self.ends, *inner, *middle), mean, self.empty, paired=steps == 1)


class EndLaw(BlanketLaw):
    """The summand of blanket.py at ε: G = u − e from one end to the other; the lattice is ``whole``."""

    @cached_property
    def empty(self) -> Any:
        return flint.arb(0)

    @cached_property
    def ends(self) -> Values:
        top = ball(self.epsilon).exp() * ball(self.lattice.epsilon0 - self.epsilon).expm1()
        return [(self.lattice.end, top), (1 / (1 + (-self.lattice.a).exp()), ball(-self.lattice.epsilon0).exp() - self.e)]

    @cached_property
    def floats(self) -> LaplaceFloats:
        return LaplaceFloats(float(self.lattice.epsilon0), self.lattice.steps, self.n, float(self.epsilon), attack=True)

    @property
    def series_reach(self) -> float:
        return TERMS[-1][1]

    def moment(self, z: Any) -> Any:
        ends = sum((weight * (z * value).exp() for weight, value in self.ends), flint.acb(0))
        return ends + (-z * self.e).exp() * self.lattice.inner_sum(z)

    def few_values(self) -> FewValues:
        inner = [(weight, u - self.e) for weight, u in self.lattice.points]
        return FewValues(self.n, (*self.ends, *inner), -ball(self.epsilon).expm1(), self.empty)
