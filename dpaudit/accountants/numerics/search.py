"""Find where a certified, monotone curve crosses δ: floats guide the search, enclosures decide every end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

Curve = Callable[[Fraction], tuple[Fraction, Fraction]]
TOLERANCE = Fraction(1, 10**10)  # relative width that is aimed at
_STEPS = 60


@dataclass
class Bracket:
    """``safe`` is proven to meet δ, ``unsafe`` proven not to, unless they are the ends the caller gave."""

    curve: Curve
    delta: Fraction
    safe: Fraction
    unsafe: Fraction
    seen: list[tuple[Fraction, float]] = field(default_factory=list)  # x, log of the curve's middle
    blur: float = 0.0  # relative width of the curve's last enclosure

    def narrow(self) -> bool:
        return abs(self.safe - self.unsafe) <= TOLERANCE * max(abs(self.safe), abs(self.unsafe))

    def contains(self, x: Fraction) -> bool:
        return min(self.safe, self.unsafe) < x < max(self.safe, self.unsafe)

    def middle(self) -> Fraction:
        """The geometric middle of a wide bracket, the arithmetic one of a narrow bracket."""
        low, high = sorted((self.safe, self.unsafe))
        wide = 0 < 4 * low < high
        return _short(Fraction(math.exp((log(low) + log(high)) / 2)) if wide else (low + high) / 2)

    def test(self, x: Fraction) -> bool:
        """Evaluate the curve at x inside the bracket; False if its enclosure straddles δ."""
        low, high = self.curve(x)
        self.seen.append((x, log((low + high) / 2)))
        self.blur = min(1.0, log(high) - log(low)) if low > 0 else 1.0
        if high <= self.delta:
            self.safe = x
        elif low > self.delta:
            self.unsafe = x
        return high <= self.delta or low > self.delta

    def secant(self) -> Fraction | None:
        """The root of the line through the two points nearest to δ on the scale of log δ."""
        target = log(self.delta)
        near = sorted((p for p in self.seen if math.isfinite(p[1])), key=lambda p: abs(p[1] - target))[:2]
        if len(near) < 2 or near[0][1] == near[1][1]:
            return None
        (x, u), (y, v) = near
        return _short(x + (y - x) * Fraction((target - u) / (v - u)))


def crossing(curve: Curve, delta: Fraction, safe: Fraction, unsafe: Fraction, start: Fraction) -> Bracket:
    """Shrink [safe, unsafe] (in either order) around the point where the curve passes δ.

    Aims at a relative width of 1e-10; it is wider where the enclosures of the curve are.
    """
    bracket = Bracket(curve, delta, safe, unsafe)
    x = start
    for _ in range(_STEPS):
        if not bracket.contains(x):
            x = bracket.middle()
        decided = bracket.test(x)
        root = bracket.secant()
        if bracket.narrow() or not decided or (root is not None and abs(root - x) <= TOLERANCE * abs(x) / 4):
            break
        x = root if root is not None else _beside(x, bracket)
    if not bracket.narrow():
        _close_in(bracket, bracket.secant() or x)
    return bracket


def _beside(x: Fraction, bracket: Bracket) -> Fraction:
    """A second point for the secant: a little from x on the side of the root."""
    other = bracket.unsafe if bracket.safe == x else bracket.safe
    reach = min(abs(other - x) / 2, abs(x) / 1000)
    return _short(x + reach if other > x else x - reach)


def _close_in(bracket: Bracket, root: Fraction) -> None:
    """Bring both ends as near to the root as the curve's enclosures allow."""
    for toward_safe in (True, False):
        # δ(ε) is at least about as steep as ε^-16 where it matters; if not, the margin grows
        margin = abs(root) * max(TOLERANCE / 3, Fraction(bracket.blur) / 16)
        while True:
            end = bracket.safe if toward_safe else bracket.unsafe
            point = _short(root + (margin if end > root else -margin))
            if not bracket.contains(point) or (bracket.test(point) and point in _end(bracket, toward_safe)):
                break
            margin *= 3


def _end(bracket: Bracket, safe: bool) -> tuple[Fraction]:
    return (bracket.safe,) if safe else (bracket.unsafe,)


def _short(value: Fraction) -> Fraction:
    """Round to 60 significant bits: certified figures stay short."""
    if value == 0:
        return value
    places = 60 - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    return Fraction(math.floor(value * Fraction(2) ** places)) / Fraction(2) ** places


def log(value: Fraction) -> float:
    """log of a fraction that floats may not hold; −inf at 0 and below."""
    return math.log(value.numerator) - math.log(value.denominator) if value > 0 else -math.inf
