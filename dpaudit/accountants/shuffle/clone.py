"""δ(ε) of n shuffled reports of any ε0-LDP randomisers (``CLONE``), and of one randomiser that all of them use (``SAME``).

Clone bound (Feldman, McMillan, Talwar 2021, Theorem 3.1): for every ε0-LDP randomiser, adaptive ones
included, the shuffled reports are dominated by the pair (A+Δ, C−A+1−Δ), (A+1−Δ, C−A+Δ) with C ~ Bin(n−1,
e^{−ε0}), A ~ Bin(C, 1/2), Δ ~ Bernoulli(p/(1+p)), p = e^ε0. Its δ(ε) is E[(ΣG_i)_+]/n with G = 2p(p−e)/(1+p)
or 2p(1−ep)/(1+p), each with probability 1/(2p), else 0; e = e^ε.

One randomiser, where none is chosen by what others reported: G = p−e or 1−pe, each with probability 1/(1+p), else 0, which is
the blanket of binary randomised response, and the value of the "stronger clone" (Feldman, McMillan, Talwar 2023), whose own
proof fails for general randomisers (their errata). Proof here, for 0 ≤ ε < ε0:
(1) ω = max(R_0, R_1)/p ≤ R_x is a blanket, so δ ≤ E[(ΣG)_+]/n (Balle et al. 2019, Lemma 5.3);
(2) an output with ratio ℓ in (1, p) splits into ratios p and 1 with the same ω and mean of G, so the sum grows (Jensen);
(3) the part with ratio 1, replaced by as much of p and 1/p, rises in the convex order.
Checked step by step as the claim ``shuffle.same-randomiser``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.shuffle.blankets import Values, response_attack, response_blanket
from dpaudit.accountants.shuffle.few_values import Number, Terms
from dpaudit.accountants.shuffle.finite_family import FiniteFamily
from dpaudit.claims.balls import ball, decimal, lower, precision


def clone_laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
    """The summand of the clone bound at ε."""
    v = Values.at(number, epsilon0, epsilon)
    weight, scale = number(-epsilon0).exp() / 2, 2 / (1 + number(-epsilon0).exp())
    return (Terms(((weight, v.plus * scale), (weight, v.minus * scale)), v.none, -number(-epsilon0).expm1(), paired=True),)


CLONE, SAME = FiniteFamily(clone_laws), response_blanket(2)
RESPONSE = response_attack(3)  # an attack on an ε0-LDP randomiser: ternary response, the others hold 3, the target 1 or 2


def sign_family(steps: int) -> FiniteFamily:
    """Laplace reports on ``steps`` steps of which an observer sees the side of the middle value v only: an attack.

    v itself counts for either side by a coin. The others hold v, the target an end: G = (R_0 − e^ε R_m)/R_v on the two sides,
    where R_0 is above v with probability t^v/2, and R_m below it with t^{m−v}/2, t = e^{−ε0/m}.
    """
    low, high = Fraction(steps // 2, steps), Fraction(steps - steps // 2, steps)

    def laws(number: Number, epsilon0: Any, epsilon: Any) -> tuple[Terms, ...]:
        half, mean = number(Fraction(1, 2)), -number(epsilon).expm1()
        both = number(-epsilon0 * low).expm1() + number(epsilon).exp() * number(-epsilon0 * high).expm1()
        return (Terms(((half, mean - both), (half, mean + both)), mean, number(0), paired=True),)

    return FiniteFamily(laws)


def last_one_out(epsilon0: Fraction, n: int, delta: Fraction, k: int = 2) -> Fraction:
    """An attack on k-ary randomised response (ε0-LDP): the others hold 2, the target 1 or 2, S = "nobody reports 1".

    With a = 1/(p+k−1), P(S) is (1−a)^n against (1−a)^{n−1}(k−1)a, hence ε ≥ log((1−a)/((k−1)a) − δ(1−a)^{1−n}/((k−1)a)),
    rounded down; 0 if empty.
    """
    with precision(128 + 2 * n.bit_length() + max(0, math.ceil(-1.5 * log(delta)))):
        inverse = ball(-epsilon0).exp()
        others = 1 + (k - 2) * inverse  # (1 − a)(p+k−1)/p
        # 1/(1−a) = 1 + 1/(p+k−2); the power through log1p, since n is large and 1/p small
        share = ball(delta) * (others + inverse) / others * ((n - 1) * (inverse / others).log1p()).exp()
        if not share < 1:
            return Fraction(0)
        least = ball(epsilon0) + others.log() - ball(Fraction(k - 1)).log() + (-share).log1p()
        return max(Fraction(0), decimal(lower(least), 15, up=False)) if least > 0 else Fraction(0)
