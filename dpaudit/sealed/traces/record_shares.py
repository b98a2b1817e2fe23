"""Sums: what is known of all entries of a record together narrows what the record adds to a sum, and how far it moves it.

Over records, a sum moves by the difference of two rows, or by one row where a record can be absent. Within a record,
|Σ x| ≤ ‖x‖₁ ≤ √m·‖x‖₂ for m entries (Cauchy and Schwarz).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dpaudit.sealed.dependence import distinct
from dpaudit.sealed.joint_bounds import FREE, Joint, Region, Shares
from dpaudit.sealed.row_facts import Facts, RowNorm
from dpaudit.sealed.trace import Elements, Spread, shared_out
from dpaudit.sealed.traces.entry_facts import Entries

_TINY = 2.0**-400  # the norm of shorter weights may be lost below the least float
_ROUNDING = 2.0**-50  # relative, of a root and a product

Shape = tuple[int, ...]
Axes = tuple[int, ...]


def with_shares(spread: Spread, trace: Elements, shape: Shape, axes: Axes, *, removal: bool) -> Spread:
    """The trace of a sum over the axes of the records, each of which has one row there, with what its rows say."""
    if trace.low.ndim == trace.high.ndim == 0:  # the same for all
        low, high = (np.full([length for place, length in enumerate(shape) if place not in axes], end) for end in trace.range[:2])
    else:
        low = np.broadcast_to(trace.low, shape).min(axis=axes, initial=np.inf)
        high = np.broadcast_to(trace.high, shape).max(axis=axes, initial=-np.inf)
    size = np.maximum(np.maximum(-low, high), 0.0)
    one_sign = bool(((low >= 0) | (high <= 0)).all())
    regions = tuple(_over(region, shape, axes) for region in trace.facts.regions)
    joint = trace.facts.joint
    joint = joint if removal or joint == FREE else joint.difference(one_sign=one_sign)
    return shared_out(replace(spread, joint=joint), Shares(regions, np.asarray(size), one_sign), removal=removal)


def _over(region: Region, shape: Shape, axes: Axes) -> Region:
    """Where a sum over these axes can be other than 0: somewhere in between."""
    low = np.broadcast_to(region.low, shape).min(axis=axes, initial=np.inf)
    high = np.broadcast_to(region.high, shape).max(axis=axes, initial=-np.inf)
    return Region(region.base, np.asarray(low), np.asarray(high))


def with_facts_of_sum(summed: Elements, trace: Elements, shape: Shape, axes: Axes) -> Elements:
    """The trace of sums within records, with what is known of the entries that were added."""
    count = math.prod(shape[place] for place in axes)
    joint = _joint(trace, shape)
    most = min(joint.l1, joint.l2 * math.sqrt(count) * (1 + _ROUNDING))
    low, high = np.maximum(summed.low, -most), np.minimum(summed.high, most)
    norms = Joint(joint.l1, joint.l1)
    regions = tuple(_over(region, shape, axes) for region in trace.facts.regions)
    return replace(summed, low=low, high=high, facts=Facts(norms, regions, norm=_norm(trace, shape, axes)))


def mapped_rows(summed: Elements, rows: Entries, weights: np.ndarray) -> Elements:
    """The trace of rows @ weights with public weights: |⟨x, w⟩| ≤ ‖x‖₂·‖w‖₂, and ‖x W‖₂ ≤ ‖x‖₂·‖W‖ (Frobenius).

    A computed product of d terms errs by d·2^-52 of the sum of their magnitudes, which is at most ‖x‖₂·‖w‖₂ as well.
    """
    joint, count = rows.facts.joint, len(weights)
    if math.isinf(joint.l2) or math.prod(rows.value.shape) == 0:
        return summed
    lengths = np.sqrt(np.square(weights.astype(float)).sum(axis=0)) * (1 + count * _ROUNDING)
    most = joint.l2 * lengths * (1 + count * _ROUNDING)
    norm = joint.l2 * float(np.sqrt(np.square(lengths).sum())) * (1 + (count + lengths.size) * _ROUNDING)
    if not (np.isfinite(norm) and (lengths > _TINY).all()):
        return summed
    facts = replace(summed.facts, joint=Joint(l2=norm).over(max(lengths.size, 1)))
    low, high = np.broadcast_arrays(np.maximum(summed.low, -most), np.minimum(summed.high, most))
    return replace(summed, low=low, high=high, facts=facts)


def joint_of_entries(trace: Elements, shape: Shape) -> Joint:
    """Norms of all entries of one record, by their ranges too."""
    axes = record_axes(trace, shape)
    if axes is None:
        return FREE
    size = np.broadcast_to(np.maximum(np.abs(trace.low), np.abs(trace.high)), shape).max(axis=axes, initial=0.0)
    return _joint(trace, shape).both(Shares((), np.asarray(size), False).peak[1])


def _joint(trace: Elements, shape: Shape) -> Joint:
    """Norms of all entries of one record, by what is known of them together and by where they vanish."""
    joint = trace.facts.joint
    axes = record_axes(trace, shape)
    if not trace.facts.regions or axes is None:
        return joint
    size = np.broadcast_to(np.maximum(np.abs(trace.low), np.abs(trace.high)), shape).max(axis=axes, initial=0.0)
    regions = tuple(_over(region, shape, axes) for region in trace.facts.regions)
    return joint.both(Shares(regions, np.asarray(size), False).peak[1])


def record_axes(trace: Elements, shape: Shape) -> Axes | None:
    """The axes along which each place is another record; None where a record has entries in several of them."""
    if trace.ids.ndim == 0:  # records that can be removed, or one record alone
        return (len(shape) + trace.axis,) if trace.ids == -1 else ()
    offset, ids = len(shape) - trace.ids.ndim, trace.ids
    for place in range(ids.ndim):
        first = ids.take([0], axis=place) if ids.shape[place] else ids
        ids = first if ids.shape[place] > 1 and bool((ids == first).all()) else ids
    axes = tuple(place + offset for place, length in enumerate(ids.shape) if length != 1)
    return axes if distinct(ids.ravel()) else None


def _norm(trace: Elements, shape: Shape, axes: Axes) -> RowNorm | None:
    """Sums of powers are norms, where they hold all entries of each record."""
    records = record_axes(trace, shape)
    if trace.facts.powers is None or records is None or len(axes) + len(records) != len(shape) or set(axes) & set(records):
        return None
    return RowNorm.of_sum(trace.facts.powers, math.prod(shape[place] for place in axes))
