"""Privacy amplification by shuffling: the public functions, one entry per method.

``closed`` is the paper's f (closed_form.py). ``clone``, the exact clone bound, holds for any ε0-LDP randomisers, also where one
depends on earlier reports. ``same`` holds where all reports come from one randomiser, not adaptively (clone.py). The others are
privacy blankets of one mechanism: ``laplace`` reads ε0 as range/scale of lattice Laplace; ``krr``, ``unary`` and ``oue`` are
blankets of finite randomisers (blankets.py), ``channel`` of any that is written as a matrix (finite_channel.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.shuffle import blankets
from dpaudit.accountants.shuffle import closed_form as closed
from dpaudit.accountants.shuffle.attacks import any_randomiser_attack, laplace_attack, response_attack, unary_attack
from dpaudit.accountants.shuffle.clone import CLONE, SAME, last_one_out
from dpaudit.accountants.shuffle.closed_form import failure_probability, number_of_reports, privacy_parameter, significant_digits
from dpaudit.accountants.shuffle.finite_channel import FiniteChannel, read_channel
from dpaudit.accountants.shuffle.finite_family import FiniteFamily
from dpaudit.accountants.shuffle.inversion import epsilon_refuted, largest_epsilon0, least_epsilon, shorten
from dpaudit.accountants.shuffle.laplace import blanket
from dpaudit.accountants.shuffle.laplace.blanket import GRID_STEPS
from dpaudit.claims import Contradiction, Enclosure, InvalidValue, Number, whole
from dpaudit.noise.extreme_report import ExtremeAttack, extreme_report_attack
from dpaudit.noise.kary_response import MOST_CATEGORIES

__all__ = ["METHODS", "ExtremeAttack", "amplify", "epsilon0_rule", "extreme_report_attack", "invert"]

METHODS = ("closed", "clone", "laplace", "same", "krr", "unary", "oue", "channel")

Family = FiniteFamily | blanket.Family
Attack = Callable[[Fraction, int, Fraction], Fraction]


@dataclass(frozen=True)
class Theorem:
    """A method: its curve δ(ε), a proven attack, a quick one, and a weaker theorem that holds wherever it does.

    The weaker one is never better in truth, but its enclosure may be."""

    name: str
    family: Family
    attack: Attack
    quick_attack: Attack
    weaker: Theorem | None = None


def amplify(
    epsilon0: Number | None,
    n: object,
    delta: Number,
    method: str = "clone",
    k: object = None,
    *,
    digits: int = 50,
    channel: object = None,
    steps: object = GRID_STEPS,
    attack: bool = True,
) -> Enclosure:
    """Enclose the ε of n shuffled reports of an ε0-LDP randomiser at δ.

    ``closed`` is f(ε0) to ``digits`` digits, also out of its theorem's domain: ``in_domain`` says so. The others are the least ε
    that meets δ, at most ε0. ``same``: all reports come from one randomiser and none depends on another. ``krr``: randomised
    response on ``k`` categories. ``laplace``: ``steps`` is range/grid of the lattice. ``channel``: the matrix ``channel``, or
    a JSON file that holds one, has an ε0 of its own; ``epsilon0`` is None or at least that. The field ``method`` names the
    theorem behind the upper end; ``attack`` is a proven lower bound for the same randomiser (``closed``, ``clone``, ``same``:
    for the worst known ε0-LDP one), or None if it is not asked for. Raises ``InvalidValue``.
    """
    clients, failure = number_of_reports(n), failure_probability(delta)
    if (channel is not None) != (method == "channel"):
        raise InvalidValue(
            "channel", "nothing" if channel is None else "given", "the matrix of --method channel, and of no other"
        )
    if method == "channel":
        return _amplify_channel(read_channel(channel), epsilon0, clients, failure, attack=attack)
    if epsilon0 is None:
        raise InvalidValue("epsilon0", None, "given: only a channel has an ε0 of its own")
    local = privacy_parameter(epsilon0, "epsilon0")
    if method == "closed":
        no_categories(method, k)
        low, high = closed.f(local, clients, failure, significant_digits(digits))
        witness = any_randomiser_attack(local, clients, failure) if attack else None
        return Enclosure(low, high, closed.in_domain(local, clients, failure), method, witness)
    return _amplified(theorem(method, steps, k), local, clients, failure, attack=attack)


def _amplified(rule: Theorem, epsilon0: Fraction, n: int, delta: Fraction, *, attack: bool) -> Enclosure:
    low, high = least_epsilon(rule.family, epsilon0, n, delta)
    name, weaker = rule.name, rule.weaker
    while weaker is not None and high > 0:
        if epsilon0 < blanket.TINY or _also_meets(weaker, epsilon0, n, high, delta):
            other = least_epsilon(weaker.family, epsilon0, n, delta)[1]
            name, high = (weaker.name, other) if other < high else (name, high)
        weaker = weaker.weaker
    witness = rule.attack(epsilon0, n, delta) if attack else None
    if witness is not None and witness > high:
        raise Contradiction(high, float(witness))
    return Enclosure(min(max(low, witness or low), high), high, True, name, witness)


def _amplify_channel(channel: FiniteChannel, epsilon0: Number | None, n: int, delta: Fraction, *, attack: bool) -> Enclosure:
    """A matrix whose rows were rounded stands for every channel whose entries differ by a factor of 1 ± 2·rounding at most: in n
    reports that is e^{±s}, s = 2n·rounding, and moves ε by 2s and δ by e^s."""
    least, local = channel.epsilon0
    if epsilon0 is not None and privacy_parameter(epsilon0, "epsilon0") < least:
        raise InvalidValue("epsilon0", epsilon0, f"at least that of the channel, {float(local):.6g}")
    if not local:
        return Enclosure(Fraction(0), Fraction(0), True, "channel", Fraction(0) if attack else None)
    slack = 2 * n * channel.rounding
    if slack > Fraction(1, 4):
        raise InvalidValue("channel", "rounded probabilities", "written exactly (as fractions) for so many reports")
    attacking = channel.attack()

    def refuted(epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
        return max(Fraction(0), epsilon_refuted(attacking, epsilon0, n, delta))

    rule = Theorem("channel", channel.blanket(), refuted, refuted, theorem("same"))
    found = _amplified(rule, local, n, delta * (1 - slack), attack=attack and not slack)
    if not slack:
        return found
    other = _amplified(rule, local, n, delta * (1 + 2 * slack), attack=attack)
    low, witness = (None if x is None else max(Fraction(0), x - 2 * slack) for x in (other.lower, other.attack))
    return Enclosure(low or Fraction(0), min(found.upper + 2 * slack, local + 2 * channel.rounding), True, found.method, witness)


def invert(
    epsilon: Number,
    n: object,
    delta: Number,
    method: str = "closed",
    digits: int = 50,
    *,
    k: object = None,
    steps: object = GRID_STEPS,
    attack: bool = False,
) -> Enclosure:
    """Enclose the largest ε0 whose n shuffled reports meet (ε, δ); for every method but ``closed`` at least ε.

    ``closed`` is f^{-1}(ε) to ``digits`` digits, also out of its theorem's domain. ``attack``: the field of that name is then a
    proven lower bound on the ε of reports at the lower end; above ``epsilon`` it refutes that end. Raises ``InvalidValue``.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        number_of_reports(n),
        failure_probability(delta),
    )
    if method == "closed":
        no_categories(method, k)
        low, high = closed.inverse(target, clients, failure, significant_digits(digits))
        witness = any_randomiser_attack(shorten(low), clients, failure) if attack and low > 0 else None
        return Enclosure(low, high, closed.in_domain(high, clients, failure), method, witness)
    rule = theorem(method, steps, k)
    low, high = _largest_epsilon0(rule, target, clients, failure)
    return Enclosure(low, high, True, method, rule.attack(low, clients, failure) if attack else None)


