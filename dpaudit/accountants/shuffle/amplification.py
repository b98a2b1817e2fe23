"""Privacy amplification by shuffling: the public functions, one entry per method.

``closed`` is the paper's f (closed.py), ``clone`` the exact clone bound for any ε0-LDP randomiser (clone.py),
and ``laplace`` the exact privacy blanket of lattice Laplace (blanket.py), which reads ε0 as range/scale.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpaudit.accountants.numerics.search import log
from dpaudit.accountants.shuffle import clone
from dpaudit.accountants.shuffle import closed_form as closed
from dpaudit.accountants.shuffle.clone import CLONE, RESPONSE, sign_family
from dpaudit.accountants.shuffle.closed_form import failure_probability, number_of_reports, privacy_parameter, significant_digits
from dpaudit.accountants.shuffle.inversion import epsilon_refuted, estimated_epsilon, largest_epsilon0, least_epsilon, shorten
from dpaudit.accountants.shuffle.laplace import blanket
from dpaudit.accountants.shuffle.laplace.blanket import GRID_STEPS
from dpaudit.claims import Contradiction, Enclosure, InvalidValue, Number, whole
from dpaudit.noise.extreme_report import ExtremeAttack, extreme_report_attack

__all__ = ["METHODS", "ExtremeAttack", "amplify", "epsilon0_rule", "extreme_report_attack", "invert"]

_WORTH = Fraction(1, 500)  # by how much an attack must promise to beat those before it
METHODS = ("closed", "clone", "laplace")

Bound = clone.CloneFamily | blanket.Family
Attacking = clone.CloneFamily | blanket.EndAttack


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
    if family is not CLONE and high > 0 and (local < blanket.TINY or _clones_meet(local, clients, high, failure)):
        high = min(high, least_epsilon(CLONE, local, clients, failure)[1])
    witness = _attacked(family, local, clients, failure) if attack else None
    if witness is not None and witness > high:
        raise Contradiction(high, float(witness))
    return Enclosure(min(max(low, witness or low), high), high, True, method, witness)


def invert(
    epsilon: Number,
    n: object,
    delta: Number,
    method: str = "closed",
    digits: int = 50,
    *,
    steps: object = GRID_STEPS,
    attack: bool = False,
) -> Enclosure:
    """Enclose the largest ε0 whose n shuffled reports meet (ε, δ); for ``clone`` and ``laplace`` at least ε.

    ``closed`` is f^{-1}(ε) to ``digits`` digits, also out of its theorem's domain. ``attack``: the field of that name is then a
    proven lower bound on the ε of reports at the lower end; above ``epsilon`` it refutes that end. Raises ``InvalidValue``.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        number_of_reports(n),
        failure_probability(delta),
    )
    if method == "closed":
        low, high = closed.inverse(target, clients, failure, significant_digits(digits))
        witness = _any_randomiser_attack(shorten(low), clients, failure) if attack and low > 0 else None
        return Enclosure(low, high, closed.in_domain(high, clients, failure), method, witness)
    family = _family(method, steps)
    low, high = _largest_epsilon0(family, target, clients, failure)
    return Enclosure(low, high, True, method, _attacked(family, low, clients, failure) if attack else None)


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
        return _largest_epsilon0(_family(method, steps), target, clients, failure)[0]
    limit = closed.domain(clients, failure)
    if limit is None:
        return target
    return max(target, shorten(min(closed.inverse(target, clients, failure)[0], limit[0])))


def _family(method: str, steps: object) -> Bound:
    if method == "clone":
        return CLONE
    if method == "laplace":
        return blanket.Family(whole(steps, "steps"))
    raise InvalidValue("method", method, "one of " + ", ".join(METHODS))


def _largest_epsilon0(family: Bound, epsilon: Fraction, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """The blanket is never worse than the clones, but its enclosure may be."""
    low, high = largest_epsilon0(family, epsilon, n, delta, family.attack)
    if family is not CLONE and _clones_meet(low, n, epsilon, delta):
        low = max(low, largest_epsilon0(CLONE, epsilon, n, delta, CLONE.attack)[0])
    if low > high:
        raise Contradiction(high, float(low))
    return low, high


def _clones_meet(epsilon0: Fraction, n: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Do the clones also meet δ there, or all but? Then they may give the better end."""
    return CLONE.estimate(float(epsilon0), n, float(epsilon)) < log(delta) * (1 - 1e-4) + 1e-4


def _attacked(family: Bound, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    if isinstance(family, blanket.Family):
        return _laplace_attack(family, epsilon0, n, delta)
    return _any_randomiser_attack(epsilon0, n, delta)


def _any_randomiser_attack(epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """The better of two exact attacks, each on an ε0-LDP randomiser of its own (clone.py), rounded down."""
    binary = CLONE.attack(epsilon0, n, delta)
    if float(epsilon0) > math.log(n) + 5 or binary > epsilon0 * Fraction(999, 1000):
        return binary
    return max(binary, epsilon_refuted(RESPONSE, epsilon0, n, delta))


def _laplace_attack(family: blanket.Family, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
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
