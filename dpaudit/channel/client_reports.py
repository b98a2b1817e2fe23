"""One report per client: the records that clients hold, and what the door hands back of their reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from dpaudit.channel.long_batches import in_parts, sum_by_tag
from dpaudit.claims import DpauditError, InvalidValue, exact
from dpaudit.noise import Noise, from_units, to_units
from dpaudit.sealed.array import Sealed, unseal

MOST_LABELS = 10**6

Interval = tuple[Fraction, Fraction]


class Records(Protocol):
    """Private values, one per client, with public tags. May be lazy: what is not asked for is never computed."""

    @property
    def n(self) -> int: ...  # clients (the largest number, where it differs between trials)
    @property
    def tags(self) -> np.ndarray | None: ...  # (n,) label of each client's report, in the order of clients
    @property
    def counts(self) -> np.ndarray: ...  # reports per tag: (k,) or (trials, k)
    def sealed(self) -> Sealed | None: ...
    def units(self, grid: Fraction) -> np.ndarray: ...  # (n,) or (trials, n)
    def sum_units(self, grid: Fraction) -> np.ndarray: ...  # (k,) or (trials, k)


class ArrayRecords:
    """Records held as a plain or sealed array of shape (n,) or (trials, n)."""

    def __init__(self, values: Any, tags: np.ndarray | None, trials: int | None, interval: Interval | None = None) -> None:
        self._sealed = values if isinstance(values, Sealed) else None
        self._values = unseal(values) if isinstance(values, Sealed) else np.asarray(values)
        if self._values.ndim != (1 if trials is None else 2) and not (trials is not None and self._values.ndim == 1):
            raise InvalidValue("values", f"shape {self._values.shape}", "one value per client")
        if trials is not None and self._values.ndim == 1:
            self._values = np.broadcast_to(self._values, (trials, len(self._values)))
        self.tags, self.interval = tags, interval
        if tags is not None and tags.shape != (self.n,):
            raise InvalidValue("tags", f"shape {tags.shape}", "one label per client")

    @property
    def n(self) -> int:
        return int(self._values.shape[-1])

    @property
    def counts(self) -> np.ndarray:
        return np.array([self.n]) if self.tags is None else np.bincount(self.tags[self.tags >= 0])

    def sealed(self) -> Sealed | None:
        return self._sealed

    def units(self, grid: Fraction) -> np.ndarray:
        units = in_parts(lambda part: to_units(part, grid), self._values)
        if self.interval is None:
            return units
        low, high = (math.floor(end / grid + Fraction(1, 2)) for end in self.interval)
        return np.clip(units, low, high, out=units)

    def sum_units(self, grid: Fraction) -> np.ndarray:
        return sum_by_tag(self.units(grid), self.tags, len(self.counts))


def hidden_among(records: Records) -> int:
    """The crowd that a shuffled report hides in: those with its tag, unless who got which tag is the shuffler's secret."""
    if records.tags is None or getattr(records, "secret_assignment", False):
        return records.n
    counts = np.asarray(records.counts)
    return int(counts[counts > 0].min(initial=records.n))


def as_records(values: Any, tags: Any, trials: int | None, interval: Interval | None = None) -> Records:
    """Lazy records as they are; arrays are wrapped. ``interval``: what plain values are clamped to."""
    if interval is not None and (isinstance(values, Sealed) or hasattr(type(values), "sum_units")):
        raise InvalidValue("interval", "given", "left out for sealed values: np.clip proves their interval")
    if hasattr(type(values), "sum_units"):
        lazy: Records = values
        return lazy
    labels = None if tags is None else _labels(tags, None)
    if labels is not None and labels.min(initial=0) < 0:
        raise InvalidValue("tags", "a negative one", "whole numbers from 0 on")
    return ArrayRecords(values, labels, trials, interval)


def read_interval(interval: Any, sensitivity: Any) -> Interval | None:
    """The ends of the interval that a door clamps plain values to; one report moves by its width at most."""
    if interval is None:
        return None
    if not isinstance(interval, tuple | list) or len(interval) != 2:
        raise InvalidValue("interval", type(interval).__name__, "a pair (low, high)")
    low, high = exact(interval[0], "interval"), exact(interval[1], "interval")
    if not low < high:
        raise InvalidValue("interval", (low, high), "a pair (low, high) with low < high")
    if not isinstance(sensitivity, Fraction) or sensitivity < high - low:
        raise InvalidValue("sensitivity", sensitivity, "at least the width of the interval that values are clamped to")
    return low, high


