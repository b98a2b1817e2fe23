"""K(c) = ln E_P e^{cL} of any part at a real order c > 0, rounded up: what Rényi accountants and fixed-order filters add up.

Of a Poisson sample the larger of both directions. A part that reveals all with probability δ has the moment of what it does
otherwise; that δ is counted apart (``succeeds`` in ``parts``). A part that is a post-processing of something only but for a
small probability has that something's moment, and says how much it leaves out.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import flint
import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import Floats
from dpaudit.accountants.losses.laws.range_loss import float_range_moment, log_range_moment
from dpaudit.accountants.losses.parts import AnyPart, Known, Part, upper_losses
from dpaudit.accountants.losses.stated_parts import Concentrated, RenyiCurve
from dpaudit.accountants.sampling.accountant import sampled_moment
from dpaudit.accountants.sampling.discrete_noise import continuous_noise, root_down
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.claims import InvalidValue
from dpaudit.claims.balls import Ball, ball, decimal, precision, upper

_BITS = 192
_DIGITS = 20
_LEAST = Fraction(1, 2**200)  # a law that is asked for its moment leaves out nothing
_COARSE = [2.0**k for k in range(-6, 11)]  # orders at which floats look at the moments of samples
_SMALL = Fraction(1, 1000)  # of δ: what samples may leave out

Moment = tuple[Fraction, Fraction]  # K, and the probability that is left out


@lru_cache(maxsize=8192)
def part_moment(part: AnyPart, c: Fraction, delta: Fraction) -> Moment | None:
    """K(c) of all ``count`` releases of a part together, rounded up, and what is left out, far below δ. None: not known there."""
    if isinstance(part, Concentrated | RenyiCurve):
        one = part.moment(c)
        return None if one is None else (one * part.count, Fraction(0))
    if isinstance(part, Part):
        own = part.noise.rho(part.steps)
        if not part.steps:
            return Fraction(0), Fraction(0)
        if (size := part.range()) is not None:
            with precision(_BITS):
                return decimal(upper(part.count * log_range_moment(size, c)), _DIGITS, up=True), Fraction(0)
        if own is not None:
            plain = part.count * own * c * (c + 1), Fraction(0)
            sampled = _sampled(part, c, delta)
            return plain if sampled is None or plain[0] <= sampled[0] else sampled
        if part.shuffled is not None:
            return part_moment(Known(part.pure_one() or Fraction(0), Fraction(0), part.count), c, delta)
    composed = upper_losses([part], _LEAST)
    with precision(composed.bits):
        total = flint.arb(0)
        for law, count in composed.laws:
            total += count * (law.moment(flint.acb(ball(c)))[0].real.log() + ball(c * law.top))
        return max(Fraction(0), decimal(upper(total), _DIGITS, up=True)), Fraction(0)


def _sampled(part: Part, c: Fraction, delta: Fraction) -> Moment | None:
    """Of Gaussian noise on Poisson samples, by the continuous noise that it is compared with; None where it cannot be."""
    if part.sampling is None or part.noise.spread is None:
        return None
    try:
        noise = continuous_noise(part.noise.spread, part.steps, part.count, delta * _SMALL, part.coordinates, up=True)
        group = SampledGaussian(part.sampling, root_down(noise.variance), part.count)
        return decimal(sampled_moment([group], c), _DIGITS, up=True), noise.missed
    except (InvalidValue, ArithmeticError):
        return None


def float_moment(part: AnyPart, c: Floats, delta: Fraction) -> Floats:
    """K(c) in floats, for searches only; infinite where nothing is known."""
    if isinstance(part, Concentrated):
        return np.asarray(part.count * float(part.rho) * c * (c + 1))
    if isinstance(part, RenyiCurve):
        known = np.array([[float(x), float(y)] for x, y in part.hull]).T
        return np.asarray(part.count * np.interp(c, known[0], known[1], right=np.inf))
    if isinstance(part, Part):
        own = part.noise.rho(part.steps)
        if not part.steps:
            return np.zeros_like(c)
        if (size := part.range()) is not None:
            return np.asarray(part.count * float_range_moment(float(size), c))
        if own is not None:
            plain = np.asarray(part.count * float(own) * c * (c + 1))
            if part.sampling is None:
                return plain
            found = [part_moment(part, Fraction(at), delta) for at in _COARSE]
            sizes = [0.0, *(float(each[0]) for each in found if each is not None)]
            return np.minimum(plain, np.interp(c, [0.0, *_COARSE], sizes, right=np.inf))
        if part.shuffled is not None:
            return float_moment(Known(part.pure_one() or Fraction(0), Fraction(0), part.count), c, delta)
    laws = upper_losses([part], _LEAST).laws
    terms = [count * (law.log_moment(c.astype(np.complex128)).real + c * float(law.top)) for law, count in laws]
    return np.asarray(sum(terms, np.zeros_like(c)))


def kappa(c: Fraction) -> Ball:
    """κ(c) = c ln c − (1+c) ln(1+c), at the caller's precision: (1 − e^{−y})_+ ≤ e^{κ(c) + cy} for every y."""
    at = ball(c)
    return at * at.log() - (1 + at) * (1 + at).log()
