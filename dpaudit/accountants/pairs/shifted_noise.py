"""A pair of mixtures of moved copies of one noise, continuous Gaussian or Laplace: δ(ε) of one release, enclosed.

P = Σ a_i f(x − s_i) with s_i ≥ 0 against Q = Σ b_j f(x − r_j) with r_j ≤ 0. For f log-concave f(x − s)/f(x) rises in x where
s ≥ 0 and falls where s ≤ 0, so P/Q rises, the event P > e^ε Q is a half-line x > t, and the best tests are half-lines. That
covers a Poisson sample of one record, removed or added, of two that replace each other, of a group, and batches cut to a size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import flint

from dpaudit.accountants.pairs.normal_quantile import above
from dpaudit.claims import InvalidValue
from dpaudit.claims.balls import Ball, ball, lower, precision, upper

_BITS = 256
_HALVINGS = 160
_WIDEST = 2**12  # scales from 0 at which the search of t ends
_ZERO = Fraction(1, 10**40)  # an excess of the largest ratio over e^ε below it is that of rounding

Ends = tuple[Fraction, Fraction]
Components = tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True)
class ShiftedNoise:
    """``first`` and ``second``: (weight, move) of P and of Q; moves in the unit of ``scale`` (σ, or b of Laplace).

    Raises ``InvalidValue`` where weights do not add up to 1, or moves have the wrong sign.
    """

    law: Literal["gaussian", "laplace"]
    scale: Fraction
    first: Components
    second: Components

    def __post_init__(self) -> None:
        for side, sign in ((self.first, 1), (self.second, -1)):
            if sum(weight for weight, _ in side) != 1 or min(weight for weight, _ in side) < 0:
                raise InvalidValue("weights", "of a mixture", "not negative, and 1 together")
            if any(sign * move < 0 for _, move in side):
                raise InvalidValue("moves", "of a mixture", "not negative in P and not positive in Q")

    @classmethod
    def sampled(
        cls, law: Literal["gaussian", "laplace"], scale: Fraction, sensitivity: Fraction, rate: Fraction, relation: str
    ) -> ShiftedNoise:
        """One release from a Poisson sample: "remove", "add", or "replace" by a record that moves it the other way."""
        still: Components = ((Fraction(1), Fraction(0)),)
        up, down = (((1 - rate, Fraction(0)), (rate, move)) for move in (sensitivity, -sensitivity))
        sides = {"remove": (up, still), "add": (still, down), "replace": (up, down)}
        return cls(law, scale, *sides[relation])

    def swapped(self) -> ShiftedNoise:
        """Q against P, mirrored."""

        def turned(side: Components) -> Components:
            return tuple((weight, -move) for weight, move in side)

        return ShiftedNoise(self.law, self.scale, turned(self.second), turned(self.first))

    def delta(self, epsilon: Fraction) -> Ends:
        """(lower, upper) around sup_t P(x > t) − e^ε Q(x > t), for any real ε.

        Below 0 by δ_ε(P, Q) = 1 − e^ε + e^ε δ_{−ε}(Q, P).
        """
        with precision(_BITS):
            grown = ball(epsilon).exp()
            if epsilon < 0:
                low, high = self.swapped().delta(-epsilon)
                return lower(1 - grown * (1 - ball(low))), upper(1 - grown * (1 - ball(high)))
            most = self._largest_ratio
            if most is not None and upper(most - grown) <= _ZERO:
                return Fraction(0), max(Fraction(0), upper(most - grown))
            left, right = self._bracket(lambda x: self._density(self.first, x) - grown * self._density(self.second, x))
            (p, q), (r, s) = ((self._tail(self.first, x), self._tail(self.second, x)) for x in (ball(left), ball(right)))
            low = max(Fraction(0), lower(p - grown * q), lower(r - grown * s))
            # where t is beyond an end of the search, all of what lies there is added
            beyond = (1 - p if left == -self._far else 0) + (grown * s if right == self._far else 0)
            return low, min(Fraction(1), max(low, upper(p - grown * s + beyond)))

    def true_positive_rate(self, false_rate: Fraction) -> Ends:
        """(lower, upper) around the largest true positive rate of a test with this false positive rate."""
        with precision(_BITS):
            at = ball(false_rate)
            left, right = self._bracket(lambda x: at - self._tail(self.second, x))
            return lower(self._tail(self.first, ball(right))), upper(self._tail(self.first, ball(left)))

    @property
    def _far(self) -> Fraction:
        return _WIDEST * self.scale + max(abs(move) for _, move in (*self.first, *self.second))

    @property
    def _largest_ratio(self) -> Ball | None:
        """The supremum of P/Q, at x → ∞; None where there is none. f(x − s)/f(x) ends at e^{s/b} for Laplace noise."""
        if self.law == "laplace":
            over, under = (
                sum((ball(weight) * ball(move / self.scale).exp() for weight, move in side), start=flint.arb(0))
                for side in (self.first, self.second)
            )
            return over / under
        if any(move for weight, move in self.first if weight):
            return None
        still = sum((weight for weight, move in self.second if not move), Fraction(0))
        return 1 / ball(still) if still else None

    def _density(self, side: Components, x: Ball) -> Ball:
        """Σ w f(x − s), without the factor that P and Q share."""
        total = flint.arb(0)
        for weight, move in side:
            u = (x - ball(move)) / ball(self.scale)
            total += ball(weight) * ((-u * u / 2).exp() if self.law == "gaussian" else (-abs(u)).exp())
        return total

    def _tail(self, side: Components, x: Ball) -> Ball:
        """Σ w P(noise > x − s)."""
        total = flint.arb(0)
        for weight, move in side:
            u = (x - ball(move)) / ball(self.scale)
            total += ball(weight) * (above(u) if self.law == "gaussian" else _laplace_above(u))
        return total

    def _bracket(self, rising: Callable[[Ball], Ball]) -> tuple[Fraction, Fraction]:
        """Points next to each other between which a curve is proven to pass from below 0 to above 0, or ends of the search."""
        low, high = -self._far, self._far
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            narrowed = False
            for point in (middle, (low + 3 * middle) / 4, (high + 3 * middle) / 4):  # the root itself decides nothing
                sign = rising(ball(point)) if low < point < high else 0
                if sign > 0:
                    high, narrowed = point, True
                elif sign < 0:
                    low, narrowed = point, True
                if narrowed and point == middle:
                    break
            if not narrowed:
                break
        return low, high


def _laplace_above(u: Ball) -> Ball:
    """P(noise > u) of Laplace noise with b = 1."""
    if u >= 0:
        return (-u).exp() / 2
    if u <= 0:
        return 1 - u.exp() / 2
    return ((-abs(u)).exp() / 2).union(1 - (-abs(u)).exp() / 2)


def mixture_pair(sigma: Fraction, sensitivities: Sequence[Fraction], weights: Sequence[Fraction], *, add: bool) -> ShiftedNoise:
    """Gaussian noise on a sum that the record moves by one of several amounts, removed or added."""
    moved = tuple(zip(weights, sensitivities, strict=True))
    pair = ShiftedNoise("gaussian", sigma, moved, ((Fraction(1), Fraction(0)),))
    return pair.swapped() if add else pair