def multiset(units: np.ndarray, tags: np.ndarray | None) -> np.ndarray:
    """What leaves a shuffler: reports sorted within each tag, tags in order. Nothing tells who sent what."""
    if tags is None:
        return np.sort(units, axis=-1)
    parts = [np.sort(units[..., tags == tag], axis=-1) for tag in np.unique(tags)]
    return np.concatenate(parts, axis=-1) if parts else units


class Reports:
    """Reports that passed the door. Simulated, only what is asked for is drawn."""

    def __init__(
        self,
        draw: Callable[[str], np.ndarray],
        records: Records,
        noise: Noise,
        *,
        shuffled: bool,
        every: bool,
        sums_only: bool = False,
    ) -> None:
        self._draw, self._records, self._noise, self._shuffled = draw, records, noise, shuffled
        self._sums_only = sums_only
        self._units: np.ndarray | None = None
        self._sums: np.ndarray | None = None
        self._groups: np.ndarray | None = None  # the labels that the sums were drawn for; None for the tags
        if every:
            self._ask_values()

    def __len__(self) -> int:
        return self._records.n

    @property
    def values(self) -> np.ndarray:
        """Every report; in no order of clients (sorted within tags) when shuffled. Bits of a report are on the last axis."""
        if self._sums_only:
            raise DpauditError("these reports were asked for with sums_only=True; only .sum() is handed out")
        return from_units(self._noise.unfold(self._ask_values()), self._noise.grid)

    @property
    def tags(self) -> np.ndarray | None:
        """The tag of each entry of ``values``."""
        tags = self._records.tags
        return np.sort(tags) if tags is not None and self._shuffled else tags

    def sum(self, groups: Any = None) -> np.ndarray:
        """Sums per group: by tag when ``groups`` is None, else one label per report, or a sequence of ranges."""
        labels = None if groups is None else _labels(groups, self._records.n)
        if self._sums_only and labels is not None:
            raise DpauditError("these reports were asked for with sums_only=True; they are summed by their tags")
        if self._sums is None and (self._units is not None or (labels is not None and self._shuffled)):
            units, tags = self._ask_values(), self.tags if labels is None else labels
            size = np.shape(self._records.counts)[-1] if labels is None else int(labels.max(initial=-1)) + 1
            return from_units(sum_by_tag(units, tags, size, self._noise.unfold), self._noise.grid)
        if self._sums is None:
            if labels is not None:
                _relabel(self._records, labels)
            self._groups, self._sums = labels, self._draw("sums")
        elif not _same_labels(self._groups, labels):  # fresh noise would not be the noise of the same reports
            raise DpauditError("sums of these reports were drawn for other groups; ask for .values before .sum()")
        return from_units(self._sums, self._noise.grid)

    def _ask_values(self) -> np.ndarray:
        if self._sums is not None:
            raise DpauditError("the sums of these reports were drawn already; ask for .values before .sum()")
        if self._units is None:
            self._units = self._draw("reports")
        return self._units


def _same_labels(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)


def _relabel(records: Records, labels: np.ndarray) -> None:
    if not isinstance(records, ArrayRecords):
        raise InvalidValue("groups", "given", "left out for records that carry their own tags")
    records.tags = labels


def _labels(groups: Any, n: int | None) -> np.ndarray:
    """Labels 0…k−1, one per report (−1: in no group)."""
    if isinstance(groups, Sequence) and groups and isinstance(groups[0], range | slice) and n is not None:
        labels = np.full(n, -1)
        for label, part in enumerate(groups):
            labels[part if isinstance(part, slice) else slice(part.start, part.stop, part.step)] = label
        return labels
    labels = np.asarray(groups)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or (n is not None and len(labels) != n):
        raise InvalidValue("groups", f"shape {labels.shape}", "one whole-number label per report, or a list of ranges")
    if labels.max(initial=0) >= MOST_LABELS:
        raise InvalidValue("groups", "a label", f"below {MOST_LABELS}")
    return labels
