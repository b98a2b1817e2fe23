"""The accountants that add up: ε of pure and amplified costs, or ρ. Both hold also where noise was chosen on the way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.interface import Least
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.renyi import renyi_epsilon, zcdp_rho
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel.release_cost import cost, gaussian_epsilon
from dpaudit.claims import InvalidValue, shorten_up, show, sum_up
from dpaudit.ledger.spending.zcdp_sums import zcdp_epsilon

OWN = "the certified curve of its noise"
ZCDP, SAMPLED, CURVES = "zCDP sums", "certified composition on Poisson samples", "Rényi curves at their best orders"


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
        """Of shuffled batches, the amplified ε at their share of half the δ, or the pure one, as its ρ. None for Rényi curves."""
        if not delta or any(isinstance(part, RenyiCurve) for part in parts):
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
    """Σ of pure, stated and amplified costs, plus what has none; batches and that share the δ."""
    epsilon = spent = Fraction(0)
    without = [part for part in parts if _has_no_cost(part)]
    amplified_parts = [part for part in parts if isinstance(part, Part) and part.shuffled is not None and not _has_no_cost(part)]
    batches = sum(part.count for part in amplified_parts)
    known = sum_up(part.count * _stated(part)[1] for part in parts if isinstance(part, Known | LossPart))
    share = max(delta - known, Fraction(0)) / max(batches + bool(without), 1)
    one: Fraction | None
    for part in parts:
        if isinstance(part, Known | LossPart):
            one, failure = _stated(part)
        elif _has_no_cost(part) or not isinstance(part, Part):
            continue
        else:
            one, failure = _one(part, share)
        epsilon, spent = shorten_up(epsilon + part.count * (one or 0)), shorten_up(spent + part.count * failure)
    if without:
        left = delta - spent
        if left <= 0:
            taken = ", and that much is the stated δ of the others: give more with --delta (delta=)" if spent else ""
            raise InvalidValue(
                "delta", delta, f"greater than {show(spent)}: {_words(without[0])} has no finite ε at δ = 0{taken}"
            )
        epsilon, spent = epsilon + _without_pure_cost(without, left), delta
    return Least(epsilon, spent, _methods(parts, without, batches))


def _has_no_cost(part: AnyPart) -> bool:
    """Has it no finite ε at one δ that it brings with it?"""
    if isinstance(part, Part):
        return part.noise.epsilon(part.steps) is None
    return isinstance(part, Concentrated | RenyiCurve) and part.pure() is None


def _stated(part: Known | LossPart) -> tuple[Fraction, Fraction]:
    """(ε, δ) of one of them."""
    return (part.epsilon, part.delta) if isinstance(part, Known) else (part.top, part.infinite)


def _words(part: AnyPart) -> str:
    return part.noise.words if isinstance(part, Part) else "zCDP" if isinstance(part, Concentrated) else "a Rényi curve"


def _methods(parts: tuple[AnyPart, ...], without: list[AnyPart], batches: int) -> str:
    gaussians = [part for part in without if isinstance(part, Part)]
    summed = any(part.sampling is None for part in gaussians) or any(isinstance(part, Concentrated) for part in without)
    alone = len(without) == 1 and all(part.entries == 1 for part in gaussians) and bool(gaussians)
    methods = [
        "pure sums" if len(without) < len(parts) else "",
        "shuffle amplification" if batches else "",
        (OWN if alone else ZCDP) if summed else "",
        SAMPLED if any(part.sampling is not None for part in gaussians) else "",
        CURVES if any(isinstance(part, RenyiCurve) for part in without) else "",
    ]
    return "; ".join(filter(None, methods))


def _one(part: Part, share: Fraction) -> tuple[Fraction | None, Fraction]:
    if part.sampling is not None:
        return part.pure_one(), Fraction(0)
    return cost(part.noise, part.steps, share, shuffled=part.shuffled, amplify=amplified)


def _without_pure_cost(parts: Sequence[AnyPart], delta: Fraction) -> Fraction:
    """One entry's own curve, or Σρ where sampling counts for nothing.

    Of several entries on samples, whose parameters may have been chosen on the way, also Σε of their own curves at equal
    shares of δ: sums of (ε, δ) hold for parameters that depend on what was released (Rogers et al. 2016). Stated Rényi curves
    have no ρ, so they always have shares of their own.
    """
    curves = [part for part in parts if isinstance(part, RenyiCurve)]
    others = [part for part in parts if not isinstance(part, RenyiCurve)]
    if curves:
        share = delta / (len(curves) + bool(others))
        own = sum_up(renyi_epsilon([part], share).upper for part in curves)
        return own + (_without_pure_cost(others, share) if others else 0)
    first = parts[0]
    if len(parts) == 1 and isinstance(first, Part) and first.sampling is None:
        if first.count == 1:
            return gaussian_epsilon(first.noise, first.steps, delta, first.coordinates)
        if first.entries == 1:
            with suppress(InvalidValue, ArithmeticError):  # a stream's sums, all charged when it is opened
                return _one_entry(first, delta)
    summed = zcdp_epsilon(zcdp_rho(parts)[0], delta)
    sampled = [part for part in parts if isinstance(part, Part) and part.sampling is not None]
    rest = [part for part in parts if part not in sampled]
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
