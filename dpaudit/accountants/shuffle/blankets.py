"""Privacy blankets of randomisers on finite alphabets, and the exact attacks on them.

Balle, Bell, Gascón, Nissim 2019, Lemma 5.3: if R_x ≥ ω for every x, then δ(ε) ≤ E[(ΣG_i)_+]/n with G = (R_0 − e^ε R_1)/ω at a
point of ω, and 0 with the probability that ω lacks. An attack has the same form: where all others hold z, ω = R_z, and
E[(ΣG_i)_+]/n is δ(ε) of that pair of datasets exactly. Here p = e^ε0 and e = e^ε; outputs with one value of G are one atom.
"""

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
from dpaudit.accountants.shuffle.clone import log_alone, outward
from dpaudit.accountants.shuffle.few_values import FewFloats, FewValues
from dpaudit.claims.balls import ball, lower, precision

Ends = tuple[Fraction, Fraction]
Laws = Callable[[Fraction, int, Fraction], tuple[FewValues, ...]]

_CROWD = 2e4  # expected reports at the rarest value from which on few nodes are needed, and balls are the quicker way
_SMOOTH = 60.0  # the same under the tilt, from which on 32 nodes estimate well
_NARROW = Fraction(1, 10**6)  # relative width of an enclosure that is not improved
_FAR = 700.0  # e^ε0 beyond this is no float


@dataclass(frozen=True)
class BlanketFamily:
    """δ(ε) of n shuffled reports: the largest over pairs of values, each with a few-valued law that depends on ε0 and ε."""

    laws: Laws

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> Ends:
        """Certified (lower, upper) of δ(ε); accurate where δ(ε) is about ``effort`` or more."""
        if epsilon >= epsilon0:
            return Fraction(0), Fraction(0)
        bits = 192 + 3 * n.bit_length() + max(0, effort.denominator.bit_length() - effort.numerator.bit_length())
        with precision(bits):
            found = [enclosed(law) for law in self.laws(epsilon0, n, epsilon)]
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

    def floats(self, epsilon0: float, n: int, epsilon: float) -> list[FewFloats]:
        with precision(96):
            return [law.floats for law in self.laws(Fraction(epsilon0), n, Fraction(epsilon))]


def enclosed(law: FewValues) -> Ends:
    """Certified (lower, upper) of E[(ΣG)_+]/n: by enumeration, or by the contour in balls or in doubles."""
    found = outward(*law.alone())
    if law.n == 1 or found[1] == 0:
        return found
    values = [*law.atoms, *([] if law.empty.is_zero() else [(law.empty, flint.arb(0))])]
    if can_enumerate(len(values), law.n):
        return _both(found, outward(*enumerated(values, law.n)))
    found = max(found[0], min(isolated(law), found[1])), found[1]
    crowded = law.n * min(weight for weight, _ in law.floats.atoms) > _CROWD
    for engine in (enclose, enclose_atoms) if crowded else (enclose_atoms, enclose):
        if found[1] - found[0] > _NARROW * found[1]:
            try:
                found = _both(found, outward(*engine(law)))
            except (ArithmeticError, ValueError):  # out of reach: what is known already stands
                continue
    return found


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
    return lower(best) if best > 0 else Fraction(0)


def _both(first: Ends, second: Ends) -> Ends:
    return max(first[0], second[0]), min(first[1], second[1])


def _estimate(law: FewFloats, near: float | None) -> float:
    if law.top <= 0:
        return -math.inf
    alone = _log_single(law)
    if law.n == 1 or law.n * (1 - law.empty) < 1e-12:
        return alone
    try:
        _, c = quick(law, near)
        tilted = min(w * math.exp(c / law.top * g) for w, g in law.atoms) * law.n
        found = estimate(law, c) if tilted > _SMOOTH else estimate_atoms(law, c)
    except (ArithmeticError, ValueError):
        return alone
    return min(found, alone)


def _quick(law: FewFloats, near: float | None) -> tuple[float, float | None]:
    if law.top <= 0:
        return -math.inf, None
    alone = _log_single(law)
    if law.n == 1 or law.n * (1 - law.empty) < 1e-12:
        return alone, None
    try:
        value, c = quick(law, near)
    except (ArithmeticError, ValueError):
        return alone, None
    return min(value, alone), c


def _log_single(law: FewFloats) -> float:
    """log δ(ε) of one report."""
    return math.log(math.fsum(w * g for w, g in law.atoms if g > 0))


