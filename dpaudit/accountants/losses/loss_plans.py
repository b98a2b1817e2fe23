"""Where to put a contour of losses, in floats, and which of its nodes to take: bounds on those left out are proven.

A saddle point of φ(c) e^{cx}/(c(c+1)) is a good place, and never a bound. Nodes are left out where |φ(c+it)/φ(c)| ≤ e^{−SKIP},
from the laws' ``decay``, on whole stretches of t at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpaudit.accountants.losses.laws.privacy_loss import Complexes, Floats, PrivacyLoss
from dpaudit.accountants.numerics.roots import float_root

SKIP = 40.0
SMOOTHING = 2e-5  # τ√(c(c+1)) that is aimed at: it raises δ by a factor of about 1 + SMOOTHING²/2 where S is smooth
MOST_NODES = 3000
_FIRST = 4  # nodes that are never skipped
_ALL = 1e300  # the end of an interval without end
_LEAST_LOG, _LARGEST_LOG = -25.0, 60.0  # of the order: beyond, δ is near 1, or all losses are the largest
_LEAST_NATS, _NEAR, _STRIDE = 1e-9, 3e-3, 6.0  # of the search for a saddle point

Parts = Sequence[tuple[PrivacyLoss, int]]


def top(parts: Parts) -> Fraction:
    """Σ of the references: slack = top − ε is what the sum of the (top_j − L_j) must stay below for the loss to exceed ε."""
    return sum((law.top * count for law, count in parts), Fraction(0))


@dataclass(frozen=True)
class LossSaddle:
    """A contour through c, the slack whose saddle point c is, the step h, and log δ there in floats."""

    c: float
    slack: float
    step: float
    log_delta: float


def log_moment(parts: Parts, z: Complexes) -> Complexes:
    """log E e^{z(S−top)} in floats."""
    return np.asarray(sum(count * law.log_moment(z) for law, count in parts))


def saddle(parts: Parts, c: float) -> LossSaddle:
    """The slack x at which φ(c) e^{cx}/(c(c+1)) is least in c, and δ there in floats: a start for a search, never a bound."""
    shift = c / 100
    at, beside = log_moment(parts, np.array([c, c + 1j * shift]))
    slack = 1 / c + 1 / (1 + c) - float(beside.imag) / shift
    variance = max(0.0, 2 * float(at.real - beside.real) / shift**2)
    width = (variance + c**-2 + (1 + c) ** -2) ** -0.5
    height = float(at.real) + c * slack
    step = min(width / 2, 2 * math.pi * c / (30 + max(0.0, -height)))
    z = np.asarray(c + 1j * min(width / 2, c / 2) * np.arange(48), dtype=np.complex128)
    terms = np.exp(log_moment(parts, z) + z * slack - height) / (z * (z + 1))
    total = float(z[1].imag) / (2 * math.pi) * float(2 * terms.real.sum() - terms[0].real)
    return LossSaddle(c, slack, step, height + math.log(total) if total > 0 else height)


def saddle_at(parts: Parts, wanted: float, of: str) -> LossSaddle:
    """The saddle point whose ``of`` ("slack" or "log_delta") is as wanted: both fall in c; −ln δ is about a power of c."""

    def excess(log_order: float) -> float:
        if not _LEAST_LOG <= log_order <= _LARGEST_LOG:
            return math.copysign(1.0, log_order)
        found = saddle(parts, math.exp(log_order))
        if of == "slack":
            return (wanted - found.slack) * found.c
        return math.log(max(-found.log_delta, _LEAST_NATS) / max(-wanted, _LEAST_NATS))

    root = float_root(excess, 0.0, _STRIDE, small=_NEAR)
    return saddle(parts, math.exp(min(max(root.at, _LEAST_LOG), _LARGEST_LOG)))


@dataclass(frozen=True)
class ContourPlan:
    """How to integrate: which nodes, as ranges of k; the smoothing τ, or 0; what nodes left out may add, over φ(c) e^{cx}.

    ``inner``: the part of φ that comes from atoms alone is left out, and summed elsewhere.
    """

    runs: Sequence[tuple[int, int]]
    tau: float
    tail: float
    inner: bool
    error: float  # roughly, relative to δ


def plan(parts: Parts, at: LossSaddle, *, inner: bool) -> ContourPlan:
    """Search stretches of doubling length for nodes where |φ| is not small, until all that is left is, or enough was seen."""
    c, step = at.c, at.step
    first, enough = (_FIRST - 1) * step, math.sqrt(2 * SKIP * c * (c + 1)) / SMOOTHING
    skipped = math.exp(-SKIP) / (math.pi * first)
    typical = math.sqrt(8 * math.pi) * c * (c + 1) / (4 * step)  # φ(c) e^{cx}/δ, roughly
    doublings = 1 + max(0, math.ceil(math.log2(enough / first)))
    starts: Floats = np.asarray(first * 2.0 ** np.arange(doublings), dtype=np.float64)
    quiet = np.flatnonzero(_size(parts, c, starts[:-1], np.full(len(starts) - 1, _ALL), inner) >= SKIP)
    starts = starts[: quiet[0] + 1] if len(quiet) else starts
    awake = _size(parts, c, starts[:-1], starts[1:], inner) < SKIP
    runs, nodes, start = [(0, _FIRST)], _FIRST, float(starts[-1])
    for low in starts[:-1][awake].tolist():
        found = _awake(parts, c, step, low, 2 * low, MOST_NODES - nodes, inner)
        if found is None:
            start = low
            break
        runs, nodes = runs + found, nodes + sum(last - first for first, last in found)
    edges = np.asarray(start * 2.0 ** np.arange(200), dtype=np.float64)
    sizes = np.exp(-_size(parts, c, edges[:-1], edges[1:], inner))
    areas = 1 / (edges - step)  # h Σ 1/t² over nodes from some t on is at most 1/(t − h)
    tail = (float((sizes * (areas[:-1] - areas[1:])).sum()) + float(areas[-1])) / math.pi * (1 + 1e-9)
    tau = math.sqrt(2 * SKIP) / start
    if inner or typical * tail <= c * (c + 1) * tau**2 / 2 or tau**2 * c * (c + 1) > 1:
        return ContourPlan(_merged(runs), 0.0, skipped + tail, inner, typical * tail)
    tail = skipped * math.exp(2 * tau**2 * c * (c + 1))
    return ContourPlan(_merged(runs), tau, 2 * tail, inner, c * (c + 1) * tau**2 / 2)


def _size(parts: Parts, c: float, low: Floats, high: Floats, inner: bool) -> Floats:
    """A lower bound on −log |φ(c+it)/φ(c)| on each interval, or on that of the part that is not from atoms alone: of the
    product of (a + i)^k less that of the a^k, at most Σ k|i|/(|a|+|i|) of the product of (|a| + |i|)^k."""
    total, share = np.zeros_like(low), np.zeros_like(low)
    for law, count in parts:
        decay, part = law.decay(c, low, high)
        total, share = total + count * decay, share + count * part
    with np.errstate(divide="ignore"):
        return total - np.log(np.minimum(share, 1.0)) if inner else total


def _awake(
    parts: Parts, c: float, step: float, start: float, stop: float, most: int, inner: bool
) -> list[tuple[int, int]] | None:
    """Ranges of nodes in [start, stop] that cannot be skipped; None if they are more than ``most``."""
    low, high = np.array([start]), np.array([stop])
    while True:
        awake = _size(parts, c, low, high, inner) < SKIP
        low, high = low[awake], high[awake]
        if not len(low) or high[0] - low[0] <= _FIRST * step:
            break
        if len(low) > 4 * most:
            return None
        edges = low[:, None] + (high - low)[:, None] * np.arange(9) / 8
        low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    first, last = np.floor(low / step * (1 - 1e-12)).astype(int), np.ceil(high / step * (1 + 1e-12)).astype(int) + 1
    return None if int((last - first).sum()) > most else list(zip(first.tolist(), last.tolist(), strict=True))


def _merged(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join ranges that touch or overlap; they come in order."""
    out = runs[:1]
    for first, last in runs[1:]:
        if first <= out[-1][1]:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out
