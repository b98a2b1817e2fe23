"""The least δ that provably holds at an ε for releases about one record: the other axis of ``least_epsilon``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from dpaudit.accountants.interface import Group
from dpaudit.accountants.losses.numerical import composed_delta
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.renyi import renyi_delta, zcdp_rho
from dpaudit.accountants.losses.stated_parts import LossPart
from dpaudit.accountants.sampling.mixtures import any_sampled
from dpaudit.channel.release_cost import zcdp_delta
from dpaudit.claims import InvalidValue, Number, exact_epsilon, shorten_up
from dpaudit.claims.balls import decimal

_ONE = Fraction(1)
_DIGITS = 15


def least_delta(groups: Iterable[Group], epsilon: Number, *, fixed: bool) -> Fraction:
    """δ(ε), rounded up, for the record that pays most. ``fixed`` as in ``account``: only then are losses composed."""
    level = exact_epsilon(epsilon)
    worst = max((_delta(_parts(group), level, fixed) for group in groups), default=Fraction(0))
    return min(_ONE, decimal(worst, _DIGITS, up=True))


def _parts(group: Group) -> tuple[AnyPart, ...]:
    """A shuffled batch counts as its reports do without a shuffler: its curve is asked for at a δ, not at an ε."""
    found = []
    for part, count in group.items():
        part = replace(part, count=part.count * count)
        if isinstance(part, Part):
            part = replace(part, shuffled=None)
            if not part.steps:
                continue
        found.append(part)
    return tuple(found)


def _delta(parts: tuple[AnyPart, ...], epsilon: Fraction, fixed: bool) -> Fraction:
    if not parts:
        return Fraction(0)
    return min((_ONE, *_bounds(parts, epsilon, fixed)))


def _bounds(parts: tuple[AnyPart, ...], epsilon: Fraction, fixed: bool) -> Iterator[Fraction]:
    total, failure = _sums(parts)
    if total is not None and total <= epsilon:
        yield failure
    with suppress(InvalidValue):  # a Rényi curve has no ρ
        rho, missed = zcdp_rho(parts)
        yield zcdp_delta(rho, epsilon) + missed
    if fixed or (len(parts) == 1 and (parts[0].count == 1 or any_sampled(parts))):  # its own curve, as an account takes it
        with suppress(InvalidValue, ArithmeticError):
            yield composed_delta(parts, epsilon)[1]
            return
        with suppress(InvalidValue, ArithmeticError):
            yield renyi_delta(parts, epsilon)


def _sums(parts: tuple[AnyPart, ...]) -> tuple[Fraction | None, Fraction]:
    """(Σε, Σδ) of what has an ε at its own δ; None where something has none."""
    total, failure = Fraction(0), Fraction(0)
    for part in parts:
        match part:
            case Known(epsilon, delta):
                one: Fraction | None = epsilon * part.count
                missed = delta * part.count
            case LossPart(_, infinite):
                one, missed = part.top * part.count, infinite * part.count
            case _:
                one, missed = part.pure(), Fraction(0)
        if one is None:
            return None, failure
        total, failure = shorten_up(total + one), shorten_up(failure + missed)
    return total, failure
