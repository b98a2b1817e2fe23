"""ε(δ) and δ(ε) of Gaussian releases alone: one Gaussian loss in closed form, in .3 ms where the contour of losses takes 3.

Gaussian losses add up their μ², and δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), with slope −e^ε Φ(−μ/2 − ε/μ) (Balle & Wang 2018,
Thm 8). Newton's method on ln δ finds the place; a ball around δ on either side of it proves both ends, since δ(ε) falls.
"""

from __future__ import annotations

import math
from fractions import Fraction

import flint

from dpaudit.accountants.numerics.roots import log, newton, step_out
from dpaudit.claims.balls import Ball, ball, lower, precision, upper

_BITS = 192
_ROUNDING = 2.0**-51  # relative, of ε as a float


class GaussianCurve:
    """δ(ε) of one Gaussian loss, at the precision of the caller; the constants are computed once."""

    def __init__(self, mu_squared: Fraction) -> None:
        mu, root = ball(mu_squared).sqrt(), flint.arb(2).sqrt()
        self.scale, self.half = 1 / (mu * root), mu / (2 * root)

    def at(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """(δ, −its slope)."""
        level = epsilon * self.scale
        returned = epsilon.exp() * (level + self.half).erfc() / 2
        return (level - self.half).erfc() / 2 - returned, returned

    def log_at(self, epsilon: float) -> tuple[float, float]:
        """(ln δ, its slope) in floats."""
        delta, slope = self.at(flint.arb(epsilon))
        return (float(delta.log().mid()), -float((slope / delta).mid())) if delta > 0 else (-math.inf, -math.inf)


def gaussian_sum_delta(mu_squared: Fraction, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε)."""
    with precision(_BITS):
        delta, _ = GaussianCurve(mu_squared).at(ball(epsilon))
        return (lower(delta) if delta > 0 else Fraction(0)), min(Fraction(1), max(upper(delta), Fraction(0)))


def gaussian_sum_epsilon(mu_squared: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper): ε is proven to meet δ > 0 at ``upper``, and not to below ``lower``. Raises ``ArithmeticError``."""
    with precision(_BITS):
        curve, target, size = GaussianCurve(mu_squared), ball(delta), log(delta)
        if curve.at(flint.arb(0))[0] <= target:
            return Fraction(0), Fraction(0)
        mu = math.sqrt(mu_squared)
        reach = math.sqrt(max(-2 * size, 1.0))
        root = newton(curve.log_at, mu * (mu / 2 + reach), size, reach / mu)
        if not root.slope < 0:
            raise ArithmeticError("floats do not reach δ")
        margin = root.at * _ROUNDING + 1e-300
        top = step_out(lambda at: bool(curve.at(flint.arb(at))[0] <= target), root.at, margin)
        bottom = step_out(lambda at: bool(curve.at(flint.arb(at))[0] > target), root.at, -margin)
    if top is None:
        raise ArithmeticError("no ε is proven to meet δ")
    return Fraction(bottom or 0.0), Fraction(top)
