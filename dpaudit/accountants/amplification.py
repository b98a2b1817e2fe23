"""Privacy amplification by shuffling: the public functions, one entry per method.

``closed`` is the paper's f (closed.py), ``clone`` the exact clone bound (clone.py), ``laplace`` the exact privacy
blanket of lattice Laplace (blanket.py). ``laplace`` reads ε0 as range/scale.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accountants import closed
from dpaudit.accountants.closed import failure_probability, privacy_parameter, significant_digits
from dpaudit.accountants.extreme import Attack, extreme_report_attack
from dpaudit.claims import Enclosure, InvalidValue, Number, whole

__all__ = ["METHODS", "Attack", "amplify", "epsilon0_rule", "extreme_report_attack", "invert"]

METHODS = ("closed", "clone", "laplace")


def amplify(epsilon0: Number, n: object, delta: Number, method: str = "clone", digits: int = 50) -> Enclosure:
    """Enclose the ε of n shuffled reports of an ε0-LDP randomiser at δ.

    ``closed`` is f(ε0), also out of its theorem's domain: ``in_domain`` says so. Raises ``InvalidValue``.
    """
    local, clients, failure = (
        privacy_parameter(epsilon0, "epsilon0"),
        whole(n, "n"),
        failure_probability(delta),
    )
    digits = significant_digits(digits)
    if method == "closed":
        low, high = closed.f(local, clients, failure, digits)
        return Enclosure(low, high, closed.in_domain(local, clients, failure), method)
    raise InvalidValue("method", method, "one of " + ", ".join(METHODS))


def invert(epsilon: Number, n: object, delta: Number, method: str = "closed", digits: int = 50) -> Enclosure:
    """Enclose the largest ε0 whose n shuffled reports meet (ε, δ). Raises ``InvalidValue``."""
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        whole(n, "n"),
        failure_probability(delta),
    )
    digits = significant_digits(digits)
    if method == "closed":
        low, high = closed.inverse(target, clients, failure, digits)
        return Enclosure(low, high, closed.in_domain(high, clients, failure), method)
    raise InvalidValue("method", method, "one of " + ", ".join(METHODS))


def epsilon0_rule(epsilon: Number, n: object, delta: Number, method: str = "closed") -> Fraction:
    """The local ε0 to deploy for a shuffled claim (ε, δ): a short fraction, rounded down, that is proven valid.

    closed: ε0 = max{ε, min(f^{-1}(ε), log(n/(16 log(2/δ))))}; ε itself needs no amplification. Raises
    ``InvalidValue``.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        whole(n, "n"),
        failure_probability(delta),
    )
    if method != "closed":
        raise InvalidValue("method", method, "one of " + ", ".join(METHODS))
    limit = closed.domain(clients, failure)
    if limit is None:
        return target
    candidate = _shorten(min(closed.inverse(target, clients, failure)[0], limit[0]))
    return max(target, candidate)


def _shorten(value: Fraction) -> Fraction:
    """The largest multiple of 2^-40 (finer below 1) that is not above a positive ``value``."""
    places = 40 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    return Fraction(math.floor(value * 2**places), 2**places)
