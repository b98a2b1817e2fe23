"""Rényi differential privacy and zCDP: divergences that add up, and their best conversion to (ε, δ).

D_α = log E_P e^{(α−1)L} / (α−1), straight from the moment function of the loss, enclosed. Sums of ρ hold for adaptively chosen
parameters too (ledger/zcdp_sums.py); sums of D_α at an order chosen afterwards hold for parameters fixed in advance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import Floats
from dpaudit.accountants.losses.moments import float_moment, kappa, part_moment
from dpaudit.accountants.losses.parts import AnyPart, Known, Part, stated_success
from dpaudit.accountants.losses.stated_parts import Concentrated, RenyiCurve
from dpaudit.channel.release_cost import rho
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, exact_epsilon, positive, shorten_up
from dpaudit.claims.balls import ball, decimal, precision, upper
from dpaudit.ledger.spending.zcdp_sums import from_renyi, zcdp_epsilon

_BITS = 192
_DIGITS = 15
_LEAST = Fraction(1, 2**200)


def renyi(parts: Sequence[AnyPart], order: Number) -> Fraction:
    """The Rényi divergence of all parts together at order α > 1, rounded up. Raises ``InvalidValue``."""
    found, missed = approximate_renyi(parts, order, _LEAST)
    if missed:
        raise InvalidValue("parts", "a release that may fail", "releases without a δ: they have no finite Rényi divergence")
    return found


def approximate_renyi(parts: Sequence[AnyPart], order: Number, delta: Fraction) -> tuple[Fraction, Fraction]:
    """(D, δ'): all parts together have the divergence D but for probability δ', which is stated or far below ``delta``."""
    alpha = positive(order, "order")
    if alpha <= 1:
        raise InvalidValue("order", order, "greater than 1")
    moment, missed = _moment(parts, alpha - 1, delta)
    return moment / (alpha - 1), missed + 1 - stated_success(parts)


def renyi_epsilon(parts: Sequence[AnyPart], delta: Number) -> Enclosure:
    """An ε at δ of all parts together, at the best order; 0 is its lower end: the conversion is not tight.

    Parameters must have been fixed in advance. Raises ``InvalidValue`` for δ = 0.
    """
    failure, succeeds = exact_delta(delta), stated_success(parts)
    left = (failure - (1 - succeeds)) / succeeds if succeeds else Fraction(0)
    if left <= 0:
        raise InvalidValue("delta", delta, "larger: Rényi divergences give no ε at it")
    size = math.log(left.denominator) - math.log(left.numerator)
    c = _best(parts, left, lambda at, moment: (moment + at * np.log(at) - (1 + at) * np.log1p(at) + size) / at)
    moment, missed = _moment(parts, c, left)
    if missed >= left:
        raise InvalidValue("delta", delta, "larger: Rényi divergences give no ε at it")
    with precision(_BITS):
        found = from_renyi(ball(moment / c), 1 + c, left - missed)
    return Enclosure(Fraction(0), found, True, f"RDP at order {float(1 + c):.4g}")


def renyi_delta(parts: Sequence[AnyPart], epsilon: Number) -> Fraction:
    """δ(ε) of all parts together by the best order, rounded up: e^{K(c) + κ(c) − cε}, beside what fails as stated."""
    level, succeeds = exact_epsilon(epsilon), stated_success(parts)
    e = float(level)
    c = _best(parts, _LEAST, lambda at, moment: moment + at * np.log(at) - (1 + at) * np.log1p(at) - at * e)
    moment, missed = _moment(parts, c, _LEAST)
    with precision(_BITS):
        exponent = ball(moment - c * level) + kappa(c)
        one = Fraction(1) if not exponent < 0 else decimal(upper(exponent.exp()), _DIGITS, up=True)
    return min(Fraction(1), succeeds * one + 1 - succeeds + missed)


def _moment(parts: Sequence[AnyPart], c: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """ΣK(c), and all that is left out. Raises ``InvalidValue`` where a curve says nothing of this order."""
    total, missed = Fraction(0), Fraction(0)
    for part in parts:
        found = part_moment(part, c, delta)
        if found is None:
            raise InvalidValue("order", float(1 + c), "at most the largest order of every curve")
        total, missed = shorten_up(total + found[0]), missed + found[1]
    return total, missed


def _best(parts: Sequence[AnyPart], delta: Fraction, objective: Callable[[Floats, Floats], Floats]) -> Fraction:
    """The order c at which an objective of c and K(c) is least, in floats: any order gives a valid bound."""
    most = min((part.largest for part in parts if isinstance(part, RenyiCurve)), default=None)
    corners = [float(c) for part in parts if isinstance(part, RenyiCurve) for c, _ in part.hull[1:]]
    low, high = -12.0, 40.0 if most is None else math.log2(float(most))
    best = math.inf, 1.0
    for turn in range(4):
        line = 2.0 ** np.linspace(min(low, high), high, 129)
        orders = np.unique(np.concatenate([line, corners])) if turn == 0 else line
        with np.errstate(over="ignore", invalid="ignore"):
            moment = sum((float_moment(part, orders, delta) for part in parts), np.zeros_like(orders))
            values = np.nan_to_num(objective(orders, moment), nan=np.inf)
        place = int(np.argmin(values))
        best = min(best, (float(values[place]), float(orders[place])))
        near = orders[max(place - 1, 0)], orders[min(place + 1, len(orders) - 1)]
        low, high = math.log2(near[0]), math.log2(near[1])
    found = Fraction(best[1])
    return found if most is None else min(found, most)


def zcdp_rho(parts: Sequence[AnyPart]) -> tuple[Fraction, Fraction]:
    """(Σρ, Σδ): all parts together are δ-approximate ρ-zCDP.

    Gaussian: Δ²/(2σ²) (Canonne, Kamath, Steinke 2020, Thm 14). Anything (ε, δ)-DP: ε²/2 (Bun, Steinke 2016, Prop. 1.4).
    """
    total, failure = Fraction(0), Fraction(0)
    for part in parts:
        if isinstance(part, Part):
            one, missed = rho(part.noise, part.steps), Fraction(0)
        elif isinstance(part, Concentrated):
            one, missed = part.rho, Fraction(0)
        elif isinstance(part, RenyiCurve):
            raise InvalidValue("releases", "a Rényi curve", "with a ρ: divergences at some orders say nothing of all of them")
        else:
            one, missed = (part.epsilon**2 / 2, part.delta) if isinstance(part, Known) else (part.top**2 / 2, part.infinite)
        total, failure = shorten_up(total + part.count * one), shorten_up(failure + part.count * missed)
    return total, failure


def zcdp(parts: Sequence[AnyPart], delta: Number) -> Enclosure:
    """An ε at δ of all parts together through Σρ. Holds also when parameters were chosen adaptively, up to a fixed Σρ."""
    failure = exact_delta(delta)
    total, missed = zcdp_rho(parts)
    if failure <= missed:
        raise InvalidValue("delta", delta, "larger: zCDP gives no ε at it")
    return Enclosure(Fraction(0), zcdp_epsilon(total, failure - missed) if total else Fraction(0), True, "zCDP")
