"""The span of an action set, and coordinates in it, for a whole stack of sets at once.

A stack is an array (G, K, d): G sets of K actions; an action that is not in its set is a row of zeros, which
no design ever picks. Every action a is written as a = Σ_i x_i p_i over m of the set's own actions p_1..p_m
(the pivots, m = rank). Leverage does not depend on the basis: a^T V(π)^+ a = x^T (Σ π x x^T)^{-1} x, and in
these coordinates the matrices are well conditioned even where the actions nearly lie in a smaller space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A direction in which no action reaches this share of the longest action is rounding, not a dimension. Its
# square is below the cut of a floating-point pseudo-inverse of V, so that both see the same rank; the bias is
# at most 1e-9·|θ|.
RANK_TOLERANCE = 1e-9
_BLOCK = 1 << 18  # numbers per temporary: stays in the cache


@dataclass(frozen=True)
class Frame:
    """``pivots`` (G, r) and ``coordinates`` (G, K, r), r = max rank; columns past a set's rank are zero."""

    pivots: Ints
    coordinates: Floats
    rank: Ints

    @property
    def pads(self) -> Bools:
        """(G, r): which columns lie past the rank of their set."""
        pads: Bools = np.arange(self.pivots.shape[1]) >= self.rank[:, None]
        return pads

    def take(self, index: Ints) -> Frame:
        """The frame of a part of the stack; no copy when it is the whole of it."""
        if len(index) == len(self.rank):
            return self
        return Frame(self.pivots[index], self.coordinates[index], self.rank[index])


def span(stack: Floats) -> Frame:
    """Pivots, rank and coordinates of each set of the stack. A set of zero vectors has rank 0.

    The pivots are Kumar and Yildirim's start (2005; for the symmetric set {±a}): each is the action
    that reaches farthest along a direction orthogonal to those before. The free choice of the direction is
    made by the action farthest from their span, which makes it Gram–Schmidt with pivoting and shows the rank.
    """
    count, _, dim = stack.shape
    sets = np.arange(count)
    residual = _block_sum(stack, None)
    longest = np.sqrt(residual.max(axis=1))
    refreshed = longest**2
    basis = np.zeros((count, dim, dim))
    pivots = np.zeros((count, dim), dtype=np.int64)
    rank = np.zeros(count, dtype=np.int64)
    for j in range(dim):
        # |a|² − Σ(a·q)² cancels once little is left of it: then the residual vectors are formed anew.
        if j and np.any((residual.max(axis=1) < 1e-6 * refreshed) & (rank == j)):
            residual = _block_sum(stack, basis[:, :, :j])
            refreshed = residual.max(axis=1)
        pick = residual.argmax(axis=1)
        vector = stack[sets, pick]
        for _ in range(2):  # twice is enough (Kahan, Parlett)
            vector = vector - _apply(basis, _apply(basis.transpose(0, 2, 1), vector))
        length = np.sqrt((vector**2).sum(axis=1))
        grows = (rank == j) & (length > RANK_TOLERANCE * longest)
        if not grows.any():
            break
        direction = np.where(grows[:, None], vector / np.where(grows, length, 1.0)[:, None], 0.0)
        basis[:, :, j] = direction
        pivots[:, j] = np.where(grows, pick, pivots[:, 0])
        rank += grows
        residual -= _apply(stack, direction) ** 2
    top = int(rank.max(initial=0))
    pivots, basis = pivots[:, :top], basis[:, :, :top]
    if not top:
        return Frame(pivots, np.zeros((*stack.shape[:2], 0)), rank)
    return Frame(pivots, coordinates(stack, basis, pivots, rank), rank)


