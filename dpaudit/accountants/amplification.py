"""Privacy amplification by shuffling: the public functions, one entry per method.

``closed`` is the paper's f (closed.py), ``clone`` the exact clone bound for any ε0-LDP randomiser (clone.py),
and ``laplace`` the exact privacy blanket of lattice Laplace (blanket.py), which reads ε0 as range/scale.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from dpaudit.accountants import blanket, closed
from dpaudit.accountants.blanket import GRID_STEPS
from dpaudit.accountants.clone import CLONE, RESPONSE
from dpaudit.accountants.closed import failure_probability, number_of_reports, privacy_parameter, significant_digits
from dpaudit.accountants.search import crossing, float_root, log
from dpaudit.balls import decimal
from dpaudit.claims import Enclosure, InvalidValue, Number, whole
from dpaudit.noise.extreme import Attack, extreme_report_attack

__all__ = ["METHODS", "Attack", "amplify", "epsilon0_rule", "extreme_report_attack", "invert"]

METHODS = ("closed", "clone", "laplace")


class Family(Protocol):
    """A shuffle bound: δ(ε) for every ε0, certified and estimated, and an attack on what it bounds."""

    def delta(self, epsilon0: Fraction, n: int, epsilon: Fraction, effort: Fraction) -> tuple[Fraction, Fraction]: ...

    def estimate(self, epsilon0: float, n: int, epsilon: float) -> float: ...

    def attack(self, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction: ...


def amplify(
    epsilon0: Number,
    n: object,
    delta: Number,
    method: str = "clone",
    digits: int = 50,
    *,
    steps: object = GRID_STEPS,
    attack: bool = True,
) -> Enclosure:
    """Enclose the ε of n shuffled reports of an ε0-LDP randomiser at δ.

    ``closed`` is f(ε0) to ``digits`` digits, also out of its theorem's domain: ``in_domain`` says so.
    ``clone`` and ``laplace`` are the least ε that meets δ, at most ε0; ``steps`` is range/grid of the Laplace
    lattice. The field ``attack`` is a proven lower bound for the same randomiser (``closed``, ``clone``: for
    the worst known ε0-LDP one), or None if it is not asked for. Raises ``InvalidValue``.
    """
    local, clients, failure = (
        privacy_parameter(epsilon0, "epsilon0"),
        number_of_reports(n),
        failure_probability(delta),
    )
    if method == "closed":
        low, high = closed.f(local, clients, failure, significant_digits(digits))
        witness = _any_randomiser_attack(local, clients, failure) if attack else None
        return Enclosure(low, high, closed.in_domain(local, clients, failure), method, witness)
    family = _family(method, steps)
    low, high = least_epsilon(family, local, clients, failure)
    if isinstance(family, blanket.Family):
        high = min(high, least_epsilon(CLONE, local, clients, failure)[1]) if high - low > low / 1000 else high
        witness = _laplace_attack(family, local, clients, failure) if attack else None
    else:
        witness = _any_randomiser_attack(local, clients, failure) if attack else None
    return Enclosure(min(max(low, witness or low), high), high, True, method, witness)


def invert(
    epsilon: Number,
    n: object,
    delta: Number,
    method: str = "closed",
    digits: int = 50,
    *,
    steps: object = GRID_STEPS,
) -> Enclosure:
    """Enclose the largest ε0 whose n shuffled reports meet (ε, δ); for ``clone`` and ``laplace`` at least ε.

    ``closed`` is f^{-1}(ε) to ``digits`` digits, also out of its theorem's domain. Raises ``InvalidValue``.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        number_of_reports(n),
        failure_probability(delta),
    )
    if method == "closed":
        low, high = closed.inverse(target, clients, failure, significant_digits(digits))
        return Enclosure(low, high, closed.in_domain(high, clients, failure), method)
    low, high = largest_epsilon0(_family(method, steps), target, clients, failure)
    return Enclosure(low, high, True, method)


