"""A noisy threshold at the door: many numbers are compared with it, and only the answers "above" are paid for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.channel.declarations import Asked
from dpaudit.channel.discretion import discreet
from dpaudit.channel.modes import Event, Live, PathChanged, Pinned, Simulated
from dpaudit.claims import DpauditError, InvalidValue, SensitivityError
from dpaudit.ledger import Release
from dpaudit.noise import SparseVector, to_units
from dpaudit.noise.sampling.geometric import add_two_sided
from dpaudit.noise.sampling.simulation import two_sided
from dpaudit.noise.selection.sparse_vector import NO, NOT_ASKED, YES
from dpaudit.sealed.array import Sealed, unseal

Units = np.ndarray


class Exhausted(DpauditError):
    """All the answers "above" that were paid for are given; no further number is compared."""

    def __init__(self, name: str, positives: int) -> None:
        self.release, self.positives = name, positives
        times = "once" if positives == 1 else f"{positives} times"
        super().__init__(
            f"{name!r} has answered “above” {times}, all that was paid for: open another channel.above(…), or ask for more with "
            "positives="
        )


@dataclass
class Comparisons:
    """Who answers: exact noise at a live door, the same law from a seed, answers that are pinned, none at all, or wild ones."""

    noise: SparseVector
    door: Simulated | Live | Pinned
    rows: int
    pinned: np.ndarray | None  # (rows, asked): answers that are given
    threshold: Units = field(init=False)
    place: int = field(init=False)  # among the releases of a replay

    def __post_init__(self) -> None:
        self.place = self.door.position - 1 if isinstance(self.door, Pinned) else 0
        zeros = np.zeros(self.rows, dtype=np.int64)
        self.threshold = self._noisy(zeros, self.noise.weight)

    def _noisy(self, units: Units, weight: Fraction) -> Units:
        if isinstance(self.door, Live):
            return add_two_sided(units, weight, self.door.source)
        if isinstance(self.door, Pinned) or self.door.rest != "drawn":
            return units
        return units + two_sided(float(1 / weight), units.shape, self.door.generator)

    def answer(self, margins: Units, place: int) -> Units:
        """1 where a number, so far above the threshold, is found above it, else 0."""
        if self.pinned is not None:
            if place >= self.pinned.shape[1]:
                raise PathChanged(self.place)
            return self.pinned[:, place]
        if isinstance(self.door, Simulated) and self.door.rest == "wild":
            return self.noise.wild(margins, self.door.generator)
        return np.where(self._noisy(margins, self.noise.answer_weight) >= self.threshold, YES, NO)


class Above:
    """Asks whether numbers are above a noisy threshold. Made by ``channel.above``, which has charged all of its answers.

    ``ask(value)`` gives True or False; with trials, one answer for each, and False without a comparison for a trial that has had
    all its answers "above". It raises ``Exhausted`` when no trial has any left.
    """

    def __init__(
        self, asked: Asked, comparisons: Comparisons, threshold: Units, trials: int | None, derive: Callable[[Any], Asked],
        observe: Callable[[Any], Any] | None,
    ) -> None:  # fmt: skip
        self._asked, self._comparisons, self._threshold, self._trials = asked, comparisons, threshold, trials
        self._derive, self._observe = derive, observe
        self._left = np.full(comparisons.rows, comparisons.noise.positives)
        self._margins: list[Units] = []
        self._answers: list[Units] = []
        self._proofs: list[Asked] = []  # what sealed numbers prove

    def __copy__(self) -> Above:
        return self  # a copy would have answers of its own that nobody paid for

    def __deepcopy__(self, memo: Any) -> Above:
        return self

    @property
    def positives_left(self) -> Any:
        """How often it may still answer “above”; it follows from what was answered."""
        left: Any = int(self._left[0]) if self._trials is None else self._left.copy()
        return left if self._observe is None else self._observe(np.asarray(left))

    @discreet
    def ask(self, value: Any) -> Any:
        """Is this number above the threshold, both with noise? Raises ``Exhausted`` after the last answer that was paid for."""
        if not self._left.any():
            raise Exhausted(self._asked.name, self._comparisons.noise.positives)
        proof = self._derive(value)
        derived = proof.derived
        if derived is not None and derived > self._asked.sensitivity * (1 + Fraction(1, 10**12)) and self._live:
            raise SensitivityError(self._asked.name, self._asked.sensitivity, derived)  # it was charged for less
        margins = self._margin(value)
        asking = self._left > 0
        answers = np.where(asking, self._comparisons.answer(margins, len(self._answers)), NOT_ASKED)
        self._left = self._left - (answers == YES)
        if not self._live:
            self._margins.append(np.where(asking, margins, 0))
            self._proofs.append(proof)
        self._answers.append(answers)
        above = answers == YES
        result = bool(above[0]) if self._trials is None else above
        return result if self._observe is None else self._observe(np.asarray(result))

    @property
    def _live(self) -> bool:
        return isinstance(self._comparisons.door, Live)

    def _margin(self, value: Any) -> Units:
        units = to_units(unseal(value) if isinstance(value, Sealed) else value, self._comparisons.noise.grid)
        rows = self._comparisons.rows
        if units.shape not in ((), (rows,)) or (self._trials is None and units.ndim):
            expected = "one number" if self._trials is None else f"one number, or one for each of {rows} trials"
            raise InvalidValue("value", f"shape {units.shape}", expected)
        return np.broadcast_to(units, rows) - self._threshold

    def event(self, record: Release | None, index: np.ndarray | None, hidden: bool) -> Event:
        """What an auditor sees of all answers together: how far each number was above the threshold, and what was answered."""
        shape = (self._comparisons.rows, len(self._answers))
        query, output = (
            np.stack(parts, axis=1) if parts else np.zeros(shape, np.int64) for parts in (self._margins, self._answers)
        )
        if self._trials is None:
            query, output = query[0], output[0]
        asked = self._proven()
        if record is not None:
            steps = asked.steps if asked.steps is not None else record.steps
            record = replace(record, derived=asked.derived, steps=steps, relation=asked.relation, values=output)
        return asked.event("answers", query, output, record=record, index=index, hidden=hidden)

    def _proven(self) -> Asked:
        """What sealed numbers prove of all that was asked; nothing unless all of them do."""
        if any(proof.derived is None for proof in self._proofs):
            return replace(self._asked, derived=None, steps=None, relation=None)
        if not self._proofs:
            return replace(self._asked, derived=self._asked.sensitivity)
        derived = max(proof.derived for proof in self._proofs if proof.derived is not None)
        steps = max(proof.steps or 0 for proof in self._proofs)
        return replace(self._asked, derived=derived, steps=steps, relation=self._proofs[0].relation)
