"""The points of a Laplace lattice as its privacy blanket sees them: weights w and likelihood ratios u.

Values and reports on a grid, range/grid = m, a = ε0/m, t = e^{−a}; a report outside 0..m says no
more than the end next to it, so reports are clamped. R_x(y) = κ t^{|y−x|} inside, κ = tanh(a/2), and
t^x/(1+t), t^{m−x}/(1+t) at the ends; w = min(R_0, R_m). With u_y = t^{2y−m}, a point y < m/2 has G = u_y − e
and weight κ t^{m−y}, its mirror image G = 1 − e u_y with the same weight; the ends have u = e^ε0 and weight
t^m/(1+t).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import flint

from dpaudit.claims.balls import ball

COARSE = 12  # interior points up to which a lattice has few values
# The power series of φ: how many terms, up to which |z| e^ε0. The rest after them is below 1e-30.
TERMS = ((48, 4.0), (96, 16.0), (192, 45.0), (400, 120.0))


@dataclass(frozen=True)
class Lattice:
    """Laplace with range/scale = ``epsilon0`` on ``steps`` = range/grid steps; every field is enclosed by ``arb``."""

    epsilon0: Fraction
    steps: int
    bits: int
    whole: bool = False  # J is summed from end to end, rather than to the middle

    @property
    def is_coarse(self) -> bool:
        """Are ``points`` few enough to be values of a finite law?"""
        return self.inner <= COARSE

    @property
    def inner(self) -> int:
        """How many points lie strictly between the low end and the middle, or the other end."""
        return self.steps - 1 if self.whole else (self.steps - 1) // 2

    @cached_property
    def a(self) -> Any:
        return ball(self.epsilon0 / self.steps)

    @cached_property
    def kappa(self) -> Any:
        return (self.a / 2).tanh()

    @cached_property
    def end(self) -> Any:
        """w at either end."""
        return ball(-self.epsilon0).exp() / (1 + (-self.a).exp())

    @cached_property
    def centre(self) -> Any:
        """w at the middle point, if there is one: u = 1, G = 1 − e."""
        return self.kappa * ball(-self.epsilon0 / 2).exp() if self.steps % 2 == 0 else flint.arb(0)

    @cached_property
    def mass(self) -> Any:
        """γ = Σw."""
        return 2 * self.end + self.centre + 2 * self.power_sum(0)

    def power_sum(self, k: int) -> Any:
        """Σ κ t^{m−y} u_y^k over the inner points."""
        start = self.kappa * (self.a * (1 - self.steps + k * (self.steps - 2))).exp()
        rate = self.a * (1 - 2 * k)  # a geometric series
        return start * (rate * self.inner).expm1() / rate.expm1()

    @cached_property
    def series(self) -> dict[int, Any]:
        """J(z) = Σ κ t^{m−y} e^{z u_y} = Σ_k (power sum k) z^k/k! as polynomials in z e^ε0, by number of terms."""
        shrink, factor, coefficients = ball(-self.epsilon0).exp(), flint.arb(1), []
        for k in range(TERMS[-1][0]):
            coefficients.append(self.power_sum(k) * factor)
            factor = factor * shrink / (k + 1)
        return {terms: flint.acb_poly(coefficients[:terms]) for terms, _ in TERMS}

    @cached_property
    def points(self) -> list[tuple[Any, Any]]:
        """(weight, u) of the inner points one by one."""
        numbers = range(1, self.inner + 1)
        return [(self.kappa * (self.a * (y - self.steps)).exp(), (self.a * (self.steps - 2 * y)).exp()) for y in numbers]

    def inner_sum(self, z: Any) -> Any:
        """J(z), enclosed. After K terms at most (power sum 0) x^K/K! / (1 − x/K) is left, x = |z| e^ε0."""
        scaled = z * ball(self.epsilon0).exp()
        size = flint.arb(scaled.abs_upper())
        for terms, reach in TERMS:
            if size <= reach:
                rest = self.power_sum(0) * size**terms / flint.arb(terms).fac() / (1 - size / terms)
                error = flint.arb(0, rest.abs_upper())
                return self.series[terms](scaled) + flint.acb(error, error)
        raise ArithmeticError("the point is too far out for the power series")


@lru_cache(maxsize=16)
def lattice(epsilon0: Fraction, steps: int, bits: int, whole: bool = False) -> Lattice:
    """A lattice whose enclosures were computed at ``bits`` of precision; call it at that precision."""
    return Lattice(epsilon0, steps, bits, whole)
