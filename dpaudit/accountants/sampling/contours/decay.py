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
Floats with a margin of 10^-9 relatively: each quantity is made of fewer than 2^10 operations with relative errors below 2^-45.
The sines are bounded from the side that counts (``least_sine``, ``largest_sine``), by nothing but IEEE operations. What is left
to a library is one ``math.log`` or ``log1p`` per bound, which would have to be off by 10^-9, a million units in the last place.
Where the blocks begin (``_core``) is found in floats and proves nothing: any blocks do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpaudit.accountants.sampling.contours.elementary import TURN_ERROR, Floats, U, exp, turn
from dpaudit.accountants.sampling.contours.tilted_law import FloatGroup, exponent_power, log_ratio
from dpaudit.accountants.sampling.groups import Direction

_BLOCKS = 160
_COVERED = 12.0  # nats below the largest weight up to which blocks reach
_MARGIN = 1e-9
_SECOND_PEAK = 0.2173  # above the second maximum of |sin x/x|


@dataclass(frozen=True)
class Decay:
    """Blocks of ν under a tilt: where their losses begin, how wide they are, their masses; and V of (c)."""

    starts: Floats
    widths: Floats
    masses: Floats
    variation: float

    @classmethod
    def of(cls, group: FloatGroup, direction: Direction, c: float, log_moment: float) -> Decay:
        """``log_moment``: ln E e^{cL}, within 10^-10."""
        s = exponent_power(direction, c)
        low, high = _core(group, s)
        edges = np.linspace(low, high, _BLOCKS + 1)
        middles = (edges[1:] + edges[:-1]) / 2
        log_w, _, share = log_ratio(group, edges)
        log_middle, _, share_middle = log_ratio(group, middles)
        if s > 0:  # s ln w is convex: above its tangent; the rest is concave: least at an end
            slope, half = s * share_middle * group.inverse, (edges[1:] - edges[:-1]) / 2
            ends = (s * log_middle - slope * half - edges[:-1] ** 2 / 2, s * log_middle + slope * half - edges[1:] ** 2 / 2)
        else:
            exponents = s * log_w - edges**2 / 2
            ends = (exponents[:-1], exponents[1:])
        base = log_moment + math.log(2 * math.pi) / 2
        least = exp(np.minimum(ends[0], ends[1]) - base - 1e-9) / (share[1:] * group.inverse)
        widths = np.maximum(0.0, log_w[1:] - log_w[:-1]) * (1 - _MARGIN)
        masses = least * widths * (1 - _MARGIN)
        starts = log_w[:-1] - log_w[0]
        return cls(starts, widths, masses, _variation(group, s, base))

    def fall(self, low: float, high: float) -> float:
        """A lower bound on 1 − |φ(c+it)/φ(c)| for all t in [low, high]; high ≤ 2·low."""
        wide = self.widths * (2 * high) > math.pi
        gained, some = 0.0, bool(wide.any())
        if some:
            x = low * self.widths[wide] / 2
            envelope = np.maximum(np.where(x < math.pi, largest_sine(x) / x, 0.0), np.minimum(_SECOND_PEAK, 1 / x)) + _MARGIN
            gained = float((self.masses[wide] * np.maximum(0.0, 1 - envelope)).sum())
        if not some or not wide.all():
            narrow = ~wide if some else slice(None)
            starts, widths, masses = self.starts[narrow], self.widths[narrow], self.masses[narrow]
            place = (starts * (2 * high / math.pi)).astype(np.int64)
            first = np.flatnonzero(np.concatenate([[True], place[1:] != place[:-1]]))
            sizes = np.diff(np.concatenate([first, [len(place)]]))
            middle = starts - np.repeat(starts[first], sizes) + widths / 2
            mass = np.add.reduceat(masses, first)
            mean = np.add.reduceat(masses * middle, first) / np.maximum(mass, 1e-300)
            spread = np.add.reduceat(masses * ((middle - np.repeat(mean, sizes)) ** 2 + widths**2 / 12), first)
            last = first + sizes - 1
            span = starts[last] - starts[first] + widths[last]
            turns = 2 * least_sine(np.minimum(low * span, math.pi) / 2) ** 2 / np.maximum(span, 1e-300) ** 2
            gained += float((spread * turns).sum())
        return max(0.0, gained * (1 - 1e-6) - 1e-15)

    def log_bound(self, low: float, high: float) -> float:
        """An upper bound on ln |φ(c+it)/φ(c)| for all t in [low, high]; ``high`` may be infinite."""
        by_variation = math.log(self.variation / low) + _MARGIN
        by_blocks = math.log1p(-min(self.fall(low, high), 1 - 1e-12)) if high <= 2 * low else 0.0
        return min(0.0, by_variation, by_blocks)


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


def _variation(group: FloatGroup, s: float, base: float) -> float:
    """4 max e^ψ: between points a distance d apart ψ is at most its largest value there plus d²/8 max |ψ''|."""
    low, high = group.reach(s)
    low -= 2 * group.inverse + 1  # ψ' > 0 there and before, and < 0 beyond the other end unless that is the cut
    u = np.linspace(low, high, 800)
    log_w, _, _ = log_ratio(group, u)
    # L' = p/σ with p = q e^y/w: ln(1/L') = ln w − y − ln q + ln σ
    psi = (s + 1) * log_w - u * u / 2 - (u * group.inverse - group.half) - math.log(group.q) - math.log(group.inverse)
    bend = (1 + abs(s + 1) * group.inverse**2 / 4) * float(u[1] - u[0]) ** 2 / 8
    return 4 * float(exp(np.array([min(float(psi.max()) + bend - base + 1e-9, 690.0)]))[0])
