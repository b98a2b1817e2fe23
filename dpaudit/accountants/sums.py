"""The accountants that add up: ε of pure and amplified costs, or ρ. Both hold also where noise was chosen on the way."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.interface import Least
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.renyi import zcdp_rho
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel.release_cost import cost, gaussian_epsilon, rho
from dpaudit.claims import InvalidValue, shorten_up, sum_up
from dpaudit.ledger.spending.zcdp_sums import zcdp_epsilon

ZCDP, SAMPLED = "zCDP sums", "certified composition on Poisson samples"


@dataclass(frozen=True)
class EpsilonSums:
    """Σε (Dwork & Roth 2014, Thm 3.16); what has no pure cost by Σρ, or by its own δ(ε) where it is alone."""

    name: str = "pure sums"
    fixed: bool = False

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least:
        """Raises ``InvalidValue`` where no finite ε exists at δ: then no other accountant has one either."""
        return _epsilon_sum(parts, delta)


@dataclass(frozen=True)
class RhoSums:
    """Σρ, converted once (Bun & Steinke 2016, Lemma 1.7)."""

    name: str = ZCDP
    fixed: bool = False

    def bound(self, parts: tuple[AnyPart, ...], delta: Fraction) -> Least | None:
        """Of shuffled batches, the amplified ε at their share of half the δ, or the pure one, as its ρ."""
        if not delta:
            return None
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
def _epsilon_sum(parts: tuple[AnyPart, ...], delta: Fraction) -> Least:
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
            one, failure = _one(part, share)
        epsilon, spent = shorten_up(epsilon + part.count * (one or 0)), shorten_up(spent + part.count * failure)
    if gaussians:
        left = delta - spent
        if left <= 0:
            words = gaussians[0].noise.words
            raise InvalidValue("delta", delta, f"greater than 0: {words} has no finite ε at δ = 0")
        epsilon, spent = epsilon + _without_pure_cost(gaussians, left), delta
    methods = [
        "pure sums" if len(gaussians) < len(parts) else "",
        "shuffle amplification" if batches else "",
        ZCDP if any(part.sampling is None for part in gaussians) else "",
        SAMPLED if any(part.sampling is not None for part in gaussians) else "",
    ]
    return Least(epsilon, spent, "; ".join(filter(None, methods)))


def _one(part: Part, share: Fraction) -> tuple[Fraction | None, Fraction]:
    if part.sampling is not None:
        return part.pure_one(), Fraction(0)
    return cost(part.noise, part.steps, share, shuffled=part.shuffled, amplify=amplified)


def _without_pure_cost(parts: list[Part], delta: Fraction) -> Fraction:
    """One entry's own curve, or Σρ where sampling counts for nothing.

    Of several entries on samples, whose parameters may have been chosen on the way, also Σε of their own curves at equal
    shares of δ: sums of (ε, δ) hold for parameters that depend on what was released (Rogers et al. 2016).
    """
    if len(parts) == 1 and parts[0].count == 1 and parts[0].sampling is None:
        return gaussian_epsilon(parts[0].noise, parts[0].steps, delta, parts[0].coordinates)
    if len(parts) == 1 and parts[0].entries == 1 and parts[0].sampling is None:
        with suppress(InvalidValue, ArithmeticError):  # a stream's sums, all charged when it is opened
            return _one_entry(parts[0], delta)
    summed = zcdp_epsilon(sum_up(part.count * rho(part.noise, part.steps) for part in parts), delta)
    sampled, rest = [part for part in parts if part.sampling is not None], [part for part in parts if part.sampling is None]
    if not sampled:
        return summed
    share = delta / (sum(part.entries for part in sampled) + bool(rest))
    with suppress(InvalidValue, ArithmeticError):
        own = sum_up(part.entries * _one_entry(part, share) for part in sampled)
        own += _without_pure_cost(rest, share) if rest else 0
        return min(own, summed)
    return summed


@lru_cache(maxsize=1024)
def _one_entry(part: Part, delta: Fraction) -> Fraction:
    """ε at δ of one of its entries, whose releases have constant parameters."""
    return compose([replace(part, count=part.count // part.entries, entries=1)], delta).upper
