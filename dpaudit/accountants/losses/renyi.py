"""Rényi differential privacy and zCDP: divergences that add up, and their best conversion to (ε, δ).

D_α = log E_P e^{(α−1)L} / (α−1), straight from the moment function of the loss, enclosed. Sums of ρ hold for adaptively chosen
parameters too (ledger/zcdp_sums.py); sums of D_α at an order chosen afterwards hold for parameters fixed in advance.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import flint
import numpy as np

from dpaudit.accountants.losses.parts import AnyPart, ComposedLosses, Part, upper_losses
from dpaudit.accountants.losses.privacy_loss import Floats
from dpaudit.channel.release_cost import rho
from dpaudit.claims import Enclosure, InvalidValue, Number, exact_delta, positive, shorten_up, sum_up
from dpaudit.claims.balls import Ball, ball, precision, upper
from dpaudit.ledger.spending.zcdp_sums import best_order, from_renyi, zcdp_epsilon


def renyi(parts: Sequence[AnyPart], order: Number) -> Fraction:
    """The Rényi divergence of all parts together at order α > 1, rounded up. Raises ``InvalidValue``."""
    alpha = positive(order, "order")
    if alpha <= 1:
        raise InvalidValue("order", order, "greater than 1")
    total, rest = divergence_parts(parts, Fraction(1, 2**200))
    if rest.added:
        raise InvalidValue("parts", "a release that may fail", "releases without a δ: they have no finite Rényi divergence")
    with precision(rest.bits):
        return upper(ball(total * alpha) + divergence_of(rest, alpha))


def renyi_epsilon(parts: Sequence[AnyPart], delta: Number) -> Enclosure:
    """An ε at δ of all parts together, at the best order; 0 is its lower end: the conversion is not tight.

    Parameters must have been fixed in advance. Raises ``InvalidValue`` for δ = 0.
    """
    failure = exact_delta(delta)
    total, rest = divergence_parts(parts, failure or Fraction(1))
    left = failure - rest.added
    if left <= 0:
        raise InvalidValue("delta", delta, "larger: Rényi divergences give no ε at it")

    def divergence(order: Floats) -> Floats:
        z = (order - 1).astype(np.complex128)
        return sum((count * (law.log_moment(z) / z + float(law.top)).real for law, count in rest.laws), float(total) * order)

    order = best_order(divergence, left)
    with precision(rest.bits):
        found = from_renyi(ball(total * order) + divergence_of(rest, order), order, left)
    return Enclosure(Fraction(0), found, True, f"RDP at order {float(order):.4g}")


def zcdp_rho(parts: Sequence[AnyPart]) -> tuple[Fraction, Fraction]:
    """(Σρ, Σδ): all parts together are δ-approximate ρ-zCDP.

    Gaussian: Δ²/(2σ²) (Canonne, Kamath, Steinke 2020, Thm 14). Anything (ε, δ)-DP: ε²/2 (Bun, Steinke 2016, Prop. 1.4).
    """
    total, failure = Fraction(0), Fraction(0)
    for part in parts:
        if isinstance(part, Part):
            one, missed = rho(part.noise, part.steps), Fraction(0)
        else:
            one, missed = part.epsilon**2 / 2, part.delta
        total, failure = shorten_up(total + part.count * one), shorten_up(failure + part.count * missed)
    return total, failure


def zcdp(parts: Sequence[AnyPart], delta: Number) -> Enclosure:
    """An ε at δ of all parts together through Σρ. Holds also when parameters were chosen adaptively, up to a fixed Σρ."""
    failure = exact_delta(delta)
    total, missed = zcdp_rho(parts)
    if failure <= missed:
        raise InvalidValue("delta", delta, "larger: zCDP gives no ε at it")
    return Enclosure(Fraction(0), zcdp_epsilon(total, failure - missed) if total else Fraction(0), True, "zCDP")


def divergence_parts(parts: Sequence[AnyPart], delta: Fraction) -> tuple[Fraction, ComposedLosses]:
    """Σρ of the parts with one of their own (Gaussian noise), whose divergence is αρ on any grid; the losses of the others."""
    own = [(part, part.noise.rho(part.steps) if isinstance(part, Part) else None) for part in parts]
    others = upper_losses([part for part, one in own if one is None], delta)
    return sum_up(part.count * one for part, one in own if one is not None), others


def divergence_of(composed: ComposedLosses, order: Fraction) -> Ball:
    z = ball(order - 1)
    total = flint.arb(0)
    for law, count in composed.laws:
        total += count * (law.moment(flint.acb(z))[0].real.log() / z + ball(law.top))
    return total
