"""DPA006, porous noise: do the last bits of a float output tell data sets apart that its coarse value does not?

Three layers. (1) Every value lies on the declared lattice. (2) The events {x·2^k ∉ ℤ} for sixteen k around the last bit of a
float64. (3) The event that a known sampler cannot give x on the other data set. Layers 2 and 3 compare counts of fresh runs
by Clopper–Pearson bounds; everything that is chosen is chosen on a training part. An event counts as porous only when both hold:

- over all runs it breaks P(S|D) ≤ e^ε P(S|D') + δ, so a mechanism that keeps its claim is flagged with probability at most α;
- at equal coarse values, runs matched cell by cell, it is more than ``FACTOR`` times as frequent on D as on D': a mechanism
  that merely breaks its claim, on a coarse grid, is not called porous.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from dpaudit.auditors.preimage import SAMPLERS, Additive, guessed
from dpaudit.claims import Finding, InvalidValue, Number, positive, show

RULE = "DPA006"
FACTOR = 8.0  # how much the odds of an event may differ between neighbours within one small cell of values
EVENTS = range(46, 62)  # k, for values between ½ and 1; larger values have fewer places
TRAINING = 0.2
CELLS = 16  # quantiles of the training outputs
_GROUPS = np.array([[start <= c < start + w for c in range(CELLS)] for w in (16, 8, 4) for start in range(0, CELLS, w)])
_DISTINCT = 0.9  # values that repeat are atoms of a coarse law, not last bits


def porosity(
    values: ArrayLike,
    others: ArrayLike,
    *,
    alpha: float = 0.01,
    grid: Number | None = None,
    epsilon: float = 0.0,
    delta: float = 0.0,
    noises: Sequence[Additive] = (),
    where: str = "returned value",
) -> Finding | None:
    """The finding DPA006, or None, from independent outputs on D and on D', one number each.

    ``epsilon``, ``delta``: what the mechanism claims; with it, an honest one is flagged with probability at most ``alpha``,
    and without it one whose loss varies by at most log 8 within a sixteenth of its outputs. ``grid``: the declared step, if
    any. ``noises``: guesses beyond those made here. Raises ``InvalidValue`` for what is not a list of numbers.
    """
    first, second = _column(values), _column(others)
    if not 0 < alpha < 1:
        raise InvalidValue("alpha", alpha, "between 0 and 1")
    if grid is not None and (off := _off_lattice(first, second, positive(grid, "grid"))):
        return Finding(RULE, off, where)
    if min(len(first), len(second)) < 2 * CELLS:
        return None
    cut = int(TRAINING * len(first)), int(TRAINING * len(second))
    training = first[: cut[0]], second[: cut[1]]
    rest = first[cut[0] :], second[cut[1] :]
    edges = _edges(*training)
    if edges is None:
        return None
    comparison = Comparison(*rest, _cells(rest[0], edges), _cells(rest[1], edges), float(np.exp(epsilon)), delta)
    message = _last_bits(comparison, _window(*training), alpha / 2) or _preimages(comparison, training, noises, alpha / 2)
    return Finding(RULE, message, where) if message else None


def _column(values: ArrayLike) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InvalidValue("values", f"{array.dtype} of shape {array.shape}", "one number per run")
    return array.astype(np.float64)


def _off_lattice(first: np.ndarray, second: np.ndarray, grid: Fraction) -> str:
    """Layer 1: exact, no error rate."""
    both = np.concatenate([first, second])
    steps = np.rint(both * float(grid.denominator) / float(grid.numerator))
    off = int((steps * float(grid.numerator) / float(grid.denominator) != both).sum())
    return f"{off} of {len(both)} outputs are not multiples of the declared step {show(grid)}" if off else ""


def _edges(first: np.ndarray, second: np.ndarray) -> np.ndarray | None:
    both = np.concatenate([first[np.isfinite(first)], second[np.isfinite(second)]])
    return np.quantile(both, np.linspace(0, 1, CELLS + 1)[1:-1]) if len(both) else None


def _cells(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Which sixteenth of the coarse values; −1 for NaN and infinities, which have no last bit."""
    return np.where(np.isfinite(values), np.searchsorted(edges, values, side="right"), -1)


@dataclass(frozen=True)
class Comparison:
    """Fresh runs on both data sets, and the cells of their coarse values."""

    first: np.ndarray
    second: np.ndarray
    cells: np.ndarray
    other_cells: np.ndarray
    factor: float
    delta: float

    def turned(self) -> Comparison:
        return Comparison(self.second, self.first, self.other_cells, self.cells, self.factor, self.delta)

    def matched(self) -> tuple[np.ndarray, np.ndarray]:
        """As many runs of each side in every cell: the earliest ones."""
        counts = [np.bincount(cells[cells >= 0], minlength=CELLS) for cells in (self.cells, self.other_cells)]
        fewest = np.append(np.minimum(*counts), 0)  # the last entry serves cell −1
        return _earliest(self.cells, fewest), _earliest(self.other_cells, fewest)

    def excess(self, event: np.ndarray, other_event: np.ndarray, level: float) -> np.ndarray:
        """(groups, events): the proven ratio beyond ``FACTOR`` at equal coarse values; 0 where nothing is proven.

        ``event``, ``other_event``: (runs, events). Within a group of cells the matched counts are sums of independent
        indicators with unequal probabilities; Clopper–Pearson bounds hold for those too (Hoeffding 1956, Thm 4).
        """
        keep, other_keep = self.matched()
        all_first = _counts(event, self.cells), _counts(other_event, self.other_cells)
        matched = _counts(event[keep], self.cells[keep]), _counts(other_event[other_keep], self.other_cells[other_keep])
        sizes = (_GROUPS @ np.bincount(self.cells[keep], minlength=CELLS))[:, None]
        breaks = _low(all_first[0], len(self.first), level) > (
            self.factor * _high(all_first[1], len(self.second), level) + self.delta
        )
        ratio = _low(matched[0], sizes, level) / _high(matched[1], sizes, level)
        return np.where(breaks & (ratio > FACTOR), ratio, 0.0)