def epsilon0_rule(
    epsilon: Number, n: object, delta: Number, method: str = "closed", *, steps: object = GRID_STEPS, k: object = None
) -> Fraction:
    """The local ε0 to deploy for a shuffled claim (ε, δ): a short fraction, rounded down and proven valid.

    closed: ε0 = max{ε, min(f^{-1}(ε), log(n/(16 log(2/δ))))}, the second entry only if n > 16 log(2/δ); ε
    itself needs no amplification. Others: the lower end of ``invert``. Raises ``InvalidValue``.
    """
    target, clients, failure = (
        privacy_parameter(epsilon, "epsilon"),
        number_of_reports(n),
        failure_probability(delta),
    )
    if method != "closed":
        return _largest_epsilon0(theorem(method, steps, k), target, clients, failure)[0]
    limit = closed.domain(clients, failure)
    if limit is None:
        return target
    return max(target, shorten(min(closed.inverse(target, clients, failure)[0], limit[0])))


def theorem(method: str, steps: object = GRID_STEPS, k: object = None) -> Theorem:
    """The theorem of that name. Raises ``InvalidValue``: also for ``closed`` and ``channel``, which are no curve in ε0."""
    if method == "krr":
        if k is None:
            raise InvalidValue("k", k, "given for method krr: the number of categories")
        categories = whole(k, "k", least=2, most=MOST_CATEGORIES)
        attack, family = partial(response_attack, categories), blankets.response_blanket(categories)
        return Theorem(method, family, attack, attack, theorem("same"))
    no_categories(method, k)
    clones = Theorem("clone", CLONE, any_randomiser_attack, last_one_out)
    same = Theorem("same", SAME, any_randomiser_attack, last_one_out, clones)
    if method == "laplace":
        lattice = blanket.Family(whole(steps, "steps"))
        return Theorem(method, lattice, partial(laplace_attack, lattice), lattice.attack, same)
    if method in ("unary", "oue"):
        family, other = (
            (blankets.UNARY, blankets.UNARY_ATTACK) if method == "unary" else (blankets.OPTIMISED, blankets.OPTIMISED_ATTACK)
        )
        attack = partial(unary_attack, other)
        return Theorem(method, family, attack, attack, same)
    if method == "channel":
        raise InvalidValue("method", method, "another: a channel has an ε0 of its own, which amplify reads from it")
    found = {"clone": clones, "same": same}.get(method)
    if found is None:
        raise InvalidValue("method", method, "one of " + ", ".join(METHODS))
    return found


def no_categories(method: str, k: object) -> None:
    if k is not None:
        raise InvalidValue("k", k, f"left out: the number of categories is for method krr, not {method}")


def _largest_epsilon0(rule: Theorem, epsilon: Fraction, n: int, delta: Fraction) -> tuple[Fraction, Fraction]:
    """A blanket is never worse than weaker theorems, but its enclosure may be."""
    low, high = largest_epsilon0(rule.family, epsilon, n, delta, rule.quick_attack)
    weaker = rule.weaker
    while weaker is not None:
        if _also_meets(weaker, low, n, epsilon, delta):
            low = max(low, largest_epsilon0(weaker.family, epsilon, n, delta, weaker.quick_attack)[0])
        weaker = weaker.weaker
    if low > high:
        raise Contradiction(high, float(low))
    return low, high


def _also_meets(rule: Theorem, epsilon0: Fraction, n: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Does this theorem meet δ there too, or all but? Then it may give the better end."""
    return rule.family.estimate(float(epsilon0), n, float(epsilon)) < log(delta) * (1 - 1e-4) + 1e-4
