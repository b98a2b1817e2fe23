"""The law of a loss that dominates every ε-bounded-range release, whichever interval its losses lie in.

Of the pairs with loss t with probability q_t = (e^ε − e^t)/(e^ε − 1), else t − ε (Dong, Durfee, Rogers 2020), the largest
δ(s) over all t is (e^{ε/2} − e^{s/2})²/(e^ε − 1) for |s| ≤ ε, at t = (ε + s)/2. That is δ(s) of the density
e^{(ε+s)/2}/(2(e^ε − 1)) on [−ε, ε]: it composes with any other loss, at the price that no single release attains it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import Atom, Complexes, Floats, cautious
from dpaudit.claims.balls import Ball, ball


@dataclass(frozen=True)
class RangeLoss:
    """E e^{z(L−ε)} = (1 − e^{−(2z+1)ε}) / ((1 − e^{−ε})(2z + 1)). It has no atoms, so that none is taken apart beside it."""

    epsilon: Fraction

    @property
    def top(self) -> Fraction:
        return self.epsilon

    @property
    def gap(self) -> Fraction:
        return Fraction(0)

    def atoms(self) -> Iterator[Atom]:
        yield from ()

    def moment(self, z: Any) -> tuple[Any, Any]:
        width = ball(self.epsilon)
        value = (1 - (-(2 * z + 1) * width).exp()) / ((1 - (-width).exp()) * (2 * z + 1))
        return value, 0 * value

    def log_moment(self, z: Complexes) -> Complexes:
        e = float(self.epsilon)
        return np.asarray(np.log(np.expm1(-(2 * z + 1) * e) / (math.expm1(-e) * (2 * z + 1))), dtype=np.complex128)

    def decay(self, c: float, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """|1 − u e^{−2itε}| ≤ 1 + u and, near 0, |φ(c+it)| ≤ φ(c); |2z + 1| grows with t. u = e^{−(2c+1)ε}."""
        u = math.exp(-(2 * c + 1) * float(self.epsilon))
        most = np.log1p(u) - np.log1p(-u) if u < 1 else np.inf
        return cautious(np.log(np.hypot(2 * c + 1, 2 * low) / (2 * c + 1)) - most), np.ones_like(low)


def log_range_moment(epsilon: Fraction, c: Fraction) -> Ball:
    """K(c) = max_t log(q_t e^{ct} + (1 − q_t) e^{c(t−ε)}), at the precision of the caller: moments multiply also where t changes
    from release to release.

    With τ = e^t and E = e^ε it is the maximum of τ^c ((E − E^{−c}) − τ(1 − E^{−c}))/(E − 1), which lies at
    τ = c(E − E^{−c})/((c+1)(1 − E^{−c})).
    """
    grown, shrunk, order = ball(epsilon).exp(), ball(-epsilon * c).exp(), ball(c)
    at = order * (grown - shrunk) / ((order + 1) * (1 - shrunk))
    return order * at.log() + ((grown - shrunk) / ((order + 1) * (grown - 1))).log()


def float_range_moment(epsilon: float, c: Floats) -> Floats:
    """The same in floats, for the search of an order; E is divided out where it would overflow."""
    shrunk = -np.expm1(-epsilon * c)
    both = -np.expm1(-epsilon * (1 + c))
    at = np.log(c * both / ((c + 1) * shrunk)) + epsilon
    return np.asarray(c * at + np.log(both / ((c + 1) * -np.expm1(-epsilon))))
