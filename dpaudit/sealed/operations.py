"""Every operation whose effect on a trace is known, by the numpy function, method or operator that asks for it.

An operation gives None where it cannot say: the result is then untraced.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.sealed.traces import ranges
from dpaudit.sealed.traces.arithmetic import added, clip, contraction, divide, extreme, multiply, negative
from dpaudit.sealed.traces.conditions import compared, is_member, is_number, logic, where
from dpaudit.sealed.traces.counts import bincount, count_nonzero, histogram, ranked, sum_of_numbers
from dpaudit.sealed.traces.functions import binned, floored, function_of, numbers_for, raised, remainder, retyped, rounded
from dpaudit.sealed.traces.layout import index, joined, rearranged, transposed
from dpaudit.sealed.traces.norms import row_norm
from dpaudit.sealed.traces.sums import average, dot, matmul, mean, running, total

__all__ = ["FUNCTIONS", "METHODS", "PURE_METHODS", "UFUNCS", "index"]

Operation = Callable[..., Any]


def _reduced(a: Any, axis: Any = 0, keepdims: Any = False) -> Any:
    return total(a, axis, keepdims=keepdims)


def _reshaped(a: Any, *shape: Any, **more: Any) -> Any:
    """The method takes its lengths one by one, too."""
    return rearranged(np.reshape, ("shape",))(a, shape[0] if len(shape) == 1 else shape, **more)


UFUNCS: dict[tuple[np.ufunc, str], Operation] = {
    **{(f, "__call__"): function_of(f) for f in ranges.FUNCTIONS},
    **{(f, "__call__"): contraction(f) for f in ranges.CONTRACTIONS},
    **{(f, "__call__"): extreme(f) for f in (np.minimum, np.maximum, np.fmin, np.fmax)},
    **{(f, "__call__"): compared(f) for f in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)},
    **{(f, "__call__"): is_number(f) for f in (np.isnan, np.isfinite, np.isinf)},
    **{(f, "__call__"): logic(f) for f in (np.logical_and, np.logical_or, np.logical_xor, np.logical_not)},
    **{(f, "__call__"): logic(f) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert)},
    (np.add, "__call__"): added(np.add),
    (np.subtract, "__call__"): added(np.subtract),
    (np.multiply, "__call__"): multiply,
    (np.true_divide, "__call__"): divide,
    (np.negative, "__call__"): negative,
    (np.power, "__call__"): raised,
    (np.floor_divide, "__call__"): floored,
    (np.remainder, "__call__"): remainder,
    (np.matmul, "__call__"): matmul,
    (np.add, "reduce"): _reduced,
    (np.add, "accumulate"): running,
}

# The options that are known. Others, such as an output array, a type, or an order in memory, are left to numpy: untraced.
_MOVING: dict[Callable[..., Any], tuple[str, ...]] = {
    np.broadcast_to: ("shape",), np.expand_dims: ("axis",), np.flip: ("axis",), np.fliplr: (), np.flipud: (),
    np.moveaxis: ("source", "destination"), np.ravel: (), np.repeat: ("repeats", "axis"), np.reshape: ("shape",),
    np.roll: ("shift", "axis"), np.rot90: ("k", "axes"), np.squeeze: ("axis",), np.swapaxes: ("axis1", "axis2"),
    np.take: ("indices", "axis"), np.tile: ("reps",),
}  # fmt: skip
_JOINING: dict[Callable[..., Any], tuple[str, ...]] = {
    np.concatenate: ("axis",), np.stack: ("axis",), np.vstack: (), np.hstack: (), np.dstack: (), np.column_stack: (),
}  # fmt: skip

FUNCTIONS: dict[Callable[..., Any], Operation] = {
    **{f: rearranged(f, options) for f, options in _MOVING.items()},
    **{f: joined(f, options) for f, options in _JOINING.items()},
    np.transpose: transposed,
    np.sum: total,
    np.nansum: sum_of_numbers,
    np.mean: mean,
    np.average: average,
    np.cumsum: running,
    np.count_nonzero: count_nonzero,
    np.bincount: bincount,
    np.max: ranked(np.max),
    np.min: ranked(np.min),
    np.amax: ranked(np.max),
    np.amin: ranked(np.min),
    np.histogram: histogram,
    np.clip: clip,
    np.dot: dot,
    np.linalg.norm: row_norm,
    np.where: where,
    np.nan_to_num: numbers_for,
    np.digitize: binned,
    np.isin: is_member,
    np.round: rounded,
    np.around: rounded,
}

METHODS: dict[str, Operation] = {
    **{f.__name__: rearranged(f, _MOVING[f]) for f in (np.ravel, np.repeat, np.squeeze, np.swapaxes, np.take)},
    "flatten": rearranged(np.ravel, ()),
    "reshape": _reshaped,
    "transpose": transposed,
    "astype": retyped,
    "sum": total,
    "mean": mean,
    "cumsum": running,
    "clip": clip,
    "dot": dot,
    "max": ranked(np.max),
    "min": ranked(np.min),
    "round": rounded,
}

# Methods that give a new array and change nothing. The others of an array write, show or change what is in it.
_PURE = """all any argmax argmin argpartition argsort astype choose clip compress conj conjugate cumprod cumsum diagonal dot
    flatten max mean min nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes take trace transpose var"""
PURE_METHODS = frozenset(_PURE.split())
