"""δ(ε) of n shuffled reports of a finite randomiser: its law goes to the engine that answers it best."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from dpaudit.accountants.numerics.array_contour import enclose_atoms, estimate_atoms
from dpaudit.accountants.numerics.contour import enclose, estimate, last_slope, quick
from dpaudit.accountants.numerics.enumeration import can_enumerate, enumerated
from dpaudit.accountants.numerics.paired_sum import exact_sum, is_long
from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.shuffle.few_values import Approximation, FewFloats, FewValues, Number, Terms
from dpaudit.claims.balls import ball, lower, precision, upper

Ends = tuple[Fraction, Fraction]
Engine = Callable[[FewValues], tuple[Any, Any]]  # (lower, upper): balls whose outward ends enclose E[(ΣG)_+]/n
Laws = Callable[[Number, Any, Any], tuple[Terms, ...]]  # how to make a number, ε0, ε

_BITS = 128
_CROWD = 300.0  # expected reports at the rarest value from which on the contour ends soon
_SMOOTH, _FEW = 60.0, 80.0  # the same under the tilt from which on 32 nodes estimate well; of a pair, up to which it is summed
_NARROW = Fraction(1, 10**6)  # relative width of an enclosure that is not improved
_EXACT = Fraction(1, 10**15)  # the same where no engine is asked
_LEAST_BITS = 8192  # probabilities below 2^-8192 are not told from 0
_FAR = 80.0  # ε0 beyond which nobody of 10^18 hides the target


@dataclass(frozen=True)
class FiniteFamily:
    """δ(ε) of n shuffled reports: the largest over pairs of values, each with a few-valued law that depends on ε0 and ε."""

    laws: Laws

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> Ends:
        """Certified (lower, upper) of δ(ε); accurate where δ(ε) is about ``effort`` or more."""
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        with precision(_BITS + 3 * n.bit_length() + max(0, math.ceil(-1.5 * log(effort)))):  # recurrences lose about −log2 δ
            found = [enclosed(law) for law in self.enclosures(epsilon0, n, epsilon)]
        return max(low for low, _ in found), max(high for _, high in found)

    def estimate(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> float:
        """log δ(ε) in floats, uncertified."""
        if epsilon >= epsilon0:
            return -math.inf
        if epsilon0 > _FAR:
            return log_alone(epsilon0, epsilon)
        return max(_estimate(law, near) for law in self.floats(epsilon0, n, epsilon))

    def quick(self, epsilon0: float, n: int, epsilon: float, near: float | None = None) -> tuple[float, float | None]:
        """log δ(ε) at a fraction of the cost, off by a small factor where few hide the target; and ``near`` for the next."""
        if epsilon >= epsilon0 or epsilon0 > _FAR:
            return self.estimate(epsilon0, n, epsilon), None
        return max((_quick(law, near) for law in self.floats(epsilon0, n, epsilon)), key=lambda pair: pair[0])

    def last(self, epsilon0: float, n: int) -> tuple[float, float]:
        """As in ``last_slope``."""
        if epsilon0 > _FAR:
            return -math.log1p(math.exp(-epsilon0)), 0.0
        gap = epsilon0 * 1e-6
        laws = self.floats(epsilon0, n, epsilon0 - gap)
        tops = [max(law.atoms, key=lambda atom: atom[1]) for law in laws]
        return max(last_slope(w * g / gap, w, law.empty, n) for (w, g), law in zip(tops, laws, strict=True))

    def enclosures(self, epsilon0: Fraction, n: int, epsilon: Fraction) -> list[FewValues]:
        """The laws at the precision of the caller."""
        return [FewValues(n, *terms) for terms in self.laws(ball, epsilon0, epsilon)]

    def floats(self, epsilon0: float, n: int, epsilon: float) -> list[FewFloats]:
        return [FewFloats(n, *terms) for terms in self.laws(Approximation, epsilon0, epsilon)]


def enclosed(law: FewValues) -> Ends:
    """Certified (lower, upper) of E[(ΣG)_+]/n, at the precision of the caller."""
    found = outward(*law.alone())
    if law.n == 1 or _is_narrow(found, _EXACT) or not any(g > 0 for _, g in law.atoms):
        return found
    asked = engines(law)
    if len(asked) > 1:
        found = max(found[0], min(isolated(law), found[1])), found[1]
    for engine in asked:
        if len(asked) == 1 or not _is_narrow(found, _NARROW):
            try:
                found = _both(found, outward(*engine(law)))
            except (ArithmeticError, ValueError):  # out of reach: what is known already stands
                continue
    return found


def engines(law: FewValues) -> tuple[Engine, ...]:
    """Those that answer it: one that is close alone, or the two contours, the better one first (``benchmarks engines``)."""
    if law.paired:
        return (enclose,) if is_long(law) else (exact_sum,)
    if can_enumerate(law):
        return (enumerated,)
    crowded = law.n * min(weight for weight, _ in law.floats.atoms) > _CROWD
    return (enclose, enclose_atoms) if crowded else (enclose_atoms, enclose)


def isolated(law: FewValues) -> Fraction:
    """A lower bound on E[(ΣG)_+]/n by one report alone at its value g.

    By Jensen, w ((1−w)^{n−1} g + (n−1) (1−w)^{n−2} E[G; G ≠ g]): which report it is makes n disjoint events.
    It is close where such a report is so rare that no other hides it, as at a very large ε0.
    """
    best = flint.arb(0)
    for place, (weight, value) in enumerate(law.atoms):
        if value > 0 and weight < 1:
            others = sum((w * g for at, (w, g) in enumerate(law.atoms) if at != place), start=flint.arb(0))
            stay = (1 - weight) ** (law.n - 2)
            best = best.max(weight * stay * ((1 - weight) * value + (law.n - 1) * others))
    return outward(best, best)[0]


def outward(low: Any, high: Any) -> Ends:
    """The outward ends of δ(ε), which lies in [0, 1] however wide an enclosure is; fractions of too many digits are 0."""
    return lower(low) if low > flint.arb(2) ** -_LEAST_BITS else Fraction(0), upper(high) if high < 1 else Fraction(1)


def log_alone(epsilon0: float, epsilon: float) -> float:
    """log δ(ε) of one report of binary randomised response, which no ε0-LDP randomiser exceeds."""
    return math.log(-math.expm1(epsilon - epsilon0)) - math.log1p(math.exp(-epsilon0))


def _both(first: Ends, second: Ends) -> Ends:
    return max(first[0], second[0]), min(first[1], second[1])


def _is_narrow(ends: Ends, width: Fraction) -> bool:
    return ends[1] - ends[0] <= width * ends[1]


def _estimate(law: FewFloats, near: float | None) -> float:
    if law.top <= 0:
        return -math.inf
    alone = _log_single(law)
    if law.n == 1 or law.active < 1e-12:
        return alone
    try:
        _, c = quick(law, near)
        phi = math.exp(law.cumulants(c / law.top)[0])
        tilted = [law.n * w * math.exp(c / law.top * g) / phi for w, g in law.atoms]
        if law.paired and tilted[0] + tilted[1] < _FEW:
            found = law.counted(tilted[0], tilted[1])
        else:
            found = estimate(law, c) if law.paired or min(tilted) > _SMOOTH else estimate_atoms(law, c)
    except (ArithmeticError, ValueError):
        return alone
    return min(found, alone)


def _quick(law: FewFloats, near: float | None) -> tuple[float, float | None]:
    if law.top <= 0:
        return -math.inf, None
    alone = _log_single(law)
    if law.n == 1 or law.active < 1e-12:
        return alone, None
    try:
        value, c = quick(law, near)
    except (ArithmeticError, ValueError):
        return alone, None
    return min(value, alone), c


def _log_single(law: FewFloats) -> float:
    """log δ(ε) of one report."""
    return math.log(math.fsum(w * g for w, g in law.atoms if g > 0))
