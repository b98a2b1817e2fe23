"""Norms of the rows of records, and rows clipped to a norm."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import float_up
from dpaudit.noise import GRID
from dpaudit.sealed.joint_bounds import Joint
from dpaudit.sealed.row_clipping import clipped_rows, norm_units
from dpaudit.sealed.row_facts import Facts
from dpaudit.sealed.trace import Private
from dpaudit.sealed.traces.arithmetic import multiply
from dpaudit.sealed.traces.functions import entrywise, function_of, operand
from dpaudit.sealed.traces.record_shares import record_axes
from dpaudit.sealed.traces.sums import total

_GRID_BITS = 20


def row_norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Private | None:
    """np.linalg.norm along one axis, L1 or L2, as numpy computes it: by squares or magnitudes, their sum, and its root."""
    if not isinstance(axis, int | np.integer) or isinstance(ord, Private | str) or not isinstance(x, Private):
        return None
    if ord is None or ord == 2:
        summed = total(multiply(x, x), int(axis), keepdims=bool(keepdims))
        return None if summed is None else function_of(np.sqrt)(summed)
    return total(function_of(np.absolute)(x), int(axis), keepdims=bool(keepdims)) if ord == 1 else None


def clip_private_rows(rows: Private, norm: Fraction, order: int) -> Private | None:
    """Rows of one record each, clipped to a norm and to the grid; None where they are something else.

    Proof. A clipped row is a function of its own row alone, has norm at most ⌊norm/grid⌋·grid, and lies on the grid. A replaced
    record moves a sum of such rows by the difference of two of them, a removed one by one of them: by at most 2·norm and norm.
    """
    source = operand(rows)
    if source is None or not source.stable or record_axes(source.trace, source.value.shape) != (0,) or source.value.ndim > 2:
        return None
    most = float_up(norm_units(norm) * GRID)
    low, high = np.maximum(np.minimum(source.trace.low, 0.0), -most), np.minimum(np.maximum(source.trace.high, 0.0), most)
    joint = Joint(most, most) if order == 1 else Joint(most * math.sqrt(_width(source.value)) * (1 + 2.0**-50), most)
    facts = Facts(joint, source.facts.regions)
    return entrywise(lambda value: clipped_rows(value, norm, order), [source], (low, high, False), _GRID_BITS, facts=facts)


def _width(rows: np.ndarray) -> int:
    return math.prod(rows.shape[1:])
