"""How fast |E e^{(c+it)L}| / E e^{cL} falls in t for one sampled loss: proven upper bounds for all t, for nodes that are
left out.

Under the tilt, L has a density. ν is a piecewise uniform measure below its law: on a block of u the density is at least the
product of the least weight and the least 1/L'.
(a) A set W of blocks whose losses span R ≤ π/t: |ν̂_W|² = ∬ cos t(l−l') ≤ ν_W² − 2κt²ν_W²Var_W, κt² = (1 − cos tR)/R², because
    1 − cos x ≥ κx² for |x| ≤ tR. Hence |ν̂_W| ≤ ν_W (1 − κt²Var_W), and κt² grows with t while tR ≤ π.
(b) One wide block: |ν̂_b| = ν_b |sin x/x|, x = tΔ_b/2; beyond x, |sin/x| is at most max(sin x/x, min(0.2173, 1/x)) up to x = π.
    |φ| ≤ 1 − Σ_W (ν_W − |ν̂_W|) with the sum over disjoint sets.
(c) |φ| ≤ V/t with V the total variation of the density of L. Its logarithm ψ(u) = −u²/2 + (s+1) ln w − u/σ + const has
    ψ' = −u − 1/σ + (s+1)p/σ, p logistic: at most three zeros, hence at most two peaks, and V ≤ 4 max e^ψ.
Every quantity errs to the side that counts. ln w comes with its error, p with ``SHARE_ERROR``; sines are bounded from that side
(``least_sine``, ``largest_sine``), logarithms are balls. Places are off by the errors of ln w: by Minkowski's inequality that
lowers the deviation of W by at most the largest of them. The sums are of at most 160 positive numbers, each made by fewer than
100 roundings: off by a part below 2^-40, for which ``_PART`` is taken off. Where the blocks begin (``_core``) is found in floats
and proves nothing: any blocks do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import flint
import numpy as np
import numpy.typing as npt

from dpaudit.accountants.numerics.elementary import SLACK, TURN_ERROR, Floats, U, exp, log_up, turn
from dpaudit.accountants.sampling.contours.tilted_law import SHARE_ERROR, FloatGroup, exponent_power, log_ratio
from dpaudit.accountants.sampling.groups import Direction

_BLOCKS = 160
_COVERED = 12.0  # nats below the largest weight up to which blocks reach
_PART = 2.0**-27  # relative
_LEAST_SHARE = 1e-280
_LOG_ROOT = 0.9189385332046727  # ln √(2π), within U
_SECOND_PEAK = 0.2173  # above the second maximum of |sin x/x|


@dataclass(frozen=True)
class Decay:
    """Blocks of ν under a tilt: where their losses begin, within ``errors``, least widths, masses; and ln V of (c)."""

    starts: Floats
    widths: Floats
    errors: Floats
    masses: Floats
    log_variation: float

    @classmethod
    def of(cls, group: FloatGroup, direction: Direction, c: float, log_moment: tuple[float, float]) -> Decay:
        """``log_moment``: floats not above and not below ln E e^{cL}."""
        s = exponent_power(direction, c)
        edges = np.linspace(*_core(group, s), _BLOCKS + 1)
        middles, line = (edges[1:] + edges[:-1]) / 2, _line(group, s)
        parts = [
            np.split(each, [_BLOCKS + 1, 2 * _BLOCKS + 1]) for each in log_ratio(group, np.concatenate([edges, middles, line]))
        ]
        (log_w, at_middles, on_line), (error, middle_error, line_error), (share, middle_share, _) = parts
        if s > 0:
            exponents, lost = _above_tangents(group, s, edges, at_middles, middle_error, middle_share)
        else:
            exponents, lost = _above_chords(s, edges, log_w, error)
        base = log_moment[1] + _LOG_ROOT
        lost = lost + 16 * U * (np.abs(exponents) + abs(base))
        sizes = edges[1:] - edges[:-1]
        by_slope = share[:-1] * group.inverse * sizes * (1 - _PART)  # p grows: the slope of ln w is least at the left
        widths = np.maximum(by_slope, (log_w[1:] - log_w[:-1]) * (1 - 4 * U) - (error[1:] + error[:-1]) * SLACK)
        known = share[:-1] > _LEAST_SHARE  # elsewhere e^y is no float
        steep = np.where(known, share[1:], 1.0) * group.inverse
        least = exp(np.minimum(exponents - base - lost * SLACK, 600.0)) * (1 - _PART) / steep
        return cls(
            log_w[:-1] - log_w[0],
            np.where(known, widths, 0.0),
            (error[:-1] + 4 * U * (np.abs(log_w[:-1]) + abs(log_w[0]))) * SLACK,
            np.where(known, least * widths, 0.0) * (1 - _PART),
            _log_variation(group, s, line, on_line, line_error, log_moment[0] + _LOG_ROOT),
        )

    def falls(self, low: Floats, high: Floats) -> Floats:
        """Lower bounds on 1 − |φ(c+it)/φ(c)| for all t in each of the intervals [low, high]; high ≤ 2·low."""
        wide = np.multiply.outer(2 * high, self.widths) > math.pi
        gained = self._gained(low, high, wide)
        rows, columns = np.nonzero(wide)
        if len(rows):
            x = low[rows] * self.widths[columns] / 2 * (1 - 4 * U)
            envelope = np.maximum(np.where(x < math.pi, largest_sine(x) / x, 0.0), np.minimum(_SECOND_PEAK, 1 / x))
            np.add.at(gained, rows, self.masses[columns] * np.maximum(0.0, 1 - envelope * (1 + _PART)))
        return np.asarray(np.maximum(0.0, gained * (1 - _PART)))

    def _gained(self, low: Floats, high: Floats, wide: npt.NDArray[np.bool_]) -> Floats:
        """Σ_W (ν_W − |ν̂_W|) over sets of narrow blocks, by (a), for each interval; wide blocks have no mass here."""
        rows, blocks = wide.shape
        place = np.multiply.outer(2 * high / math.pi * (1 + _PART), self.starts).astype(np.int64)
        # a wide block ends a set: the span of a set must be that of narrow ones
        ends = np.concatenate(
            [np.ones((rows, 1), bool), (place[:, 1:] != place[:, :-1]) | wide[:, 1:] | wide[:, :-1]], axis=1
        ).ravel()
        first = np.flatnonzero(ends)
        sizes = np.diff(np.append(first, len(ends)))
        block, row = first % blocks, first // blocks
        masses, widths = np.where(wide, 0.0, self.masses).ravel(), np.where(wide, 0.0, self.widths).ravel()
        middle = np.tile(self.starts, rows) - np.repeat(self.starts[block], sizes) + widths / 2
        mass = np.add.reduceat(masses, first)
        some = np.maximum(mass, 1e-300)
        mean = np.add.reduceat(masses * middle, first) / some
        spread = np.add.reduceat(masses * ((middle - np.repeat(mean, sizes)) ** 2 + widths**2 / 12), first)
        last = block + sizes - 1
        off = np.maximum.reduceat(np.tile(self.errors, rows), first)
        span = (self.starts[last] - self.starts[block] + widths[first + sizes - 1] + 2 * off) * (1 + _PART)
        # what is off moves the deviation √(spread/mass), and so does a mean that is off by some 200 U of the span
        deviation = np.maximum(0.0, np.sqrt(spread / some) - off - 2.0**-40 * span)
        turns = 2 * least_sine(np.minimum(low[row] * span, math.pi) / 2 * (1 - 4 * U)) ** 2 / np.maximum(span, 1e-300) ** 2
        return np.asarray(np.bincount(row, weights=mass * deviation**2 * turns, minlength=rows), dtype=np.float64)

    def log_bounds(self, low: Floats, high: Floats) -> Floats:
        """Upper bounds on ln |φ(c+it)/φ(c)| for all t in each interval [low, high]; high ≤ 2·low."""
        falls = np.minimum(self.falls(low, high), 1 - 1e-12)
        by_blocks = [math.nextafter(float(flint.arb(-float(fall)).log1p().upper()), math.inf) for fall in falls]
        return np.minimum(np.minimum(by_blocks, 0.0), [self.log_tail(float(each)) for each in low])

    def log_tail(self, low: float) -> float:
        """An upper bound on ln |φ(c+it)/φ(c)| for all t from ``low`` on."""
        bound = self.log_variation + log_up(1 / low * (1 + 2 * U))
        return min(0.0, bound + 4 * U * abs(bound))


def _above_chords(s: float, edges: Floats, log_w: Floats, error: Floats) -> tuple[Floats, Floats]:
    """The least of s ln w − u²/2 on each block, and how far off that may be; for s ≤ 0 it is concave, and least at an end."""
    squares = edges**2 / 2
    exponents, off = s * log_w - squares, -s * error + 8 * U * (np.abs(s * log_w) + squares)
    return np.minimum(exponents[:-1], exponents[1:]), np.maximum(off[:-1], off[1:])


def _above_tangents(
    group: FloatGroup, s: float, edges: Floats, at: Floats, error: Floats, share: Floats
) -> tuple[Floats, Floats]:
    """The same for s > 0: s ln w is convex, and above its tangent; what is left is concave, and least at an end."""
    squares = edges**2 / 2
    rise = s * share * group.inverse * (edges[1:] - edges[:-1]) / 2
    off = s * error + 2 * SHARE_ERROR * rise + 8 * U * (np.abs(s * at) + rise + np.maximum(squares[:-1], squares[1:]))
    return np.minimum(s * at - rise - squares[:-1], s * at + rise - squares[1:]), off


def least_sine(x: Floats) -> Floats:
    """At most sin x for 0 ≤ x ≤ π/2, by 10^-15 or a part in 10^-5: x − x³/6 below 0.01, the proven turn from there on."""
    small = x < 0.01
    if small.all():
        return np.asarray(x * (1 - x * x / 6) * (1 - 8 * U))
    return np.where(
        small, x * (1 - x * x / 6) * (1 - 8 * U), np.maximum(turn(np.where(small, 0.5, x)).imag - 2 * TURN_ERROR, 0.0)
    )


def largest_sine(x: Floats) -> Floats:
    """At least sin x for x ≥ 0; beyond 2^19, at least 1."""
    near = x < 2.0**19
    return np.where(near, np.minimum(x, turn(np.where(near, x, 0.0)).imag + 2 * TURN_ERROR), 1.0)


def _core(group: FloatGroup, s: float) -> tuple[float, float]:
    """Where the weight is within ``_COVERED`` nats of its largest, roughly."""
    u = np.linspace(*group.reach(s), 400)
    y = u * group.inverse - group.half
    exponents = s * np.logaddexp(math.log1p(-group.q) if group.q < 1 else -1e300, math.log(group.q) + y) - u * u / 2
    inside = np.flatnonzero(exponents > exponents.max() - _COVERED)
    return float(u[max(0, inside[0] - 1)]), float(u[min(len(u) - 1, inside[-1] + 1)])


def _line(group: FloatGroup, s: float) -> Floats:
    """Points that ψ's peaks lie between: ψ' > 0 before the first, and < 0 beyond the last unless that is the cut."""
    low, high = group.reach(s)
    return np.linspace(low - 2 * group.inverse - 1, high, 800)


def _log_variation(group: FloatGroup, s: float, u: Floats, log_w: Floats, error: Floats, base: float) -> float:
    """ln of 4 max e^ψ: between points a distance d apart ψ is at most its largest value there plus d²/8 max |ψ''|."""
    # L' = p/σ with p = q e^y/w: ln(1/L') = ln w − y − ln q + ln σ
    y = u * group.inverse - group.half
    psi = (s + 1) * log_w - u * u / 2 - y
    off = abs(s + 1) * error + 8 * U * (np.abs((s + 1) * log_w) + u * u + np.abs(u) * group.inverse + group.half)
    bend = (1 + abs(s + 1) * group.inverse**2 / 4) * float(u[1] - u[0]) ** 2 / 8 * SLACK
    scale = log_up(4 / group.q / group.inverse * (1 + 8 * U))
    highest = float((psi + off * SLACK).max())
    return highest + bend + scale - base + 16 * U * (abs(highest) + bend + abs(scale) + abs(base))
