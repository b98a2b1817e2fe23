"""``channel.tree``: a stream of running sums, charged once for all its steps before anything is drawn.

A record that moves the stream by Δ in all, in one value or in several, moves the sums of one level by Δ together, and there are
L = ⌊log₂ steps⌋ + 1 levels. So the stream costs what L releases of sensitivity Δ cost: LΔ/b for Laplace noise, and √L·Δ/σ in the
place of Δ/σ for Gaussian noise. Laplace noise on several sums of a level that move by a + b is no worse than on one (see
``Planned.release``), also where earlier sums decide when a record comes: by induction from the last step, what is left of each
level is dominated by one release that moves by what is left.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.channel.declarations import Asked, check_call, declared_sensitivity, query_units, refuse_failing
from dpaudit.channel.discretion import discreet
from dpaudit.channel.modes import Event
from dpaudit.channel.planned.plan_progress import CallFacts
from dpaudit.channel.release_cost import Repetition
from dpaudit.channel.streams.dyadic_sums import DyadicSums, levels
from dpaudit.channel.weighted_sums import Query
from dpaudit.claims import DpauditError, Finding, InvalidValue, SensitivityError, whole
from dpaudit.ledger import Charge, Cohort, PureSums, Release
from dpaudit.noise import Noise, from_units
from dpaudit.sealed.array import Sealed, caller

if TYPE_CHECKING:
    from dpaudit.channel.door import Channel

MOST_STEPS = 2**40
MANY = 2**40  # numbers in one value; none has more
_FINE = 64  # units: Gaussian noise that is wider is compared with continuous noise, whatever the number of coordinates
_TOGETHER = "declare what one record adds to all values of the stream together"


def open_tree(channel: Channel, name: str, steps: Any, noise: Noise, sensitivity: Any, more: tuple[Any, str, Any]) -> Tree:
    """Charge a stream of ``steps`` running sums. ``more``: cohort, observer, share of δ. Raises BudgetExceeded, NotPlanned."""
    cohort, to, share = more
    check_call(name, noise, to, None)
    if to == "shuffled":
        raise InvalidValue("to", to, "another observer: only channel.reports(…) passes a shuffler")
    refuse_failing(noise)
    if noise.alphabet is not None:
        raise InvalidValue("noise", noise.name, "noise that is added: dp.Laplace(scale) or dp.Gaussian(sigma)")
    length = whole(steps, "steps", least=1, most=MOST_STEPS)
    declared = declared_sensitivity(sensitivity, channel.trials)
    asked = Asked(name, noise, declared, Cohort.of(cohort), to, None, None, None)
    if asked.cohort.size == 0:
        raise InvalidValue("cohort", "empty", "the records whose data may enter, or left out for all of them")
    channel._follow(asked, "tree", CallFacts(noise, cohort, channel._index, None, leaves=length))
    record = _record(channel, asked, length, share)
    if channel._ledger is not None:
        if record is None:
            raise DpauditError("a ledger records one run; open the door without trials")
        channel._write(record)
    return Tree(channel, asked, length, record)


def _record(channel: Channel, asked: Asked, length: int, share: Any) -> Release | None:
    """What a ledger writes when the stream is opened. A door for proven releases takes no value that moves by more."""
    if channel.trials is not None or not (channel.keeps_records or channel._ledger is not None):
        return None
    times, moved = levels(length), int(-(-asked.sensitivity // asked.noise.grid))
    coordinates = MANY if _any_size(asked.noise) and asked.noise.norm == 2 else 1
    paid = channel._repeated_cost(Repetition(asked.noise, moved, times, coordinates), share)
    proving = channel._proving
    known = replace(asked, derived=asked.sensitivity, relation=proving.relation) if proving.only else asked
    return known.record(paid, steps=moved, coordinates=coordinates, count=times if times > 1 else None, leaves=length)


def _any_size(noise: Noise) -> bool:
    """May values be arrays? Coarse Gaussian noise is accounted value by value, for one number."""
    return noise.norm == 1 or bool(np.all(np.asarray(noise.size, dtype=float) > _FINE * float(noise.grid)))


class Tree:
    """Running sums of what is added: numbers, or arrays of one shape. Made by ``channel.tree``."""

    def __init__(self, channel: Channel, asked: Asked, steps: int, record: Release | None) -> None:
        self.steps = steps
        self._channel, self._asked, self._record = channel, asked, record
        self._sums, self._moves = DyadicSums(), Moves()
        self._shape: tuple[int, ...] | None = None
        self._event: int | None = None  # where auditors find what the stream costs
        self._sealed = True

    def __copy__(self) -> Tree:
        return self  # a copy would have steps of its own that nobody paid for

    def __deepcopy__(self, memo: Any) -> Tree:
        return self

    @discreet
    def add(self, value: Any) -> Any:
        """Add one value; the noisy sum of all so far, in its shape. One record may enter through one value, or through
        several that it moves by the declared sensitivity in all.

        Raises DpauditError after the last step, and SensitivityError (DPA003) at a live door where sealed data moves more.
        """
        if self._sums.time >= self.steps:
            raise DpauditError(f"stream {self._asked.name!r} is over: it was opened for {self.steps} steps")
        channel, noise = self._channel, self._asked.noise
        value = value if isinstance(value, Sealed) else np.asarray(value)
        shrink = self._shrink(value)
        query = value if shrink == 1 else value * shrink
        asked = channel._ask(self._asked.name, query, noise, self._asked.sensitivity, None, self._asked.to)
        self._count_moves(asked)
        units = query_units(Query(query, noise), channel.trials)
        if self._shape not in (None, units.shape):
            raise InvalidValue("value", f"shape {units.shape}", f"of shape {self._shape}, as those before")
        self._shape = units.shape
        most = 2**61 // self.steps
        total = self._sums.add(np.clip(units, -most, most), self._draw)
        result = from_units(total, noise.grid) / shrink
        return channel._observe(result) if channel._observe else (result[()] if np.ndim(result) == 0 else result)

    def _draw(self, node: np.ndarray) -> np.ndarray:
        """Noise for the one sum that a step closes; for auditors it is a release like any other."""
        channel = self._channel
        output = channel._door.noise(self._asked.noise, node, channel._index)
        first = self._event is None and not channel._live
        if first:
            self._event = len(channel._events)
        channel._remember(self._asked, "release", node, output, self._record if first else None)
        return output

    def _shrink(self, value: Any) -> float:
        """Numbers in an array are rounded to the grid each for itself, which moves them further apart than the sensitivity says.
        They are shrunk before by a public factor that makes room for it, and stretched by it afterwards.

        Rounding d numbers adds less than d steps in L1 and √d in L2; that of the product and of floats up to 2^52 steps no more
        than as much again.
        """
        noise, trials = self._asked.noise, self._channel.trials
        shape = np.shape(value) if trials is None else np.shape(value)[1:]
        if not shape or (value.dtype.kind in "biu" and (1 / noise.grid).denominator == 1):
            return 1.0
        if not _any_size(noise):
            raise InvalidValue("value", f"shape {shape}", "a number, as Gaussian noise this narrow on its grid is accounted so")
        size = int(np.prod(shape))
        steps = float(np.min(np.asarray(self._asked.sensitivity, dtype=float))) / float(noise.grid)
        room = 2 * (size if noise.norm == 1 else isqrt(size) + 1) + 2
        if steps < 2 * room:
            raise InvalidValue("value", f"an array of {size} floats", "whole numbers, or noise on a finer grid")
        return 1 - room / steps

    def _count_moves(self, asked: Asked) -> None:
        """What sealed data proves of all values together. A stream is charged when it is opened, so a live door refuses what
        moves it by more; else that is a finding, and the record for auditors says it."""
        stream, channel = self._asked, self._channel
        if asked.derived is None or asked.steps is None:
            self._sealed = False
            self._renew(None, None, 0)
            return
        if not stream.cohort.everyone and asked.cohort.intersection(stream.cohort) != asked.cohort:
            raise InvalidValue("cohort", "too small", "all the records whose data enters the stream")
        moved, steps = self._moves.with_value(asked.derived, asked.steps, asked.cohort)
        declared = stream.sensitivity
        if isinstance(declared, Fraction) and (
            moved > declared * (1 + Fraction(1, 10**12)) or steps > -(-declared // stream.noise.grid)
        ):
            error = SensitivityError(stream.name, declared, max(moved, steps * stream.noise.grid), rewrite=_TOGETHER)
            if channel._proving.strict or channel._live:
                raise error
            channel._proving.findings.append(Finding("DPA003", error.detail, caller(), stream.name))
        self._moves.add(asked.derived, asked.steps, asked.cohort)
        if self._sealed:
            self._renew(moved, asked.relation, steps)

    def _renew(self, derived: Fraction | None, relation: str | None, steps: int) -> None:
        """The record as auditors read it, with what the values so far have shown."""
        record, stream = self._record, self._asked
        if (derived, relation) != (stream.derived, stream.relation):
            self._asked = replace(stream, derived=derived, relation=relation)
        if record is None or self._channel._live:
            return
        steps = max(steps, record.steps or 0)
        if (derived, relation, steps) == (record.derived, record.relation, record.steps):
            return
        self._record = replace(record, derived=derived, relation=relation, steps=steps)
        if self._event is not None:
            event = self._channel._events[self._event]
            if isinstance(event, Event):
                self._channel._events[self._event] = replace(event, record=self._record, derived=derived)


class Moves:
    """How far each record has moved a stream in all."""

    def __init__(self) -> None:
        self._sizes, self._steps = PureSums(), PureSums()
        self._furthest, self._most = Fraction(0), 0

    def with_value(self, moved: Fraction, steps: int, cohort: Cohort) -> tuple[Fraction, int]:
        """The furthest of any record if one more value moved these by so much, as a number and in steps of the grid."""
        sizes, counts = Charge(moved, cohort=cohort), Charge(Fraction(steps), cohort=cohort)
        furthest = max(self._sizes.would_cost(sizes)[0], self._furthest)
        return furthest, max(int(self._steps.would_cost(counts)[0]), self._most)

    def add(self, moved: Fraction, steps: int, cohort: Cohort) -> None:
        self._furthest, self._most = self.with_value(moved, steps, cohort)
        self._sizes.add(Charge(moved, cohort=cohort))
        self._steps.add(Charge(Fraction(steps), cohort=cohort))
