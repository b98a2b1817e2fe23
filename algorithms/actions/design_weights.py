"""Weights of a design: Frank–Wolfe steps on the D-optimal objective, a floor, and Carathéodory pruning.

Weights are dense, (G, K), zero off the support. V(π) = Σ π_a a a^T, leverage g = max_a a^T V(π)^+ a, m =
rank.
"""

from __future__ import annotations

import math

import numpy as np

from algorithms.actions.span import Bools, Floats, Frame, Ints, quadratic
from dpaudit.claims import DpauditError

_REFRESH = 64  # rank-one updates between two fresh inverses
_ROUNDS = 40  # reweightings of the support per added action, kind "minimal"


def uniform(frame: Frame) -> Floats:
    """Weight 1/m on each pivot: in the frame's coordinates V = I/m."""
    weights = np.zeros(frame.coordinates.shape[:2])
    share = np.where(frame.pads, 0.0, 1.0 / frame.rank[:, None])
    np.add.at(weights, (np.arange(len(weights))[:, None], frame.pivots), share)
    return weights


def support_of(weights: Floats) -> tuple[Ints, Floats]:
    """Indices and weights (G, k) of the supported actions; padding repeats the first one, with weight 0."""
    inside: Bools = weights > 0
    sizes = inside.sum(axis=1)
    sets, actions = np.nonzero(inside)
    place = np.arange(len(sets)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    support = np.repeat(inside.argmax(axis=1)[:, None], sizes.max(initial=1), axis=1)
    share = np.zeros(support.shape)
    support[sets, place] = actions
    share[sets, place] = weights[sets, actions]
    return support, share


def inverse_of(frame: Frame, weights: Floats) -> Floats:
    """V(π)^{-1} in the frame's coordinates, from scratch; the identity past a set's rank."""
    support, share = support_of(weights)
    return _inverse(np.take_along_axis(frame.coordinates, support[:, :, None], axis=1), share, frame.pads)


def leverages(frame: Frame, weights: Floats) -> Floats:
    """(G, K) a^T V(π)^+ a of every action, from scratch. The support must span each set."""
    return quadratic(frame.coordinates, inverse_of(frame, weights))


def improve(frame: Frame, weights: Floats, aim: float, *, reweight: bool) -> Ints:
    """Frank–Wolfe (Wynn) with exact line search until g ≤ aim·m for each set; changes ``weights`` in place.

    From the start of ``span`` and for aim 2 that takes O(m log log m) steps (Kumar, Yildirim 2005),
    in general O(m log log m + m/(aim − 1)). ``reweight``: balance the support before the next action
    is added, for fewer actions. Returns the steps taken per set; raises ``DpauditError`` when rounding stops
    the progress.
    """
    steps = np.zeros(len(weights), dtype=np.int64)
    live = np.arange(len(weights))
    most = 2000 + 50 * frame.coordinates.shape[2] * (2 + 1 / (aim - 1))
    while True:
        part, share = frame.take(live), weights[live]
        missed = leverages(part, share).max(axis=1) > aim * part.rank
        if not missed.any():
            return steps
        if steps.max() > most:
            raise DpauditError(f"no design of leverage {aim:g}·rank in {steps.max()} steps: choose a larger target")
        live, part, share = live[missed], part.take(np.flatnonzero(missed)), share[missed]
        if reweight and steps.any():
            _balance(part, share)
        steps[live] += _descend(part, share, aim, 1 if reweight else _REFRESH)
        weights[live] = share


def _descend(frame: Frame, weights: Floats, aim: float, most: int) -> Ints:
    """Up to ``most`` steps for each set, by rank-one updates; stops early when half of the sets are done."""
    x, rank, row = frame.coordinates, frame.rank, np.arange(len(weights))
    inverse = inverse_of(frame, weights)
    leverage = quadratic(x, inverse)
    steps = np.zeros(len(weights), dtype=np.int64)
    for _ in range(most):
        worst = leverage.argmax(axis=1)
        g = leverage[row, worst]
        open_ = g > aim * rank
        if open_.sum() * 2 < len(row) or not open_.any():
            break
        # Exact line search of log det along (1−ν)π + ν·1_a: ν = (g/m − 1)/(g − 1).
        nu = np.where(open_, (g / rank - 1) / np.where(open_, g - 1, 1.0), 0.0)
        direction = (inverse @ x[row, worst][:, :, None])[:, :, 0]
        along = (x @ direction[:, :, None])[:, :, 0]
        # Sherman–Morrison for (1−ν)V + ν a a^T.
        factor = nu / (1 - nu + nu * g)
        keep = 1 / (1 - nu)
        inverse -= factor[:, None, None] * direction[:, :, None] * direction[:, None, :]
        inverse *= keep[:, None, None]
        along *= along
        along *= factor[:, None]
        leverage -= along
        leverage *= keep[:, None]
        weights *= (1 - nu)[:, None]
        weights[row, worst] += nu
        steps += open_
    return steps


def _balance(frame: Frame, weights: Floats) -> None:
    """Titterington's rule π_a ← π_a·g_a/m on the support, under which log det V never falls."""
    support, share = support_of(weights)
    x = np.take_along_axis(frame.coordinates, support[:, :, None], axis=1)
    for _ in range(_ROUNDS):
        share *= quadratic(x, _inverse(x, share, frame.pads)) / frame.rank[:, None]
    # A vanishing weight is not needed: an action without which the others do not span keeps π_a·g_a = 1.
    share[share < 1e-9] = 0.0
    share /= share.sum(axis=1, keepdims=True)
    weights[:] = 0.0
    np.add.at(weights, (np.arange(len(weights))[:, None], support), share)


def _inverse(x: Floats, share: Floats, pads: Bools) -> Floats:
    moment = (x * share[:, :, None]).transpose(0, 2, 1) @ x
    inverse = np.linalg.inv(moment + pads[:, :, None] * np.eye(pads.shape[1]))
    return inverse.astype(np.float64, copy=False)


def raise_to_floor(weights: Floats, floor: float) -> Floats:
    """Every supported action gets at least ``floor``; the rest is shared in proportion to the excess over it.

    Where the floor does not fit (support × floor > 1) the weights become equal, and stay below it.
    """
    inside: Bools = weights > 0
    size = inside.sum(axis=1, keepdims=True)
    excess = np.where(inside, np.maximum(weights - floor, 0.0), 0.0)
    total = excess.sum(axis=1, keepdims=True)
    left = 1 - size * floor
    even = inside / size
    mixed = np.where(inside, floor + excess * left / np.where(total > 0, total, 1.0), 0.0)
    answer: Floats = np.where((left > 0) & (total > 0), mixed, even)
    return answer


def support_bound(rank: int) -> int:
    """⌊4·m·log log m + 16⌋, with log log m read as 0 for m < 3, where it is negative: never below m.

    Lattimore and Szepesvári 2020, ch. 21 (after Todd 2016) quote it for Frank–Wolfe from this start, targets
    ≥ 2.
    """
    return math.floor(4 * rank * max(math.log(math.log(max(rank, math.e))), 0.0) + 16)


def prune(x: Floats, weights: Floats) -> Floats:
    """Carathéodory: weights (k,) on at most m(m+1)/2 of the rows x (k, m), with V(π) at least what it was.

    A vector u with Σ u_a x_a x_a^T = 0 and Σ u_a ≤ 0 moves the weights without moving V until one of them is
    0; then Σ π ≤ 1, and dividing by it can only enlarge V, so that no leverage grows.
    """
    upper = np.triu_indices(x.shape[1])
    weights = weights / weights.sum()
    while True:
        rows = np.flatnonzero(weights > 0)
        if len(rows) <= len(upper[0]):
            return weights
        rows = rows[: len(upper[0]) + 1]
        moments = (x[rows, :, None] * x[rows, None, :])[:, upper[0], upper[1]]
        null = np.linalg.svd(moments.T)[2][-1]
        null = -null if null.sum() > 0 else null
        falls = null < -1e-12 * np.abs(null).max()
        reach = np.where(falls, weights[rows] / np.where(falls, -null, 1.0), np.inf)
        weights[rows] = np.maximum(weights[rows] + reach.min() * null, 0.0)
        weights[rows[reach.argmin()]] = 0.0
        weights /= weights.sum()