@dataclass(frozen=True)
class Values:
    """The values that G takes for every randomiser here, as balls."""

    p: Any
    plus: Any  # p − e
    minus: Any  # 1 − pe
    none: Any  # 1 − e

    @classmethod
    def at(cls, epsilon0: Fraction, epsilon: Fraction) -> Values:
        plus = ball(epsilon).exp() * ball(epsilon0 - epsilon).expm1()
        return cls(ball(epsilon0).exp(), plus, -ball(epsilon0 + epsilon).expm1(), -ball(epsilon).expm1())


def response_blanket(k: int) -> BlanketFamily:
    """k-ary randomised response: ω = a = 1/(p+k−1) at every output."""

    def laws(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[FewValues, ...]:
        v = Values.at(epsilon0, epsilon)
        a = 1 / (v.p + k - 1)
        rest = (((k - 2) * a, v.none),) if k > 2 else ()
        return (FewValues(n, ((a, v.plus), (a, v.minus), *rest), v.none, ball(epsilon0).expm1() * a),)

    return BlanketFamily(laws)


def response_attack(k: int) -> BlanketFamily:
    """k-ary randomised response where the others hold a third value (k = 2: the second)."""

    def laws(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[FewValues, ...]:
        v = Values.at(epsilon0, epsilon)
        a, zero = 1 / (v.p + k - 1), flint.arb(0)
        if k == 2:
            return (FewValues(n, ((a, v.plus), (v.p * a, v.minus / v.p)), v.none, zero),)
        rest = (((k - 3) * a, v.none),) if k > 3 else ()
        return (FewValues(n, ((a, v.plus), (a, v.minus), (v.p * a, v.none / v.p), *rest), v.none, zero),)

    return BlanketFamily(laws)


def unary_laws(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[FewValues, ...]:
    """Symmetric unary encoding (RAPPOR, Erlingsson et al. 2014) of any length: each bit of a one-hot vector tells the truth with
    probability a/(1+a), a = e^{ε0/2}. Of the two bits that differ, 10 and 01 have ω = s = (1+a)^−2, 00 has sa and 11 s/a."""
    v, a = Values.at(epsilon0, epsilon), ball(epsilon0 / 2).exp()
    s = (1 + a) ** -2
    atoms = (s, v.plus), (s, v.minus), (s * a, v.none), (s / a, v.p * v.none)
    return (FewValues(n, atoms, v.none, -ball(-epsilon0 / 2).expm1()),)


def unary_attack_laws(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[FewValues, ...]:
    """Three categories, the others hold the third; q is the chance that a bit lies."""
    v, q = Values.at(epsilon0, epsilon), 1 / (1 + ball(epsilon0 / 2).exp())
    t = 1 / (1 + ball(-epsilon0 / 2).exp())
    lie, truth = q * q * t, q * t * t
    return (_three_categories(n, v, (lie, truth, lie, truth, q * t, t**3, q**3)),)


def optimised_unary_laws(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[FewValues, ...]:
    """Optimised unary encoding (Wang et al. 2017): the own bit is a coin, every other is 1 with probability 1/(1+p).
    ω is (1+p)/(2p) of the law with no own bit."""
    v = Values.at(epsilon0, epsilon)
    m = (1 + 1 / v.p) / 2
    b = m / (1 + v.p) ** 2
    atoms = (v.p * b, v.plus), (v.p * b, v.minus), (v.p * v.p * b, v.none), (b, v.p * v.none)
    return (FewValues(n, atoms, v.none, -ball(-epsilon0).expm1() / 2),)


def optimised_unary_attack_laws(epsilon0: Fraction, n: int, epsilon: Fraction) -> tuple[FewValues, ...]:
    """Three categories, the others hold the third."""
    v = Values.at(epsilon0, epsilon)
    r, u = 1 / (1 + v.p), 1 / (1 + 1 / v.p)
    mixed = r * u / 2
    return (_three_categories(n, v, (mixed, mixed, mixed, mixed, (u * u + r * r) / 2, u * u / 2, r * r / 2)),)


def _three_categories(n: int, v: Values, weights: tuple[Any, ...]) -> FewValues:
    """G = value of the two bits that differ, times 1 or 1/p for the third."""
    values = v.plus, v.plus / v.p, v.minus, v.minus / v.p, v.none, v.none / v.p, v.p * v.none
    return FewValues(n, tuple(zip(weights, values, strict=True)), v.none, flint.arb(0))


UNARY, UNARY_ATTACK = BlanketFamily(unary_laws), BlanketFamily(unary_attack_laws)
OPTIMISED, OPTIMISED_ATTACK = BlanketFamily(optimised_unary_laws), BlanketFamily(optimised_unary_attack_laws)
