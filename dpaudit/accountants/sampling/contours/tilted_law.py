"""One sampled loss under an exponential tilt, on a trapezoid grid in u, in floats with error bounds.

Sensitivity 1, noise σ, u ~ N(0,1), w(u) = 1 − q + q e^{u/σ − 1/(2σ²)}.
remove: P = (1−q)N(0)+qN(1) against Q = N(0), L = ln w,  E_P e^{zL} = E w^{1+z};
add:    P = N(0) against the mixture,         L = −ln w, E_P e^{zL} = E w^{−z}.
With s = 1+c (remove) or −c (add): E_P e^{(c+it)L} = ∫ e^{−u²/2} w^s e^{itL} du/√(2π).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from dpaudit.accountants.numerics.elementary import EXP_ERROR, LIBRARY, SLACK, Floats, U, exp, exp_up, log1p
from dpaudit.accountants.sampling.groups import Direction, SampledGaussian
from dpaudit.claims.balls import ball

DROPPED = 60.0  # nats below the largest weight at which an abscissa is left out
_LEAST_WEIGHT = math.exp(-DROPPED)
REACH = 9.5  # standard deviations of the normal law that are summed beyond where the tilt can move it
MOST_ABSCISSAE = 100_000
SHARE_ERROR = 2.0**-28  # relative, of p(u), for |u|/σ + 1/(2σ²) up to 2^21
_STRIPS = np.linspace(0.05, 3.1, 40)


class TooMany(ArithmeticError):
    """More work than is worth its time."""


@dataclass(frozen=True)
class FloatGroup:
    """A group's parameters as floats, each off by at most U relatively (``rest`` = 1−q; ``inverse`` = 1/σ; ``half`` = 1/(2σ²)).

    ``cut``: only u ≤ cut counts. What is beyond is as if it revealed everything, for an upper bound, or nothing, for a lower one.
    """

    q: float
    rest: float
    inverse: float
    half: float
    count: int
    cut: float = math.inf

    @classmethod
    def of(cls, group: SampledGaussian, cut: float = math.inf) -> FloatGroup:
        return cls(
            float(group.rate), float(1 - group.rate), float(1 / group.sigma), float(1 / (2 * group.sigma**2)), group.count, cut
        )

    def reach(self, s: float) -> tuple[float, float]:
        """Where the weight e^{−u²/2} w^s lies, but for less than e^-45 of it beyond either end."""
        up, down = max(s, 0.0) * self.inverse, max(-s, 0.0) * self.inverse
        return -(REACH + down * _middle_share(self)), min(REACH + up, self.cut)


LogRatio = tuple[Floats, Floats, Floats]


def log_ratio(group: FloatGroup, u: Floats) -> LogRatio:
    """ln w(u), a bound on its error, and p(u) = q e^y/w, the slope of ln w in y; u exact.

    y = u/σ − 1/(2σ²) is off by 3U|u|/σ + 3U/(2σ²); ln w by p ≤ 1 times that. From y = 600 on, w ≥ q e^y ≥ e^550. p is off by a
    part of ``SHARE_ERROR``: w and p are made of positive numbers; below y = −700 it is 0.
    """
    y = u * group.inverse - group.half
    y_error = 4 * U * (np.abs(u) * group.inverse + group.half)
    if not np.all(y_error < SHARE_ERROR / 4):
        raise ArithmeticError("too far out")
    large = y > 600
    grown = exp(np.minimum(y, 600.0))
    v = group.q * (grown - 1)
    # q off by U, e^y by EXP_ERROR, the difference and the product by U each; the error of y is a factor of e^y
    value, error = log1p(v, group.q * (grown * (EXP_ERROR + 4 * U) + 4 * U))
    share = group.q * grown / (group.rest + group.q * grown)
    if large.any():  # ln w = y + ln q + ln(1 + (1−q)e^{−y}/q), the last below e^-500; ln q ≥ −21, off by 21·LIBRARY
        value = np.where(large, y + math.log(group.q), value)
        error = np.where(large, 8 * U * np.abs(y) + 32 * LIBRARY, error)
        share = np.where(large, 1.0, share)
    return value, (error + np.minimum(1.0, share * SLACK) * y_error) * SLACK, share


def exponent_power(direction: Direction, c: float) -> float:
    """s; c has few enough bits for 1 + c to be exact."""
    return 1 + c if direction == "remove" else -c


def spacing(group: FloatGroup, direction: Direction, c: float, t: float, nats: float) -> float:
    """A step η that makes the discretisation error at c + it, |t| ≤ ``t``, at most about e^−nats of E e^{cL}."""
    a = _STRIPS / group.inverse
    need = math.log(2) + a * a / 2 + t * _STRIPS + nats
    if direction == "add":
        need = need - c * np.log(np.cos(_STRIPS / 2))
    eta = float((2 * math.pi * a / need).max())
    mantissa, exponent = math.frexp(eta)
    return math.ldexp(math.floor(mantissa * 2**10), exponent - 10)  # ten bits: u and u² are exact


def discretisation(group: FloatGroup, direction: Direction, c: float, t: float, eta: float) -> float:
    """A bound on |trapezoid − integral| at c + it over E e^{cL}: Poisson summation on a path shifted by ia, a = θσ.

    w is a positive combination of 1 and e^{iθ} there: |arg w| ≤ θ, |w| ≤ w(Re u) and |w| ≥ w(Re u) cos(θ/2), hence
    2e^{−X}/(1−e^{−X}) · exp(a²/2 + |t|θ) · (1, or cos(θ/2)^{−c} for add), X = 2πa/η.
    """
    theta = _STRIPS
    a = theta / group.inverse
    terms = [a * a / 2, t * theta, -2 * math.pi * a / eta]
    if direction == "add":
        terms.append(-c * np.log(np.cos(theta / 2)))  # the angle's own error moves ln cos by θ tan(θ/2) U < 200 U, and cos ≥ 1/50
    size, rounding = np.sum(terms, axis=0), 16 * LIBRARY * np.sum(np.abs(terms), axis=0)
    best = int(size.argmin())
    x = 2 * math.pi * float(a[best]) / eta
    return 2 * exp_up(min(float(size[best] + rounding[best]), 600.0)) / -math.expm1(-x) * (1 + 8 * LIBRARY)


@dataclass(frozen=True)
class TiltedLaw:
    """Weights A_j ≈ e^{e_j − shift} and losses L_j at the abscissae, both with error bounds; ``log_scale`` = ln(η/√(2π)) + shift.

    E e^{(c+it)L} = e^{log_scale} Σ A_j e^{itL_j}, but for the discretisation and ``outside`` (what the sum leaves out, over ΣA).
    """

    losses: Floats
    loss_errors: Floats
    weights: Floats
    weight_errors: Floats  # relative
    total: float
    outside: float
    scale: Fraction  # what the sum is multiplied by, besides e^shift/√(2π)
    shift: float

    @classmethod
    def on_grid(cls, group: FloatGroup, direction: Direction, orders: Sequence[float], eta: float) -> list[TiltedLaw]:
        """The laws of all these orders on one grid."""
        powers = [exponent_power(direction, c) for c in orders]
        reaches = [group.reach(s) for s in powers]
        low, high = min(each[0] for each in reaches), max(each[1] for each in reaches)
        if (high - low) / eta > MOST_ABSCISSAE:
            raise TooMany("too many abscissae")
        u = np.asarray(np.arange(math.floor(low / eta), math.ceil(high / eta) + 1) * eta, dtype=np.float64)
        ratio, half_squares = log_ratio(group, u), u * u / 2
        return [cls._tilted(group, direction, s, eta, u, ratio, half_squares) for s in powers]

    @classmethod
    def _tilted(
        cls, group: FloatGroup, direction: Direction, s: float, eta: float, u: Floats, ratio: LogRatio, half_squares: Floats
    ) -> TiltedLaw:
        log_w, error, share = ratio
        up, down = max(s, 0.0) * group.inverse, max(-s, 0.0) * group.inverse
        powered = s * log_w
        exponents = powered - half_squares
        shift = float(exponents.max())
        weights = exp(exponents - shift)
        errors = abs(s) * error + 3 * U * (np.abs(powered) + half_squares + abs(shift)) + EXP_ERROR
        edges = exp(np.minimum(exponents[[0, -1]] - shift + errors[[0, -1]] * SLACK, 600.0))
        slopes = np.array([-u[0] - down * min(1.0, share[0] * (1 + SHARE_ERROR)), u[-1] - up]) * eta
        if not np.all(slopes > 0):
            raise ArithmeticError("the abscissae end too early")
        # 1/(e^x − 1) ≤ 1/x. |u| < 10^6, so a slope, of at least ``REACH``, is off by less than 10^6 U
        outside = float((edges / slopes).sum()) * SLACK
        keep = weights > _LEAST_WEIGHT
        outside += len(u) * _LEAST_WEIGHT * 3
        weights = weights[keep]
        total = math.fsum(weights)
        return cls(
            log_w[keep] if direction == "remove" else -log_w[keep],
            error[keep],
            weights,
            errors[keep] * SLACK,
            total,
            outside / total * SLACK,
            Fraction(eta),
            shift,
        )

    def total_error(self) -> float:
        """A bound on the relative error of ΣA as the sum of the true weights at all abscissae."""
        return float((self.weights * self.weight_errors).sum()) / self.total * SLACK + self.outside + 4 * U

    def log_moment(self, discrete: float) -> Any:
        """A ball around ln E e^{cL}; ``discrete``: the discretisation error at t = 0. At the precision of the caller."""
        error = self.total_error() + discrete
        if error > 0.5:
            raise ArithmeticError("a moment is not determined")
        scale = ball(Fraction(self.shift)) + (ball(self.scale) / (2 * flint.arb.pi()).sqrt()).log()
        spread = flint.arb(0, 2 * error)  # |ln(1+x)| ≤ 2|x| for |x| ≤ 1/2, and 1/(1−x) likewise
        return scale + flint.arb(self.total).log() + spread


def _middle_share(group: FloatGroup) -> float:
    """p(0), roughly: p grows with u, so left of 0 the slope of ln w is at most p(0)/σ."""
    grown = math.exp(-group.half)
    return group.q * grown / (group.rest + group.q * grown)


def short(c: float) -> float:
    """c rounded to 20 bits, so that 1 + c and multiples of it are exact."""
    mantissa, exponent = math.frexp(c)
    return math.ldexp(round(mantissa * 2**20), exponent - 20)


def short_orders(c: Floats) -> Floats:
    """The same for an array."""
    mantissa, exponent = np.frexp(c)
    return np.ldexp(np.rint(mantissa * 2**20), exponent - 20)