def coordinates(stack: Floats, basis: Floats, pivots: Ints, rank: Ints) -> Floats:
    """Coordinates of all actions with respect to the pivots; ``basis`` is orthonormal, zero past the rank."""
    top = pivots.shape[1]
    corner = np.take_along_axis(stack, pivots[:, :, None], axis=1) @ basis
    pads = np.arange(top) >= rank[:, None]
    corner = np.where(pads[:, :, None], np.eye(top), corner)
    inverse = np.linalg.inv(corner)
    # a = x P and P = corner·basis^T, hence x = (a·basis)·corner^{-1}.
    answer: Floats = stack @ (basis @ inverse)
    thin = np.flatnonzero(np.abs(inverse).max(axis=(1, 2)) * np.abs(corner).max(axis=(1, 2)) > 1e4)
    if thin.size:  # one step of iterative refinement: rounding grows with the inverse, the residual shows it
        answer[thin] += (stack[thin] @ basis[thin] - answer[thin] @ corner[thin]) @ inverse[thin]
    return answer


def exchange(frame: Frame, aim: float) -> Frame:
    """Swap pivots for actions of larger volume until uniform weights on them have leverage ≤ ``aim``·m.

    Where no swap is left every |x_i| ≤ 1 (a barycentric spanner, Awerbuch and Kleinberg 2004); with m = 2
    then |x|² ≤ 2, and two actions of weight ½ have leverage m|x|² ≤ 2m. With m > 2 it may fall short of it.
    """
    pivots, x = frame.pivots.copy(), frame.coordinates.copy()
    live = np.arange(len(pivots))
    for _ in range(50 * pivots.shape[1]):
        part = x if len(live) == len(x) else x[live]
        flat = np.abs(part).reshape(len(part), -1)
        entry = flat.argmax(axis=1)
        far = (part**2).sum(axis=2).max(axis=1) > aim
        go = far & (np.take_along_axis(flat, entry[:, None], axis=1)[:, 0] > 1 + 1e-9)
        live, entry, part = live[go], entry[go], part[go]
        if not live.size:
            break
        action, place = np.divmod(entry, x.shape[2])
        row = np.arange(len(live))
        change = part[row, action].copy()
        step = change[row, place].copy()
        change[row, place] -= 1.0  # the simplex pivot: x ← x − x_i (x_new − e_i)/(x_new)_i
        x[live] = part - part[row, :, place][:, :, None] * (change / step[:, None])[:, None, :]
        pivots[live, place] = action
    return Frame(pivots, x, frame.rank)


def reconstruction_error(stack: Floats, frame: Frame) -> Floats:
    """(G,) the largest |a − Σ x_i p_i|, as a share of the longest action: are the coordinates right?"""
    corner = np.take_along_axis(stack, frame.pivots[:, :, None], axis=1)
    corner = np.where(frame.pads[:, :, None], 0.0, corner)
    worst, longest = np.zeros(len(stack)), np.zeros(len(stack))
    for rows in _blocks(stack):
        error = stack[:, rows] - frame.coordinates[:, rows] @ corner
        worst = np.maximum(worst, np.einsum("gkd,gkd->gk", error, error).max(axis=1))
        longest = np.maximum(longest, np.einsum("gkd,gkd->gk", stack[:, rows], stack[:, rows]).max(axis=1))
    return np.sqrt(worst / np.where(longest > 0, longest, 1.0))


def quadratic(x: Floats, matrix: Floats) -> Floats:
    """(G, K) the forms x^T M x of every row of every set."""
    answer = np.empty(x.shape[:2])
    for rows in _blocks(x):
        answer[:, rows] = np.einsum("gkr,gkr->gk", x[:, rows] @ matrix, x[:, rows])
    return answer


def _block_sum(stack: Floats, basis: Floats | None) -> Floats:
    """(G, K) squared norms of the actions, less their part in ``basis``."""
    answer = np.empty(stack.shape[:2])
    for rows in _blocks(stack):
        part = stack[:, rows]
        if basis is not None:
            part = part - (part @ basis) @ basis.transpose(0, 2, 1)
        answer[:, rows] = np.einsum("gkd,gkd->gk", part, part)
    return answer


def _apply(matrices: Floats, vectors: Floats) -> Floats:
    answer: Floats = (matrices @ vectors[:, :, None])[:, :, 0]
    return answer


def _blocks(stack: npt.NDArray[Any]) -> list[slice]:
    step = max(1, _BLOCK // max(1, stack.shape[0] * stack.shape[2]))
    return [slice(start, start + step) for start in range(0, stack.shape[1], step)]