def _earliest(cells: np.ndarray, fewest: np.ndarray) -> np.ndarray:
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], cells[order], side="left")
    keep = np.zeros(len(cells), dtype=bool)
    keep[order] = np.arange(len(cells)) - starts < fewest[cells[order]]
    return keep


def _counts(event: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """(groups, events): in how many runs the event happened, group by group."""
    per_cell = np.array([event[cells == c].sum(axis=0) for c in range(CELLS)])
    return np.asarray(_GROUPS @ per_cell)


def _low(count: np.ndarray, n: ArrayLike, level: float) -> np.ndarray:
    """Clopper–Pearson: the probability is at least this, but for an error of ``level``."""
    size = np.broadcast_to(np.asarray(n), count.shape)
    return np.where(count > 0, betaincinv(np.maximum(count, 1), size - np.maximum(count, 1) + 1.0, level), 0.0)


def _high(count: np.ndarray, n: ArrayLike, level: float) -> np.ndarray:
    size = np.broadcast_to(np.asarray(n), count.shape)
    return np.where(count < size, betaincinv(count + 1.0, np.maximum(size - count, 1), 1 - level), 1.0)


def places(values: np.ndarray) -> np.ndarray:
    """The least k with x·2^k ∈ ℤ, exactly; a very small number for 0, NaN and infinities."""
    ordinary = np.isfinite(values) & (values != 0)
    mantissa, exponent = np.frexp(np.where(ordinary, values, 0.5))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(ordinary, 53 - exponent - zeros, -(10**6))


def _window(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """k = 46..61, moved with the size of the training outputs, and by 29 places when all of them are float32."""
    both = np.concatenate([first, second])
    both = both[np.isfinite(both) & (both != 0)]
    if not len(both):
        return np.array(EVENTS)
    size = int(np.frexp(np.median(np.abs(both)))[1])
    with np.errstate(over="ignore"):
        single = bool((both.astype(np.float32) == both).all())
    return np.array(EVENTS) - size - (29 if single else 0)


def _directions(comparison: Comparison) -> Iterator[tuple[Comparison, str, str]]:
    yield comparison, "one data set", "its neighbour"
    yield comparison.turned(), "the neighbour", "the first data set"


def _last_bits(comparison: Comparison, window: np.ndarray, alpha: float) -> str:
    """Layer 2. α is shared by the events, the groups of cells, both directions and the two bounds of each of two tests."""
    level = alpha / (4 * _GROUPS.shape[0] * len(window))
    for side, here, there in _directions(comparison):
        deep, other_deep = (places(runs)[:, None] > window for runs in (side.first, side.second))
        ratio = side.excess(deep, other_deep, level)
        group, event = np.unravel_index(int(ratio.argmax()), ratio.shape)
        if ratio[group, event] > 0 and _distinct(side.first[deep[:, event]]):
            times = f"more than {ratio[group, event]:.0f} times as often on {here} as on {there}"
            return f"porous noise: outputs have bits below 2^{-int(window[event])} {times}, at equal coarse values"
    return ""


def _preimages(comparison: Comparison, training: tuple[np.ndarray, np.ndarray], noises: Sequence[Additive], alpha: float) -> str:
    """Layer 3. The sampler and its parameters are chosen on training runs; α is shared by two directions and two bounds."""
    finite = tuple(side[np.isfinite(side)] for side in training)
    best, choice = 0.0, None
    for noise in (*noises, *guessed(*finite)):
        for name, reach in SAMPLERS.items():
            gain = max(
                _gain(finite[0], finite[1], lambda x, r=reach, n=noise: r(x, n.other, n.scale)),
                _gain(finite[1], finite[0], lambda x, r=reach, n=noise: r(x, n.centre, n.scale)),
            )
            if gain > best:
                best, choice = gain, (name, noise)
    if choice is None:
        return ""
    name, noise = choice
    for (side, here, there), centre in zip(_directions(comparison), (noise.other, noise.centre), strict=True):
        lost, other_lost = (~SAMPLERS[name](runs, centre, noise.scale)[:, None] for runs in (side.first, side.second))
        if side.excess(lost, other_lost, alpha / 4)[0, 0] > 0 and _distinct(side.first[lost[:, 0]]):
            share = f"{lost.mean():.1%} of the outputs on {here} cannot come from {name} on {there}"
            return f"porous noise: {share} ({other_lost.mean():.1%} there)"
    return ""
