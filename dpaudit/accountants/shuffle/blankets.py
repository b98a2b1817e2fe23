"""Privacy blankets of randomisers on finite alphabets, and the exact attacks on them.

Balle, Bell, Gascón, Nissim 2019, Lemma 5.3: if R_x ≥ ω for every x, then δ(ε) ≤ E[(ΣG_i)_+]/n with G = (R_0 − e^ε R_1)/ω at a
point of ω, and 0 with the probability that ω lacks. An attack has the same form: where all others hold z, ω = R_z, and
E[(ΣG_i)_+]/n is δ(ε) of that pair of datasets exactly. Here p = e^ε0 and e = e^ε; outputs with one value of G are one atom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpaudit.accountants.shuffle.few_values import Number, Terms
from dpaudit.accountants.shuffle.finite_family import FiniteFamily


@dataclass(frozen=True)
class Values:
    """The values that G takes for every randomiser here."""

    p: Any
    plus: Any  # p − e
    minus: Any  # 1 − pe
    none: Any  # 1 − e

    @classmethod
    def at(cls, number: Number, epsilon0: Any, epsilon: Any) -> Values:
        plus = number(epsilon).exp() * number(epsilon0 - epsilon).expm1()
        return cls(number(epsilon0).exp(), plus, -number(epsilon0 + epsilon).expm1(), -number(epsilon).expm1())


def response_blanket(k: int) -> FiniteFamily:
    """k-ary randomised response: ω = a = 1/(p+k−1) at every output."""

    def laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
        v = Values.at(number, epsilon0, epsilon)
        a = 1 / (v.p + k - 1)
        rest = (((k - 2) * a, v.none),) if k > 2 else ()
        return (Terms(((a, v.plus), (a, v.minus), *rest), v.none, number(epsilon0).expm1() * a, paired=k == 2),)

    return FiniteFamily(laws)


def response_attack(k: int) -> FiniteFamily:
    """k-ary randomised response where the others hold a third value (k = 2: the second)."""

    def laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
        v = Values.at(number, epsilon0, epsilon)
        a, zero = 1 / (v.p + k - 1), number(0)
        if k == 2:
            return (Terms(((a, v.plus), (v.p * a, v.minus / v.p)), v.none, zero),)
        rest = (((k - 3) * a, v.none),) if k > 3 else ()
        return (Terms(((a, v.plus), (a, v.minus), (v.p * a, v.none / v.p), *rest), v.none, zero, paired=k == 3),)

    return FiniteFamily(laws)


def unary_laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
    """Symmetric unary encoding (RAPPOR, Erlingsson et al. 2014) of any length: each bit of a one-hot vector tells the truth with
    probability a/(1+a), a = e^{ε0/2}. Of the two bits that differ, 10 and 01 have ω = s = (1+a)^−2, 00 has sa and 11 s/a."""
    v, a = Values.at(number, epsilon0, epsilon), number(epsilon0 / 2).exp()
    s = (1 + a) ** -2
    atoms = (s, v.plus), (s, v.minus), (s * a, v.none), (s / a, v.p * v.none)
    return (Terms(atoms, v.none, -number(-epsilon0 / 2).expm1()),)


def unary_attack_laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
    """Three categories, the others hold the third; q is the chance that a bit lies."""
    v, q = Values.at(number, epsilon0, epsilon), 1 / (1 + number(epsilon0 / 2).exp())
    t = 1 / (1 + number(-epsilon0 / 2).exp())
    lie, truth = q * q * t, q * t * t
    return (_three_categories(number, v, (lie, truth, lie, truth, q * t, t**3, q**3)),)


def optimised_unary_laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
    """Optimised unary encoding (Wang et al. 2017): the own bit is a coin, every other is 1 with probability 1/(1+p).
    ω is (1+p)/(2p) of the law with no own bit."""
    v = Values.at(number, epsilon0, epsilon)
    m = (1 + 1 / v.p) / 2
    b = m / (1 + v.p) ** 2
    atoms = (v.p * b, v.plus), (v.p * b, v.minus), (v.p * v.p * b, v.none), (b, v.p * v.none)
    return (Terms(atoms, v.none, -number(-epsilon0).expm1() / 2),)


def optimised_unary_attack_laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
    """Three categories, the others hold the third."""
    v = Values.at(number, epsilon0, epsilon)
    r, u = 1 / (1 + v.p), 1 / (1 + 1 / v.p)
    mixed = r * u / 2
    return (_three_categories(number, v, (mixed, mixed, mixed, mixed, (u * u + r * r) / 2, u * u / 2, r * r / 2)),)


def _three_categories(number: Number, v: Values, weights: tuple[Any, ...]) -> Terms:
    """G = value of the two bits that differ, times 1 or 1/p for the third."""
    values = v.plus, v.plus / v.p, v.minus, v.minus / v.p, v.none, v.none / v.p, v.p * v.none
    return Terms(tuple(zip(weights, values, strict=True)), v.none, number(0))


UNARY, UNARY_ATTACK = FiniteFamily(unary_laws), FiniteFamily(unary_attack_laws)
OPTIMISED, OPTIMISED_ATTACK = FiniteFamily(optimised_unary_laws), FiniteFamily(optimised_unary_attack_laws)
