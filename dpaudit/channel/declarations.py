"""What a call of the door says of a release: its sensitivity, whose data it is, and what its record and its event tell."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.channel.client_reports import Records, hidden_among
from dpaudit.channel.modes import Event
from dpaudit.channel.weighted_sums import Query
from dpaudit.claims import OBSERVERS, InvalidValue, Leak, positive, show
from dpaudit.ledger import Cohort, Release
from dpaudit.ledger.records.entry_texts import prepare
from dpaudit.ledger.store.slot import check_key
from dpaudit.noise import Noise, capped_steps, mechanism_of
from dpaudit.sealed.array import Sealed, caller, in_one_interval


@dataclass(frozen=True)
class Asked:
    """A call of the door: what it declares, and what sealed data proves of it (None where nothing does)."""

    name: str
    noise: Noise
    sensitivity: Any  # declared: a Fraction, or an array with one entry per trial
    cohort: Cohort
    to: str
    derived: Fraction | None
    steps: int | None  # proven
    relation: str | None  # the neighbours that it is proven for

    def steps_of(self, value: Any, units: np.ndarray, trials: int | None) -> int | None:
        """How far one record moves a release, in steps of the grid; None where that differs between trials."""
        if self.steps is None and isinstance(self.sensitivity, Fraction):
            return declared_steps(self.sensitivity, self.noise, value, units, trials)
        return self.steps

    def report_steps(self) -> int | None:
        """How far its client moves one report, which is one number."""
        if self.steps is None and isinstance(self.sensitivity, Fraction):
            return capped_steps(self.noise, int(-(-self.sensitivity // self.noise.grid)), 1)
        return self.steps

    def record(self, cost: tuple[Fraction | None, Fraction], **facts: Any) -> Release:
        """What a ledger writes of it, at this (ε, δ)."""
        tags = facts.pop("tags", {})
        if self.noise.fails:
            facts["failure"] = show(self.noise.failure)
        public = _record(self.noise, self.sensitivity, self.derived, cost, self.to, self.relation, tuple(facts.items()))
        made = public.about(self.name, self.cohort)
        return replace(made, tags=tags) if tags else made

    def event(self, kind: str, query: np.ndarray, output: np.ndarray, **more: Any) -> Event:
        """What an auditor sees of it."""
        return Event(
            self.name, self.noise, query, output, self.sensitivity, self.cohort, self.to, kind, derived=self.derived, **more
        )


@lru_cache(maxsize=1024)
def _record(
    noise: Noise, sensitivity: Fraction, derived: Fraction | None, cost: tuple[Fraction | None, Fraction], to: str,
    relation: str | None, facts: tuple[tuple[str, Any], ...],
) -> Release:  # fmt: skip
    """What releases of one noise, cost and observer share; a service makes many."""
    return prepare(
        Release(
            name="any", mechanism=noise.name, parameters=noise.parameters(), sensitivity=sensitivity, derived=derived,
            epsilon=cost[0], delta=cost[1], to=to, relation=relation, **dict(facts),
        )
    )  # fmt: skip


def check_call(name: str, noise: Noise, to: str, key: str | None, *, entrywise: bool = True) -> None:
    """``entrywise``: is noise added to each number, or does the call select?"""
    check_key(key)
    if not isinstance(name, str) or not name:
        raise InvalidValue("name", type(name).__name__, "a text that names the release")  # it may be the value, by mistake
    mechanism_of(noise)
    if noise.entrywise != entrywise:
        call = f"channel.{noise.verb}(…)"
        raise InvalidValue("noise", noise.name, f"noise for numbers: that is released by {call}" if entrywise else "a selection")
    if to not in OBSERVERS:
        raise InvalidValue("to", to if isinstance(to, str) else type(to).__name__, "one of " + ", ".join(OBSERVERS))


def check_report_call(name: str, noise: Noise, to: str, key: str | None) -> None:
    """The same for reports of clients."""
    check_call(name, noise, to, key)
    refuse_failing(noise)


def refuse_failing(noise: Noise) -> None:
    """Of noise that brings a failure with it only plain releases are accounted for."""
    if noise.fails:
        raise InvalidValue(
            "noise", noise.name, "released by channel.release(…) alone: no theorem here streams, samples or shuffles it"
        )


def declared_sensitivity(sensitivity: Any, trials: int | None) -> Any:
    if isinstance(sensitivity, np.ndarray) and sensitivity.ndim:
        if sensitivity.shape != (trials,):
            raise InvalidValue("sensitivity", f"shape {sensitivity.shape}", "one number, or one per trial")
        if not (np.isfinite(sensitivity).all() and (sensitivity > 0).all()):
            raise InvalidValue("sensitivity", "an array", "finite and greater than 0 in every trial")
        return sensitivity
    return positive(sensitivity, "sensitivity")


def declared_steps(declared: Fraction, noise: Noise, value: Any, units: np.ndarray, trials: int | None) -> int:
    """Declared sensitivity in steps of the grid. Rounding k float coordinates adds less than a step to each: less than k in
    L1, √k in L2."""
    steps = int(-(-declared // noise.grid))
    coordinates = units.size if trials is None else units.size // max(trials, 1)
    if coordinates <= 1 or noise.norm < 1:
        return capped_steps(noise, steps, coordinates)
    if not isinstance(value, Sealed) and np.asarray(value).dtype.kind in "biu" and (1 / noise.grid).denominator == 1:
        return capped_steps(noise, steps, coordinates)  # whole numbers are not rounded
    return steps + (coordinates - 1 if noise.norm == 1 else math.isqrt(coordinates - 1) + 1)


def joined(cohort: Any, touched: Cohort | None) -> Cohort:
    """Whose data it is: as derived, where it is; what was declared can only add to that."""
    if isinstance(cohort, Sealed):
        raise Leak("a cohort", caller())
    if touched is None:
        return Cohort.of(cohort)
    return touched if cohort is None else touched.union(Cohort.of(cohort))


def query_units(query: Query, trials: int | None) -> np.ndarray:
    """The query in steps of the grid, with trials as its first axis where there are any."""
    units = query.units()
    if trials is not None and units.ndim == 0:
        units = np.broadcast_to(units, (trials,))
    if trials is not None and units.shape[0] != trials:
        raise InvalidValue("value", f"shape {units.shape}", f"of shape ({trials}, …): one entry per trial")
    return units


def crowd_of(asked: Asked, records: Records, steps: int) -> int:
    """How many reports one of them hides among: at most the clients that the cohort names, as each sends one.

    Shuffled values that lie far apart tell whose they are: nothing hides them.
    They do not where the mechanism reads every value as one of its own answers, where the door clamps plain values to an
    interval, and where sealed ones are proven to lie in one. Plain values that are not clamped may be anywhere.
    """
    hidden = min(hidden_among(records), asked.cohort.size or records.n)
    if asked.to != "shuffled" or asked.noise.alphabet is not None or getattr(records, "interval", None) is not None:
        return hidden
    sealed = records.sealed() if asked.derived is not None else None
    together = sealed is not None and in_one_interval(sealed, float(steps * asked.noise.grid))
    return hidden if together else 1


def tag_counts(records: Records) -> dict[str, int]:
    counts = np.asarray(records.counts)
    return {} if counts.ndim != 1 or records.tags is None else {str(tag): int(c) for tag, c in enumerate(counts)}
