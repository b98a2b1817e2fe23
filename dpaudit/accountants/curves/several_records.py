"""What releases cost a group of records that change together, from what they cost one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accountants.interface import Group
from dpaudit.accountants.least_epsilon import least
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart
from dpaudit.claims import InvalidValue, show, whole
from dpaudit.claims.balls import ball, decimal, precision, upper
from dpaudit.noise import capped_steps

HOPS = "from record to record: (Kε, δ(e^{Kε} − 1)/(e^ε − 1)) (Dwork & Roth 2014, Thm 2.2, with δ)"
MOVES = "every release moved by K times its sensitivity"
_TURNS = 60
_BITS = 192
_DIGITS = 15


@dataclass(frozen=True)
class GroupCost:
    """(ε, δ) of any ``size`` records together."""

    size: int
    epsilon: Fraction
    delta: Fraction
    method: str

    def to_dict(self) -> dict[str, object]:
        return {"size": self.size, "epsilon": show(self.epsilon), "delta": show(self.delta), "method": self.method}


def group_cost(groups: Sequence[Group], everything: Group, size: object, delta: Fraction, *, fixed: bool) -> GroupCost:
    """What any ``size`` records cost together at δ: the better of two ways that hold.

    ``groups``: what touches each record; ``everything``: all releases, as records of one group may be touched by different
    ones. Raises ``InvalidValue`` where no finite ε is proven at δ.
    """
    records = whole(size, "group", most=10**6)
    found = []
    with suppress(InvalidValue, ArithmeticError):
        found.append(_hopped(groups, records, delta, fixed))
    scaled = [_moved(part, records) for part in everything]
    if None not in scaled:
        with suppress(InvalidValue, ArithmeticError):
            parts = Counter({part: count for part, count in zip(scaled, everything.values(), strict=True) if part is not None})
            bound = least([parts], delta, fixed=fixed)
            found.append(GroupCost(records, bound.epsilon, bound.delta, MOVES))
    found = [each for each in found if each.delta <= delta]
    if not found:
        raise InvalidValue("group", size, "smaller, or δ larger: no finite ε is proven for so many records")
    return min(found, key=lambda each: each.epsilon)


def _hopped(groups: Sequence[Group], size: int, delta: Fraction, fixed: bool) -> GroupCost:
    """δ' of one record such that K hops stay within δ: by iteration from above, as ε' only grows while δ' falls."""
    share = delta
    for _ in range(_TURNS):
        one = least(groups, share, fixed=fixed)
        spent = _grown(one.epsilon, one.delta, size)
        if spent <= delta:
            return GroupCost(size, size * one.epsilon, spent, HOPS)
        if not delta:
            break
        share = decimal(min(share, share * delta / spent) * Fraction(99, 100), 12, up=False)
    raise InvalidValue("delta", show(delta), "larger, for so many records")


def _grown(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    if not delta or size == 1:
        return delta
    with precision(_BITS):
        factor = ball(size) if not epsilon else ball(size * epsilon).expm1() / ball(epsilon).expm1()
        return decimal(upper(factor * ball(delta)), _DIGITS, up=True)


def _moved(part: AnyPart, size: int) -> AnyPart | None:
    """One part for so many records; None where nothing is proven but hops."""
    match part:
        case Part() if part.shuffled is None and part.sampling is None:
            return replace(part, steps=capped_steps(part.noise, part.steps * size, part.coordinates))
        case Known(epsilon, delta):
            return Known(size * epsilon, min(_grown(epsilon, delta, size), 1 - Fraction(1, 2**64)), part.count)
        case LossPart():
            return _moved(Known(part.top, part.infinite, part.count), size)
        case Concentrated(rho):  # Bun & Steinke 2016, Prop. 1.9
            return Concentrated(size**2 * rho, part.count)
        case _:
            return None
