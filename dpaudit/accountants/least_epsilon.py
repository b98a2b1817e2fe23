"""The least ε that provably holds at δ for releases about one record: sums of ε, sums of ρ, or the exact composition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.renyi import renyi_epsilon, zcdp_rho
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel.release_cost import cost, gaussian_epsilon, rho
from dpaudit.claims import InvalidValue, shorten_up, sum_up
from dpaudit.ledger.spending.zcdp_sums import zcdp_epsilon

NUMERICAL, RDP, ZCDP = "certified numerical composition", "Rényi divergences", "zCDP sums"
PARALLEL = " per record, parallel over disjoint cohorts"
_WORTH = Fraction(999, 1000)
_TRIED = 64  # groups that are composed numerically, the costliest first

Group = Counter[AnyPart]


@dataclass(frozen=True)
class Least:
    """(ε, δ) and the method that reached it."""

    epsilon: Fraction
    delta: Fraction
    method: str
    group: Group = field(default_factory=Counter)  # of the records that pay most


def least(groups: Iterable[Group], delta: Fraction, *, fixed: bool, limit: Fraction | None = None) -> Least:
    """The bound that holds for every record: the largest of the groups' least ones, and the largest δ.

    ``fixed``: parameters were fixed in advance. Only then may laws of losses or Rényi divergences be composed.
    ``limit``: an ε that is asked for; a plain sum, preferred where little is gained by more, is not preferred above it.
    Raises ``InvalidValue`` where no finite ε exists at δ.
    """
    sums = sorted(((_sum(_key(group), delta), group) for group in groups), key=lambda pair: pair[0].epsilon, reverse=True)
    worst, spent = Least(Fraction(0), Fraction(0), ""), Fraction(0)
    for place, (bound, group) in enumerate(sums):
        if bound.epsilon > worst.epsilon:  # else this record pays less whatever the method
            bound = replace(_least(_key(group), delta, fixed and place < _TRIED, limit), group=group)
        spent = max(spent, bound.delta)
        worst = max(worst, bound, key=lambda each: each.epsilon)
    return Least(worst.epsilon, spent, worst.method + PARALLEL if worst.method else "nothing released", worst.group)


def _least(parts: tuple[AnyPart, ...], delta: Fraction, fixed: bool, limit: Fraction | None) -> Least:
    """The least of the bounds; a pure one, with δ = 0, also where the others are less than a thousandth below it."""
    plain = _sum(parts, delta)
    others = (_zcdp(parts, delta), _fixed(parts, delta) if fixed else None) if delta else ()
    best = min((plain, *filter(None, others)), key=lambda each: each.epsilon)
    little = best.epsilon > plain.epsilon * _WORTH and (limit is None or plain.epsilon <= limit or best.epsilon > limit)
    return plain if not plain.delta and little else best


def _key(group: Group) -> tuple[AnyPart, ...]:
    return tuple(_times(part, count) for part, count in group.items() if not isinstance(part, Part) or part.steps)


def _times(part: AnyPart, count: int) -> AnyPart:
    if isinstance(part, Known):
        return Known(part.epsilon, part.delta, part.count * count)
    return Part(part.noise, part.steps, part.count * count, part.coordinates, part.shuffled)


@lru_cache(maxsize=1024)
def _sum(parts: tuple[AnyPart, ...], delta: Fraction) -> Least:
    """Σ of pure and amplified costs, plus the Gaussian part; batches and the Gaussian part share the δ."""
    epsilon = spent = Fraction(0)
    gaussians = [part for part in parts if isinstance(part, Part) and part.noise.epsilon(part.steps) is None]
    batches = sum(part.count for part in parts if isinstance(part, Part) and part.shuffled is not None)
    known = sum_up(part.count * part.delta for part in parts if isinstance(part, Known))
    share = max(delta - known, Fraction(0)) / max(batches + bool(gaussians), 1)
    one: Fraction | None
    for part in parts:
        if isinstance(part, Known):
            one, failure = part.epsilon, part.delta
        elif part.noise.epsilon(part.steps) is None:
            continue  # one of the Gaussians
        else:
            one, failure = cost(part.noise, part.steps, share, shuffled=part.shuffled, amplify=amplified)
        epsilon, spent = shorten_up(epsilon + part.count * (one or 0)), shorten_up(spent + part.count * failure)
    if gaussians:
        left = delta - spent
        if left <= 0:
            raise InvalidValue("delta", delta, "greater than 0: Gaussian noise has no finite ε at δ = 0")
        epsilon, spent = epsilon + _gaussian(gaussians, left), delta
    methods = [
        "pure sums" if len(gaussians) < len(parts) else "",
        "shuffle amplification" if batches else "",
        ZCDP if gaussians else "",
    ]
    return Least(epsilon, spent, "; ".join(filter(None, methods)))


def _gaussian(parts: list[Part], delta: Fraction) -> Fraction:
    if len(parts) == 1 and parts[0].count == 1:
        return gaussian_epsilon(parts[0].noise, parts[0].steps, delta, parts[0].coordinates)
    return zcdp_epsilon(sum_up(part.count * rho(part.noise, part.steps) for part in parts), delta)


def _zcdp(parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
    """Everything by its ρ; of shuffled batches, the amplified ε at their share of half the δ, or the pure one."""
    batches = sum(part.count for part in parts if isinstance(part, Part) and part.shuffled is not None)
    readable: list[AnyPart] = []
    for part in parts:
        if isinstance(part, Part) and part.shuffled is not None:
            one, failure = cost(part.noise, part.steps, delta / (2 * batches), shuffled=part.shuffled, amplify=amplified)
            readable.append(Known(one or Fraction(0), failure, part.count))
        else:
            readable.append(part)
    total, missed = zcdp_rho(readable)
    return Least(zcdp_epsilon(total, delta - missed), delta, ZCDP) if total and missed < delta else None


@lru_cache(maxsize=1024)
def _fixed(parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
    """The exact composition; where a law is not known, Rényi divergences; where those are not finite, nothing."""
    for rule, method in ((compose, NUMERICAL), (renyi_epsilon, RDP)):
        try:
            return Least(rule(parts, delta).upper, delta, method)
        except InvalidValue:
            continue
    return None
