"""Nets: finitely many points of a set such that every point of it is within ζ of one of them.

The paper asks for ζ = 1/T (Lemma "net"), which has up to (3T)^d points; where that exceeds a limit the net is
as fine as fits, and its price in regret is stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from algorithms.actions.span import Floats, span
from dpaudit.claims import DpauditError, InvalidValue, whole

LIMIT = 4096
NORM_SLACK = 1e-9  # how far rounding may carry a norm above 1
_UP = 1 + 1e-12  # a covering radius is an upper bound: built a little finer than asked, and rounded up


@dataclass(frozen=True, eq=False)
class Net:
    """``points`` (K, d) of a set, each point of which is within ``zeta`` of one of them.

    ``price`` = horizon·zeta bounds what the discretisation can add to the regret when |θ| ≤ 1: the best point
    of the net is at most ⟨θ, a* − a⟩ ≤ ζ worse than a*, in each round. ``notice`` says what a user should
    know, or is empty.
    """

    points: Floats
    zeta: float
    price: float
    notice: str


def validate(actions: npt.ArrayLike) -> str:
    """Raise ``InvalidValue`` unless these are (K, d) finite vectors in the unit ball, not all zero.

    Returns a notice when they do not span R^d, else an empty text. Repeated actions are fine.
    """
    try:
        array = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue("actions", type(actions).__name__, "numbers in an array of shape (actions, dimension)") from None
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidValue("actions", array.shape, "a non-empty array of shape (actions, dimension)")
    if not np.isfinite(array).all():
        raise InvalidValue("actions", "NaN or infinite", "finite")
    norms = np.linalg.norm(array, axis=1)
    if norms.max() > 1 + NORM_SLACK:
        row = int(norms.argmax())
        raise InvalidValue("actions", float(norms[row]), f"of norm at most 1 (see row {row})")
    rank, dim = int(span(array[None]).rank[0]), array.shape[1]
    if rank == 0:
        raise InvalidValue("actions", "all zero", "at least one non-zero vector: every reward would have mean 0")
    if rank == dim:
        return ""
    return f"the actions span {rank} of {dim} dimensions; the algorithms work in that span"


def finest_net(horizon: int, limit: int, count: Callable[[float], int], build: Callable[[float], tuple[Floats, float]]) -> Net:
    """The net of ζ = 1/horizon, or the finest of at most ``limit`` points (to 0.1 % of ζ), with a notice."""
    horizon, limit = whole(horizon, "horizon"), whole(limit, "limit")
    wanted = zeta = 1 / horizon / _UP**2
    if count(wanted) > limit:
        if count(1.0) > limit:
            raise DpauditError(f"even a net of ζ = 1 has more than {limit} points: raise the limit or give a Finite set")
        low, zeta = wanted, 1.0
        while zeta > 1.001 * low:
            middle = math.sqrt(low * zeta)
            low, zeta = (middle, zeta) if count(middle) > limit else (low, middle)
    points, covering = build(zeta)
    covering *= _UP
    notices = [validate(points)]
    if zeta > wanted:
        notices.insert(
            0,
            f"the net of ζ = 1/{horizon} has more than {limit} points: ζ = {covering:.3g} is used instead, "
            f"which may add up to {math.ceil(horizon * covering)} to the regret",
        )
    return Net(points, covering, horizon * covering, "; ".join(filter(None, notices)))


def ellipsoid_count(axes: Floats, zeta: float, limit: int) -> int:
    """How many points ``ellipsoid`` has; any number above ``limit`` once it is known to exceed it."""
    dim, cell = len(axes), 2 * zeta / math.sqrt(len(axes))
    # The cells that meet the ellipsoid cover it, so there are at least volume/cell^d of them.
    volume = dim / 2 * math.log(math.pi) - math.lgamma(dim / 2 + 1) + float(np.log(axes / cell).sum())
    if volume > math.log(limit + 1):
        return limit + 1
    return len(_cells(axes, cell, limit)) + dim


def ellipsoid(axes: Floats, zeta: float) -> Floats:
    """A ζ-net of {Σ (y_i/s_i)² ≤ 1}: centres of the cubic cells that meet it, projected on it; and its tips.

    A point a of the ellipsoid lies in a cell of side 2ζ/√d, within ζ of its centre p. Projection Π on a
    convex set is 1-Lipschitz and Π(a) = a, so |Π(p) − a| ≤ |p − a| ≤ ζ. The tips s_i·e_i make it span,
    however thin an axis is.
    """
    cells = _cells(axes, 2 * zeta / math.sqrt(len(axes)), math.inf)
    return np.unique(np.concatenate([_project(cells, axes), np.diag(axes)]), axis=0)


def _cells(axes: Floats, cell: float, limit: float) -> Floats:
    """Centres of the cells that meet the ellipsoid, axis by axis; stops once past ``limit``.

    The cell's point nearest to 0 has |q_i| = max(|p_i| − cell/2, 0) on every axis at once, so the cell meets
    the ellipsoid just if Σ (q_i/s_i)² ≤ 1. A centre goes on with 0 on the next axis, so counts never fall.
    """
    points, used = np.zeros((1, 0)), np.zeros(1)
    for axis in axes:
        reach = math.floor(axis / cell + 0.5 + 1e-9)
        line = cell * np.arange(-reach, reach + 1)
        share = (np.maximum(np.abs(line) - cell / 2, 0.0) / axis) ** 2
        if len(line) > limit:
            return line[:, None]
        total = used[:, None] + share
        row, column = np.nonzero(total <= 1 + 1e-9)
        points, used = np.column_stack([points[row], line[column]]), total[row, column]
        if len(points) > limit:
            break
    return points


def _project(points: Floats, axes: Floats) -> Floats:
    """Projection on the ellipsoid: y_i = s_i² p_i/(s_i² + λ), λ ≥ 0 the root of Σ (y_i/s_i)² = 1."""
    squares = axes**2
    low = np.zeros(len(points))
    high = np.linalg.norm(points, axis=1) * axes.max()  # there Σ (s_i p_i/(s_i² + λ))² ≤ Σ s_i² p_i²/λ² ≤ 1
    for _ in range(80):
        middle = (low + high) / 2
        size = ((axes * points / (squares + middle[:, None])) ** 2).sum(axis=1)
        low, high = np.where(size > 1, middle, low), np.where(size > 1, high, middle)
    outside = ((points / axes) ** 2).sum(axis=1) > 1
    answer: Floats = np.where(outside[:, None], squares * points / (squares + high[:, None]), points)
    return answer


def grid(axes: list[Floats]) -> Floats:
    """All combinations of one value per axis, (K, d)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
