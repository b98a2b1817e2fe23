"""Rows of a Poisson sample, plain or sealed. Sealed ones carry their sample: nothing that also holds other rows has a trace.

In a trace, ``removal`` says how a record can be absent, and values that differ in it do not combine. That of a sample is a
number of its own, so that a value which is proven at all is proven to be made of one sample alone.
"""

from __future__ import annotations

from itertools import count
from typing import Any, cast

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.sealed.array import Sealed, unseal
from dpaudit.sealed.row_facts import Facts
from dpaudit.sealed.trace import ANYONE, SHAPE, Elements, Private

_ROWS = "an array with one number or row for each record"
_numbers = count(2)  # True is the removal of a record from all of the data


class SampleMark(int):
    """Which sample a value is made of."""


def new_mark() -> SampleMark:
    return SampleMark(next(_numbers))


def mark_of(value: Any) -> SampleMark | None:
    """The sample that sealed data is made of, as far as is known; None for plain data and for all of the records."""
    removal: object = value._private.removal if isinstance(value, Sealed) else None
    return removal if isinstance(removal, SampleMark) else None


def count_rows(data: Any) -> int:
    """How many records there are: for the door alone."""
    value = unseal(data) if isinstance(data, Sealed) else np.asarray(data)
    if value.ndim == 0:
        raise InvalidValue("data", "a number", _ROWS)
    return int(value.shape[_axis(data, value.ndim)])


def chosen_rows(data: Any, coins: np.ndarray, mark: SampleMark) -> Any:
    """The rows whose coin came up. Sealed ones keep their trace where every row is one record that can be removed."""
    if not isinstance(data, Sealed):
        return np.asarray(data)[coins]
    private, removal = data._private, cast(bool, mark)
    axis = _axis(data, private.value.ndim)
    value = np.compress(coins, private.value, axis=axis)
    trace = private.trace
    if not isinstance(trace, Elements) or not private.removal or mark_of(data) is not None or not _alike(trace, axis, value.ndim):
        lost = private.lost("a sample of what is not one row per removable record", value, hidden=SHAPE)
        return Sealed(Private(value, lost.trace, private.precision, removal), data._run)
    sample = Elements(np.array(ANYONE), trace.low, trace.high, trace.nan, trace.axis, facts=Facts(joint=trace.facts.joint))
    return Sealed(Private(value, sample, private.precision, removal), data._run)


def count_trial_rows(data: Any, trials: int | None) -> int:
    """The same at a door with trials, which takes plain data; ``trials``: its first axis has as many entries, records follow."""
    if isinstance(data, Sealed):
        raise InvalidValue("data", "sealed", "plain at a door with trials: what is proven is proven of one run")
    shape = np.shape(data)
    if trials is not None and shape[:1] != (trials,):
        raise InvalidValue("data", f"shape {shape}", f"of shape ({trials}, records, …), as per_trial=True says")
    shape = shape if trials is None else shape[1:]
    if not shape:
        raise InvalidValue("data", "a number", _ROWS)
    return int(shape[0])


def masked_rows(data: Any, coins: np.ndarray, per_trial: bool) -> Any:
    """(trials, records, …) with the rows masked whose coin did not come up in a trial; behind the mask they are 0, so that what
    knows no masks, as a product of matrices, leaves them out too."""
    values = np.asarray(data) if per_trial else np.broadcast_to(np.asarray(data), (len(coins), *np.shape(data)))
    absent = np.broadcast_to(~coins.reshape(*coins.shape, *[1] * (values.ndim - 2)), values.shape)
    return np.ma.MaskedArray(np.where(absent, np.zeros((), values.dtype), values), absent)


def _axis(data: Any, ndim: int) -> int:
    """Along which records lie."""
    trace = data._private.trace if isinstance(data, Sealed) else None
    removable = isinstance(trace, Elements) and bool(data._private.removal)
    return ndim + trace.axis if removable and isinstance(trace, Elements) else 0


def _alike(trace: Elements, axis: int, ndim: int) -> bool:
    """Are bounds the same for every record? Else they would not fit the rows that are left."""
    ends = [end for end in (trace.low, trace.high) if end.ndim >= ndim - axis]
    return all(end.shape[axis - ndim] == 1 for end in ends)
