"""Proven lower bounds on the ε of shuffled reports: the best of the exact attacks on a randomiser."""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.shuffle import blankets
from dpaudit.accountants.shuffle.clone import RESPONSE, last_one_out, sign_family
from dpaudit.accountants.shuffle.finite_family import FiniteFamily
from dpaudit.accountants.shuffle.inversion import epsilon_refuted, estimated_epsilon
from dpaudit.accountants.shuffle.laplace import blanket

_WORTH = Fraction(1, 500)  # by how much an attack must promise to beat those before it

Attacking = FiniteFamily | blanket.EndAttack


def any_randomiser_attack(epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """The better of two exact attacks, each on an ε0-LDP randomiser of its own (clone.py), rounded down."""
    binary = last_one_out(epsilon0, n, delta)
    if float(epsilon0) > math.log(n) + 5 or binary > epsilon0 * Fraction(999, 1000):
        return binary
    return max(binary, epsilon_refuted(RESPONSE, epsilon0, n, delta))


def laplace_attack(family: blanket.Family, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """The best of the attacks: on the extreme report; on others who hold an end, which is the better one unless ε0 is small; and
    on the side of the middle value on which each report lies, with others in the middle."""
    best = family.attack(epsilon0, n, delta)
    if float(epsilon0) > math.log(n) + 5 or best > epsilon0 * Fraction(999, 1000):
        return best
    ends, others = blanket.EndAttack(family.steps), list[Attacking]()
    if epsilon0 >= blanket.TINY and ends.is_quick(epsilon0, n):
        others.append(ends)
    if epsilon0 <= 1:
        others.append(sign_family(family.steps))
    hoped = [(estimated_epsilon(attack, float(epsilon0), n, log(delta)), attack) for attack in others]
    for hope, attack in sorted(hoped, key=lambda pair: -pair[0]):
        if hope > best * (1 + _WORTH):
            best = max(best, epsilon_refuted(attack, epsilon0, n, delta))
    return best


def response_attack(k: int, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """On k-ary randomised response: others hold a third value, or the second and nobody reports the first."""
    last = last_one_out(epsilon0, n, delta, k)
    if float(epsilon0) > math.log(n) + math.log(k) + 5 or last > epsilon0 * Fraction(999, 1000):
        return last
    return max(last, epsilon_refuted(blankets.response_attack(k), epsilon0, n, delta))


def unary_attack(family: FiniteFamily, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """On unary encodings of three categories: others hold the third."""
    return epsilon_refuted(family, epsilon0, n, delta)
