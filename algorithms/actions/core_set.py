"""Core sets: few actions and weights π on them, with a^T V(π)^+ a ≤ target·m for every action a, m = rank.

Lemma "core" of the paper, with its constant in the open: V(π) = Σ π_a a a^T. ``core_set`` is one set of any
size, ``core_sets`` a whole stack of sets; one code computes both, a single set is a stack of one. What is
reported is verified at the end from scratch: the coordinates give the actions back, and the inverse is
computed anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from algorithms.actions.design_weights import (
    improve,
    leverages,
    prune,
    raise_to_floor,
    support_bound,
    support_of,
    uniform,
)
from algorithms.actions.span import (
    RANK_TOLERANCE,
    Bools,
    Floats,
    Frame,
    Ints,
    exchange,
    reconstruction_error,
    span,
)
from dpaudit.claims import DpauditError, InvalidValue

Kind = Literal["frank-wolfe", "minimal"]
_STACK = 4_000_000  # numbers in one stack: larger jobs are done in parts


@dataclass(frozen=True)
class Design:
    """Indices into the actions, their weights (sum 1), rank m, verified leverage ≤ target·m, steps taken."""

    support: Ints
    weights: Floats
    rank: int
    leverage: float
    iterations: int


@dataclass(frozen=True)
class Designs:
    """Designs of G sets, padded to (G, k): padding repeats the first supported action, with weight 0."""

    support: Ints
    weights: Floats
    rank: Ints
    leverage: Floats


def core_set(actions: npt.ArrayLike, *, target: float = 2.0, floor: float = 0.0, kind: Kind = "frank-wolfe") -> Design:
    """A design of leverage at most ``target``·rank over all actions, with weights of at least ``floor``.

    "frank-wolfe": support at most ``support_bound(rank)`` for targets of 2 and more. "minimal": swaps, then
    adds one action at a time and balances; slower, with fewer actions (2 in the plane). Works in the span of
    the actions; repeated and zero vectors are fine. Raises ``InvalidValue`` for malformed, all-zero or
    non-finite actions, a target not above 1 and a floor that cannot be kept; ``DpauditError`` if no design
    could be verified.
    """
    stack = _check_actions(actions)
    if stack.ndim != 2:
        raise InvalidValue("actions", stack.shape, "an array of shape (actions, dimension)")
    weights, frame, leverage, steps = _solve(stack[None], target, floor, kind)
    support = np.flatnonzero(weights[0])
    return Design(support, weights[0, support], int(frame.rank[0]), float(leverage[0]), int(steps[0]))


def core_sets(
    actions: npt.ArrayLike,
    active: npt.ArrayLike,
    *,
    target: float = 2.0,
    floor: float = 0.0,
    kind: Kind = "frank-wolfe",
) -> Designs:
    """``core_set`` for G sets at once: actions (G, K, d), or the same (K, d) for all of them.

    ``active`` (G, K) says which actions a set has; ranks may differ. Raises as ``core_set`` does, and when a
    set has no active action.
    """
    every, mask = _check_actions(actions), np.asarray(active, dtype=np.bool_)
    if every.ndim not in (2, 3) or mask.ndim != 2 or mask.shape[1] != every.shape[-2]:
        raise InvalidValue("active", (every.shape, mask.shape), "of shape (sets, actions), matching the actions")
    if every.ndim == 3 and len(every) != len(mask):
        raise InvalidValue("active", (every.shape, mask.shape), "one row for each set of actions")
    step = max(1, _STACK // max(1, every.shape[-1] * every.shape[-2]))
    parts = [_part(every, mask, slice(i, i + step), target, floor, kind) for i in range(0, len(mask), step)]
    if not parts:
        raise InvalidValue("active", mask.shape, "at least one set")
    width = max(part.support.shape[1] for part in parts)
    return Designs(
        np.concatenate([_padded(part.support, part.support[:, :1], width) for part in parts]),
        np.concatenate([_padded(part.weights, np.zeros((1, 1)), width) for part in parts]),
        np.concatenate([part.rank for part in parts]),
        np.concatenate([part.leverage for part in parts]),
    )


def leverage(actions: npt.ArrayLike, support: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """max_a a^T V(π)^+ a, for weights normalised to sum 1; ∞ when the support does not span the actions."""
    stack = _check_actions(actions)[None]
    dense = np.zeros((1, stack.shape[1]))
    np.add.at(dense[0], np.asarray(support, dtype=np.int64), np.asarray(weights, dtype=np.float64))
    if not dense.sum() > 0 or dense.min() < 0:
        raise InvalidValue("weights", "what was given", "zero or more, with a positive sum")
    frame = span(stack)
    _refuse_zero(frame)
    dense /= dense.sum()
    chosen = frame.coordinates[0][dense[0] > 0]
    if len(chosen) < frame.rank[0] or np.linalg.matrix_rank(chosen) < frame.rank[0]:
        return math.inf
    return float(_verified(stack, frame, dense)[0])


def _solve(stack: Floats, target: float, floor: float, kind: Kind) -> tuple[Floats, Frame, Floats, Ints]:
    """Weights, frame, verified leverage and steps; a set that misses its target is tried with lower aims."""
    if not (math.isfinite(target) and target > 1):
        raise InvalidValue("target", target, "a finite number above 1 (leverage rank itself is the optimum)")
    if not 0 <= floor <= 1:
        raise InvalidValue("floor", floor, "between 0 and 1")
    if kind not in get_args(Kind):
        raise InvalidValue("kind", kind, "one of " + ", ".join(get_args(Kind)))
    frame = span(stack)
    _refuse_zero(frame)
    weights = np.zeros(stack.shape[:2])
    reached, steps = np.full(len(stack), np.inf), np.zeros(len(stack), dtype=np.int64)
    open_ = np.arange(len(stack))
    # A floor is easier to keep with few actions.
    kinds = dict.fromkeys((kind, "minimal") if floor > 0 else (kind,))
    for share, way in ((share, way) for share in (1e-9, 0.2, 0.4, 0.6, 0.8) for way in kinds):
        part, frame_part = (stack, frame) if len(open_) == len(stack) else (stack[open_], frame.take(open_))
        attempt, taken = _attempt(frame_part, target - (target - 1) * share, floor, way == "minimal")
        weights[open_], steps[open_] = attempt, steps[open_] + taken
        reached[open_] = _verified(part, frame_part, attempt)
        low = floor > 0 and np.where(attempt > 0, attempt, np.inf).min(axis=1) < floor * (1 - 1e-12)
        open_ = open_[(reached[open_] > target * frame_part.rank) | low]
        if not open_.size:
            return weights, frame, reached, steps
    if floor > 0:
        raise InvalidValue("floor", float(floor), f"smaller: with it no leverage of {target:g}·rank was found")
    raise DpauditError(f"no design of leverage {target:g}·rank could be verified; rescale the actions or raise the target")


def _attempt(frame: Frame, aim: float, floor: float, minimal: bool) -> tuple[Floats, Ints]:
    start = exchange(frame, aim) if minimal else frame
    weights = uniform(start)
    steps = improve(start, weights, aim, reweight=minimal)
    for g in np.flatnonzero((weights > 0).sum(axis=1) > _bounds(frame.rank)):
        rows = np.flatnonzero(weights[g])
        weights[g, rows] = prune(start.coordinates[g][rows, : frame.rank[g]], weights[g, rows])
    weights /= weights.sum(axis=1, keepdims=True)
    return (raise_to_floor(weights, floor) if floor > 0 else weights), steps


def _verified(stack: Floats, frame: Frame, weights: Floats) -> Floats:
    """(G,) leverage from scratch, in coordinates that were checked to give the actions back."""
    if reconstruction_error(stack, frame).max() > 4 * RANK_TOLERANCE:
        raise DpauditError("the actions are too ill-conditioned for a verified design; rescale them")
    reached: Floats = leverages(frame, weights / weights.sum(axis=1, keepdims=True)).max(axis=1)
    return reached


def _part(every: Floats, mask: Bools, sets: slice, target: float, floor: float, kind: Kind) -> Designs:
    stack = np.where(mask[sets][:, :, None], every if every.ndim == 2 else every[sets], 0.0)
    weights, frame, reached, _ = _solve(stack, target, floor, kind)
    support, share = support_of(weights)
    return Designs(support, share, frame.rank, reached)


def _padded(block: npt.NDArray[np.generic], fill: npt.NDArray[np.generic], width: int) -> npt.NDArray[np.generic]:
    missing = np.broadcast_to(fill, (len(block), width - block.shape[1]))
    return np.concatenate([block, missing], axis=1)


def _bounds(rank: Ints) -> Ints:
    table = np.array([support_bound(m) for m in range(int(rank.max()) + 1)], dtype=np.int64)
    answer: Ints = table[rank]
    return answer


def _check_actions(actions: npt.ArrayLike) -> Floats:
    array = np.asarray(actions, dtype=np.float64)
    if array.ndim < 2 or 0 in array.shape:
        raise InvalidValue("actions", array.shape, "a non-empty array of vectors")
    if not max(array.max(), -array.min()) < 1e100:  # squares stay finite; false for NaN
        raise InvalidValue("actions", "NaN, infinite or huge", "finite numbers below 1e100")
    return array


def _refuse_zero(frame: Frame) -> None:
    empty = np.flatnonzero(frame.rank == 0)
    if empty.size:
        raise InvalidValue(
            "actions",
            f"all zero in set {empty[0]}",
            "at least one non-zero active vector (add an action, or drop the set)",
        )