def epsilon0_rule(epsilon: Number, n: object, delta: Number, method: str = "closed", *, steps: object = GRID_STEPS) -> Fraction:
    """The local ε0 to deploy for a shuffled claim (ε, δ): a short fraction, rounded down and proven valid.

    closed: ε0 = max{ε, min(f^{-1}(ε), log(n/(16 log(2/δ))))}, the second entry only if n > 16 log(2/δ); ε
    itself needs no amplification. clone, laplace: the lower end of ``invert``. Raises ``InvalidValue``.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        number_of_reports(n),
        failure_probability(delta),
    )
    if method != "closed":
        family = _family(method, steps)
        best = _shorten(largest_epsilon0(family, target, clients, failure)[0])
        return best if best > target and family.delta(best, clients, target, failure)[1] <= failure else target
    limit = closed.domain(clients, failure)
    if limit is None:
        return target
    return max(target, _shorten(min(closed.inverse(target, clients, failure)[0], limit[0])))


def _family(method: str, steps: object) -> Family:
    if method == "clone":
        return CLONE
    if method == "laplace":
        return blanket.Family(whole(steps, "steps"))
    raise InvalidValue("method", method, "one of " + ", ".join(METHODS))


def least_epsilon(family: Family, epsilon0: Fraction, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the least ε with δ(ε) ≤ δ: proven to meet δ at upper, and not to meet it at lower."""
    local = float(epsilon0)
    least, most = local * 1e-6 / math.sqrt(n), local * (1 - 1e-3)
    small = family.estimate(local, n, least) < log(delta) + 0.1  # then perhaps ε = 0 is enough
    if small and family.delta(epsilon0, n, Fraction(0), delta)[1] <= delta:
        return Fraction(0), Fraction(0)
    start = float_root(lambda x: family.estimate(local, n, x), log(delta), least, most)
    found = crossing(lambda x: family.delta(epsilon0, n, x, delta), delta, epsilon0, Fraction(0), Fraction(start))
    return decimal(found.unsafe, 15, up=False), min(epsilon0, decimal(found.safe, 15, up=True))


def largest_epsilon0(family: Family, epsilon: Fraction, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around the largest ε0 with δ(ε) ≤ δ: proven to meet δ at lower, and not to meet it at upper."""
    claim, beyond = float(epsilon), epsilon + 1
    while family.attack(beyond, n, delta) <= epsilon and family.delta(beyond, n, epsilon, delta)[0] <= delta:
        beyond += beyond - epsilon
    span = float(beyond - epsilon)
    start = float_root(lambda x: family.estimate(claim + x, n, claim), log(delta), span * 1e-9, span)
    found = crossing(lambda x: family.delta(x, n, epsilon, delta), delta, epsilon, beyond, epsilon + Fraction(start))
    return found.safe, found.unsafe


def _any_randomiser_attack(epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """The better of two exact attacks, each on an ε0-LDP randomiser of its own (clone.py), rounded down."""
    binary = CLONE.attack(epsilon0, n, delta)
    if float(epsilon0) > math.log(n) + 5 or binary > epsilon0 * Fraction(999, 1000):
        return binary
    return max(binary, least_epsilon(RESPONSE, epsilon0, n, delta)[0])


def _laplace_attack(family: blanket.Family, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """The extreme report where few reports hide the target; else all others at the middle value, if there is one."""
    extreme = family.attack(epsilon0, n, delta)
    if family.steps % 2 or family.counted(epsilon0, n) < math.log(500):
        return extreme
    middle = blanket.Family(family.steps, everyone=True)
    return max(extreme, least_epsilon(middle, epsilon0, n, delta)[0])


def _shorten(value: Fraction) -> Fraction:
    """The largest multiple of 2^-40 (finer below 1) that is not above a positive ``value``."""
    places = 40 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    return Fraction(math.floor(value * 2**places), 2**places)
