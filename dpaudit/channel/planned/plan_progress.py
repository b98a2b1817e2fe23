"""A plan in force: how far each trial is in it, and the refusal of every release that is not its next one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.channel.declarations import Asked
from dpaudit.channel.planned.plan import Plan, Planned, cohort_words
from dpaudit.claims import DpauditError, show
from dpaudit.claims.decimals import number
from dpaudit.ledger import Cohort
from dpaudit.noise import Noise, python_code
from dpaudit.noise.selection.thresholded_laplace import ThresholdedLaplace

ROUNDING = Fraction(1001, 1000)


class NotPlanned(DpauditError):
    """A door refused a release, as the plan that is in force has another one next, or none. No noise was drawn.

    ``expected``: the plan's next release, None after its last. ``release``: the name of the one that was asked for.
    """

    def __init__(self, release: str, expected: Planned | None, reason: str) -> None:
        self.release, self.expected = release, expected
        due = "the plan has no more releases" if expected is None else f"the plan's next release is {expected.words()}"
        super().__init__(f"release {release[:60]!r} is refused: {due}; {reason}")


@dataclass(frozen=True)
class CallFacts:
    """What a plan needs to know of a call beside what it asks for."""

    noise: Noise | ThresholdedLaplace  # as the call states it; what is drawn may lie on the grid of a weighted sum
    cohort: Any  # as declared; None: not declared
    index: np.ndarray | None
    key: str | None
    crowd: int | None = None  # of a shuffled batch, where it is known
    sampling: Fraction | None = None
    leaves: int | None = None  # of a stream


class Progress:
    """How far each trial is in a plan, for as long as the door that it was made for is used."""

    def __init__(self, plan: Plan, trials: int | None) -> None:
        self.plan = plan
        self._places = np.zeros(trials or 1, dtype=np.int64)
        self._keys: set[tuple[str, bytes]] = set()

    def __deepcopy__(self, memo: Any) -> Progress:
        return self  # a copied door is no second plan

    def follow(self, asked: Asked, kind: str, call: CallFacts) -> None:
        """Raise NotPlanned unless this is the plan's next release; else it has passed. Under a key, it passes once."""
        rows = np.arange(len(self._places)) if call.index is None else call.index
        mark = None if call.key is None else (call.key, rows.tobytes())
        if mark in self._keys:
            return
        for place in np.unique(self._places[rows]):
            expected = self.plan.at(int(place))
            reason = _other(expected, asked, kind, call)
            if reason:
                raise NotPlanned(asked.name, expected, reason)
        self._places[rows] += 1
        if mark is not None:
            self._keys.add(mark)


def _other(expected: Planned | None, asked: Asked, kind: str, call: CallFacts) -> str:
    """What is asked for instead, in words; empty where nothing is."""
    if expected is None:
        return "asked was one more"
    noise = _constant(call.noise)
    drawn = _constant(asked.noise)  # on the grid of a weighted sum; a plan may name either
    if (asked.name, kind) != (expected.name, expected.kind):
        return f"asked was {asked.name[:60]!r} ({kind})"
    if expected.noise not in (noise, drawn):
        return f"asked was {'other noise in each trial' if noise is None else python_code(noise)}"
    if not _same_sensitivity(asked.sensitivity, expected.sensitivity):
        shown = show(asked.sensitivity) if isinstance(asked.sensitivity, Fraction) else "one for each trial"
        return f"asked was sensitivity {shown}"
    if asked.to != expected.to:
        return f"asked was to={asked.to!r}"
    if call.sampling != expected.sampling:
        return "asked was " + ("no sample" if call.sampling is None else f"a sample at rate {show(call.sampling)}")
    if call.leaves is not None and call.leaves != expected.count:
        return f"asked was a stream of {call.leaves} running sums"
    return _other_records(expected, asked, call)


def _other_records(expected: Planned, asked: Asked, call: CallFacts) -> str:
    if expected.cohort is not None and Cohort.of(call.cohort) != expected.cohort:
        return f"asked was {cohort_words(Cohort.of(call.cohort))}; name the plan's with cohort="
    if expected.cohort is not None and asked.cohort != expected.cohort:
        return "asked was data of records that are not in its cohort"
    if call.crowd is not None and call.crowd < expected.crowd:
        return f"asked was a batch that hides a report among {call.crowd}"
    rounding = asked.derived is not None and asked.derived <= expected.sensitivity
    moved = Fraction(0) if asked.steps is None else asked.steps * asked.noise.grid
    if rounding and moved > expected.steps * expected.noise.grid and not asked.noise.entrywise:
        return "its scores are not proven to move all one way: plan it, and ask, without monotone"
    if rounding and moved > expected.steps * expected.noise.grid:
        return f'rounding to the grid adds to its sensitivity: plan it with "{number(moved)}"; what it declares may stay'
    return ""


def _same_sensitivity(declared: Any, planned: Fraction) -> bool:
    """A plan may say a thousandth more than a release declares, for what rounding to the grid adds: the plan's is charged."""
    if not isinstance(declared, Fraction):
        return bool(np.all(declared == float(planned)))
    return declared <= planned <= declared * ROUNDING


def _constant(noise: Noise | ThresholdedLaplace) -> Noise | ThresholdedLaplace | None:
    """Noise that is the same in every trial as the one that it is; None for others."""
    if isinstance(noise, ThresholdedLaplace) or isinstance(noise.size, Fraction):
        return noise
    return noise.at(0) if np.all(noise.size == noise.size[0]) else None
