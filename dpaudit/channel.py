"""The door: the one way in which anything computed from private data leaves an algorithm.

``live`` draws exact noise, charges the budget and writes the ledger first; ``simulate`` draws the same law from a seed, for one
run or many trials at once; ``replay`` pins recorded outputs and collects the queries. The algorithm's code is the same for all.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import default_rng

from dpaudit.charges import cost
from dpaudit.claims import (
    OBSERVERS,
    DpauditError,
    Finding,
    InvalidValue,
    Leak,
    SensitivityError,
    exact,
    exact_delta,
    positive,
)
from dpaudit.doors import Event, Live, PathChanged, Pinned, Rest, Simulated, Transcript
from dpaudit.kept import Kept, written
from dpaudit.ledger import Budget, Cohort, Ledger, MemoryLedger, PureSums, Release
from dpaudit.ledger.slot import check_key
from dpaudit.noise import GRID, Noise, SecureSource, from_units, to_units
from dpaudit.notices import standing_watch
from dpaudit.reports import Records, Reports, as_records, hidden_among, multiset
from dpaudit.traced import (
    ADD_REMOVE,
    REPLACE_ONE,
    Sealed,
    Untraced,
    caller,
    dependence,
    in_one_interval,
    one_record_each,
    relation_of,
    unseal,
)

__all__ = ["Channel", "Event", "PathChanged", "Transcript", "is_live", "live", "replay", "simulate"]

_audited: ContextVar[list[Event] | None] = ContextVar("the door of an audit", default=None)


class Channel:
    """The door as an algorithm sees it. Made by ``live``, ``simulate`` or ``replay``."""

    def __init__(
        self,
        door: Simulated | Live | Pinned,
        *,
        ledger: Ledger | None = None,
        budget: Budget | None = None,
        observe: Callable[[Any], Any] | None = None,
        proven: bool = False,
        relation: str | None = None,
    ) -> None:
        self._door, self._ledger, self._budget, self._observe = door, ledger, budget, observe
        if ledger is not None:
            ledger.require(door.kind)
        self._proven, self._relation = proven, relation
        self._noticed = standing_watch() if proven else None  # what else happens to sealed data while the door is open
        self._kept = Kept()
        self._index: np.ndarray | None = None
        self._events: list[Event] = []
        self._findings: list[Finding] = []
        self._untraced: list[Finding] = []
        self._rng = default_rng([door.seed, 2])
        self._asked_rng, self._asked_secret = [False], [False]  # shared with views of some of the trials

    @property
    def trials(self) -> int | None:
        """None for one run; else the number of trials on the first axis of everything."""
        return self._door.trials if self._index is None else len(self._index)

    @property
    def rng(self) -> np.random.Generator:
        """Public randomness (ties, exploration). Its seed is part of the transcript, so a replay repeats it."""
        self._asked_rng[0] = True
        return self._rng

    @property
    def used_rng(self) -> bool:
        """Did public randomness take part? Then releases are not fixed in advance."""
        return self._asked_rng[0]

    @property
    def every_report(self) -> bool:
        """True when each report is drawn, false when sums of reports come from their own law."""
        return self._door.every_report

    @property
    def _live(self) -> bool:
        return isinstance(self._door, Live)

    @contextmanager
    def audited(self) -> Iterator[None]:
        """While a subject runs sealed: no other door takes its data, and it cannot read this door's memory."""
        token = _audited.set(self._events)
        try:
            yield
        finally:
            _audited.reset(token)

    @property
    def events(self) -> Sequence[Event]:
        """What passed, for auditors. A live door keeps nothing here."""
        if _audited.get() is self._events:
            raise Leak("the memory of the door", caller())
        return tuple(self._events)

    @property
    def transcript(self) -> Transcript:
        """The outputs so far, for ``replay``."""
        if _audited.get() is self._events:
            raise Leak("the memory of the door", caller())
        if self._live:
            raise DpauditError("a live door keeps no transcript; its ledger does")
        return Transcript([event.output for event in self._events], self._door.seed, self._door.trials, self.every_report)

    @property
    def findings(self) -> Sequence[Finding]:
        return tuple(self._findings)

    @property
    def untraced(self) -> Sequence[Finding]:
        """Where a trace was lost: no finding, but sensitivity is not proven there."""
        return tuple(self._untraced)

    def at(self, index: Any) -> Channel:
        """The same door for a subset of the trials."""
        if self.trials is None:
            raise InvalidValue("index", "given", "used with trials only; this door serves one run")
        chosen = np.atleast_1d(np.arange(self.trials)[index])
        if len(np.unique(chosen)) != len(chosen):
            raise InvalidValue("index", "a list with repeats", "a set of trials, each at most once")
        view = object.__new__(Channel)
        view.__dict__.update(self.__dict__)
        view._index = chosen if self._index is None else self._index[chosen]
        return view

    def secret_integers(self, below: Any) -> np.ndarray:
        """Secret uniform integers in [0, below), one per entry; simulation only."""
        if isinstance(self._door, Live):  # one run: a permutation from the cryptographic source serves it
            raise DpauditError("secret integers are for simulated trials; a live door gives secret_permutation")
        return self._secret_generator().integers(0, below)

    def secret_permutation(self, n: int) -> np.ndarray:
        """Secret randomness for a shuffler: part of the noise, never recorded, never pinned."""
        if isinstance(self._door, Live):
            return self._door.source.permutation(n)
        return self._secret_generator().permutation(n)

    def _secret_generator(self) -> np.random.Generator:
        """Notes that it was asked for: what is released later also depends on what no observer sees."""
        self._asked_secret[0] = True
        return self._door.generator if isinstance(self._door, Simulated) else default_rng()

    def release(
        self,
        name: str,
        value: Any,
        noise: Noise,
        *,
        sensitivity: Any,
        cohort: Any = None,
        to: str = "server",
        key: str | None = None,
        delta: Any = None,
    ) -> Any:
        """Add noise, charge the budget, write the ledger; the noisy value, in the shape of ``value``.

        ``key``: a release that was stored under this key is handed back, at no cost and without a draw, whatever the value is
        now; one that was charged and never stored is charged again. ``delta``: this release's share of the budget's δ, where it
        needs one (Gaussian noise); all of it by default, so that the record can have no second one.
        Raises ``BudgetExceeded`` before noise is drawn, and ``SensitivityError`` (DPA003) at a live door when the declared
        sensitivity is smaller than the one derived from sealed data.
        """
        self._check_call(name, noise, to, key)
        if to == "shuffled":
            raise InvalidValue("to", to, "another observer: only channel.reports(…) passes a shuffler")
        declared = _declared(sensitivity, self.trials)
        derived, touched, steps = self._derive(name, value, noise, declared)
        who = _joined(cohort, touched)
        if who.size == 0 and touched is None:
            raise InvalidValue("cohort", "empty", "the records whose data is released, or left out for all of them")
        units = to_units(unseal(value) if isinstance(value, Sealed) else value, noise.grid)
        if self.trials is not None and units.ndim == 0:
            units = np.broadcast_to(units, (self.trials,))
        if self.trials is not None and units.shape[0] != self.trials:
            raise InvalidValue("value", f"shape {units.shape}", f"of shape ({self.trials}, …): one entry per trial")
        if steps is None and isinstance(declared, Fraction):
            steps = _declared_steps(declared, noise, value, units, self.trials)
        record = None
        if steps is not None and self.trials is None:  # a record is about one run
            coordinates = units.size if self.trials is None else units.size // max(self.trials, 1)
            epsilon, spent = self._cost(noise, steps, coordinates, share=delta)
            record = Release(
                name=name, mechanism=noise.name, parameters=noise.parameters(), sensitivity=declared, derived=derived,
                epsilon=epsilon, delta=spent, cohort=who, to=to,
                extra={"steps": str(steps), "coordinates": str(coordinates), **_sealed_for(value, derived)},
            )  # fmt: skip
        output, fresh = self._pass(
            record, lambda: self._door.noise(noise, units, self._index), key, (name, "release", units.shape)
        )
        if fresh:
            self._remember(
                Event(
                    name, noise, units, output, declared, who, to, "release", self._index, derived, record=record,
                    hidden=self._asked_secret[0],
                )
            )  # fmt: skip
        result = from_units(output, noise.grid)
        return self._observe(result) if self._observe else (result[()] if np.ndim(result) == 0 else result)

    def reports(
        self,
        name: str,
        values: Any,
        noise: Noise,
        *,
        sensitivity: Any,
        cohort: Any = None,
        to: str = "server",
        tags: Any = None,
        key: str | None = None,
        delta: Any = None,
        sums_only: bool = False,
    ) -> Reports:
        """One report per client. ``tags``: public labels that travel with the reports, such as the action played.

        ``to="shuffled"``: the batch is one release, the sorted multiset. Sums are ``.sum(groups)``, reports ``.values``.
        ``key`` and ``delta`` as for ``release``; a shuffled batch needs a share of δ to be charged less than its reports. Under
        a key every report is drawn. ``sums_only``: nothing but sums by tag is handed out, so that whoever sees what is done with
        them sees the noise of all the reports in a sum.
        """
        self._check_call(name, noise, to, key)
        records = as_records(values, tags, self.trials)
        declared = _declared(sensitivity, self.trials)
        sealed = records.sealed()
        if to == "shuffled" and sealed is not None and not one_record_each(sealed):
            raise InvalidValue("values", "values that share records", "one report per record: amplification rests on it")
        derived, touched, steps = self._derive(name, sealed, noise, declared)
        who = _joined(cohort, touched)
        if steps is None and isinstance(declared, Fraction):
            steps = int(-(-declared // noise.grid))
        record = None
        if steps is not None and self.trials is None:  # a record is about one run
            shuffled = to == "shuffled"
            proven = sealed if shuffled and derived is not None else None
            apart = proven is not None and not in_one_interval(proven, float(steps * noise.grid))
            crowd = 1 if apart else hidden_among(records)  # values far apart tell whose they are: nothing hides them
            epsilon, spent = self._cost(noise, steps, 1, crowd if shuffled else None, share=delta)
            extra = {"steps": str(steps), "coordinates": "1", "crowd": str(crowd), **({"read": "sums"} if sums_only else {})}
            extra |= _sealed_for(sealed, derived)
            record = Release(
                name=name, mechanism=noise.name, parameters=noise.parameters(), sensitivity=declared, derived=derived,
                epsilon=epsilon, delta=spent, cohort=who, to=to, kind="shuffled" if shuffled else "reports", n=records.n,
                tags=_tag_counts(records), extra=extra,
            )  # fmt: skip

        def draw(kind: str) -> np.ndarray:
            if kind == "sums":
                query, counts = records.sum_units(noise.grid), records.counts
                output = self._door.sums(noise, query, counts)
            else:
                query, counts = records.units(noise.grid), None
                what = (name, to, query.shape, *_tag_counts(records).items())
                output, fresh = self._pass(record, lambda: self._shuffled(noise, query, to, records), key, what)
                if not fresh:
                    return output
            self._remember(
                Event(
                    name,
                    noise,
                    query,
                    output,
                    declared,
                    who,
                    to,
                    kind,
                    self._index,
                    derived,
                    counts,
                    records if kind == "reports" else None,
                    record,
                    self._asked_secret[0],
                )
            )
            return output

        every = self.every_report or key is not None
        return Reports(draw, records, noise.grid, shuffled=to == "shuffled", every=every, sums_only=sums_only)

    # --- what a release costs, and what is written ---

    def _check_call(self, name: str, noise: Noise, to: str, key: str | None) -> None:
        check_key(key)
        if not isinstance(name, str) or not name:
            raise InvalidValue("name", type(name).__name__, "a text that names the release")  # it may be the value, by mistake
        if not hasattr(noise, "log_ratio") or isinstance(noise, type):
            raise InvalidValue("noise", type(noise).__name__, "a mechanism such as dp.Laplace(scale)")
        if to not in OBSERVERS:
            raise InvalidValue("to", to if isinstance(to, str) else type(to).__name__, "one of " + ", ".join(OBSERVERS))

    def _derive(self, name: str, value: Any, noise: Noise, declared: Any) -> tuple[Fraction | None, Cohort | None, int | None]:
        """From sealed data: the proven sensitivity, whose data it is, and its size in steps of the grid."""
        if not isinstance(value, Sealed):
            self._refuse_unproven(name, "the value is not sealed")
            return None, None, None
        door = _audited.get()
        if door is not None and door is not self._events:
            raise Leak("another door", caller())
        found = dependence(value)
        if self.trials is not None and value.ndim and not isinstance(found, Untraced):
            found = Untraced("a sealed array over many trials", caller())  # its first axis is no coordinate
        self._refuse_after_leak(name)
        if isinstance(found, Untraced):
            message = f"release {name!r} lost its trace in {found.operation}"
            self._untraced.append(Finding("untraced", message, found.where))
            self._refuse_unproven(name, f"its trace was lost in {found.operation} at {found.where}")
            return None, None, None
        if self._relation not in (None, relation_of(value)):
            reason = f"its data is sealed for {relation_of(value)} neighbours, and this door is for {self._relation}"
            raise DpauditError(f"release {name!r} is refused: {reason}")
        derived = exact(found.sensitivity(noise.norm), "sensitivity")
        if isinstance(declared, Fraction) and derived > declared * (1 + Fraction(1, 10**12)):
            if self._door.strict:
                raise SensitivityError(name, declared, derived)
            self._findings.append(Finding("DPA003", str(SensitivityError(name, declared, derived))[8:], caller()))
        return derived, Cohort.of(found.cohort), found.steps(noise.grid, noise.norm)

    def _refuse_after_leak(self, name: str) -> None:
        """What left by another way, or would have on other data, may be in the value: no trace sees that."""
        if self._noticed is not None and self._noticed.leaks:
            self._refuse_unproven(name, f"private data left another way before: {self._noticed.leaks[0]}")
        if self._noticed is not None and self._noticed.doubts:
            doubt = self._noticed.doubts[0]
            self._refuse_unproven(name, f"{doubt.operation} at {doubt.where} fails on some data, and that would tell")

    def _refuse_unproven(self, name: str, reason: str) -> None:
        """A budget bounds every path only where each release's cost is proven."""
        if self._proven:
            raise DpauditError(f"release {name!r} is refused: {reason}, and this door takes proven releases only")

    def _cost(
        self, noise: Noise, steps: int | None, coordinates: int, shuffled: int | None = None, *, share: Any = None
    ) -> tuple[Fraction | None, Fraction]:
        """(ε, δ) for each record of the cohort; parameters that differ between trials are left to the auditor."""
        if steps is None:
            return None, Fraction(0)
        adds_epsilon = self._ledger is None or self._ledger.filter_name == PureSums.name  # others read the facts
        delta = self._budget.delta if self._budget and adds_epsilon else Fraction(0)
        if share is not None:
            delta = exact_delta(share)
        return cost(noise, steps, delta, coordinates=coordinates, shuffled=shuffled)

    def _shuffled(self, noise: Noise, query: np.ndarray, to: str, records: Records) -> np.ndarray:
        """Reports; it is forgotten who sent what before anything is stored. A pinned output is the multiset already."""
        output = self._door.noise(noise, query, self._index)
        if to != "shuffled" or isinstance(self._door, Pinned):
            return output
        return multiset(output, records.tags)

    def _pass(
        self, record: Release | None, draw: Callable[[], np.ndarray], key: str | None, what: tuple[Any, ...]
    ) -> tuple[np.ndarray, bool]:
        """What leaves, and whether it was drawn now rather than earlier under this key."""
        if self._ledger is None:
            return self._kept.passed(draw, key, what, self._index)
        if record is None or self.trials is not None:
            raise DpauditError("a ledger records one run; open the door without trials")
        return written(self._ledger, record, draw, key)

    def _remember(self, event: Event) -> None:
        if not self._live:
            self._events.append(event)


def _declared(sensitivity: Any, trials: int | None) -> Any:
    if isinstance(sensitivity, np.ndarray) and sensitivity.ndim:
        if sensitivity.shape != (trials,):
            raise InvalidValue("sensitivity", f"shape {sensitivity.shape}", "one number, or one per trial")
        if not (np.isfinite(sensitivity).all() and (sensitivity > 0).all()):
            raise InvalidValue("sensitivity", "an array", "finite and greater than 0 in every trial")
        return sensitivity
    return positive(sensitivity, "sensitivity")


def _declared_steps(declared: Fraction, noise: Noise, value: Any, units: np.ndarray, trials: int | None) -> int:
    """Declared sensitivity in steps of the grid. Rounding k float coordinates adds less than a step to each: less than k in
    L1, √k in L2."""
    steps = int(-(-declared // noise.grid))
    coordinates = units.size if trials is None else units.size // max(trials, 1)
    whole = not isinstance(value, Sealed) and np.asarray(value).dtype.kind in "biu" and (1 / noise.grid).denominator == 1
    if whole or coordinates <= 1:
        return steps
    return steps + (coordinates - 1 if noise.norm == 1 else math.isqrt(coordinates - 1) + 1)


def _joined(cohort: Any, touched: Cohort | None) -> Cohort:
    """Whose data it is: as derived, where it is; what was declared can only add to that."""
    if isinstance(cohort, Sealed):
        raise Leak("a cohort", caller())
    if touched is None:
        return Cohort.of(cohort)
    return touched if cohort is None else touched.union(Cohort.of(cohort))


def _sealed_for(value: Any, derived: Fraction | None) -> dict[str, str]:
    """For the record of a release with a proven sensitivity: for which neighbours that is proven."""
    return {} if derived is None else {"relation": relation_of(value)}


def _tag_counts(records: Records) -> dict[str, int]:
    counts = np.asarray(records.counts)
    return {} if counts.ndim != 1 or records.tags is None else {str(tag): int(c) for tag, c in enumerate(counts)}


def is_live(channel: Channel) -> bool:
    """Does this door belong to a deployment? For drivers; an algorithm must not ask."""
    return isinstance(channel._door, Live)


@contextmanager
def live(
    ledger: Ledger,
    budget: Any = None,
    *,
    filter: str | None = None,
    strict: bool = True,
    proven: bool = False,
    relation: str | None = None,
) -> Iterator[Channel]:
    """The door of a deployment: exact noise, cryptographic generator, ledger first. ``budget``: a Claim, (ε, δ) or ε.

    ``filter``: what keeps the budget. "pure-sums" (default) adds up ε and δ; "zcdp" adds up ρ, for Gaussian noise and for many
    small releases. Both hold when each release's noise is chosen after looking at the ones before it.
    ``proven=True``: takes only releases of sealed data whose trace is whole, so that the budget bounds every path. Together with
    a budget this is written down, and holds for every later door on the ledger.
    ``relation``: takes only data that is sealed for these neighbours, "replace-one" or "add-remove".
    ``strict=False``: a declared sensitivity below the proven one is charged at the proven one instead of refused.
    """
    limit = None if budget is None else Budget.of(budget)
    if relation not in (None, REPLACE_ONE, ADD_REMOVE):
        raise InvalidValue("relation", relation, f"{REPLACE_ONE} or {ADD_REMOVE}")
    ledger.require("deployment")
    if limit is not None:
        ledger.limit(limit, filter, proven=proven)
    elif filter is not None:
        raise InvalidValue("filter", filter, "given together with a budget")
    yield Channel(
        Live(SecureSource(), secrets.randbits(63), strict=strict),
        ledger=ledger,
        budget=limit or ledger.budget,
        proven=proven or ledger.proven,
        relation=relation,
    )


@contextmanager
def simulate(
    seed: int,
    trials: int | None = None,
    *,
    budget: Any = None,
    filter: str | None = None,
    ledger: Ledger | None = None,
    every_report: bool | None = None,
    observe: Callable[[Any], Any] | None = None,
    pinned: Sequence[np.ndarray | None] = (),
    rest: Rest = "drawn",
    proven: bool = False,
) -> Iterator[Channel]:
    """A seeded door of the same law, for one run or many trials at once. Never writes a deployment ledger.

    For auditors: ``pinned`` chooses the outputs of the first releases, ``rest`` how the others come about.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidValue("seed", seed, "a whole number of at least 0")
    if trials is not None and (isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1):
        raise InvalidValue("trials", trials, "None or a whole number of at least 1")
    if ledger is not None:
        ledger.require("simulated")
    limit = None if budget is None else Budget.of(budget)
    if ledger is None and limit is not None:
        ledger = MemoryLedger(kind="simulated")
    if ledger is not None and limit is not None:
        ledger.limit(limit, filter)
    every = bool(every_report) or ledger is not None  # sums drawn by their own law would pass the ledger by
    limit = ledger.budget if ledger is not None else None
    yield Channel(Simulated(int(seed), trials, every, pinned, rest), ledger=ledger, budget=limit, observe=observe, proven=proven)


@contextmanager
def replay(transcript: Transcript | Channel | Sequence[Any]) -> Iterator[Channel]:
    """All outputs pinned, queries collected: on any data the algorithm takes the same path, or ``PathChanged`` is raised."""
    if isinstance(transcript, Channel):
        transcript = transcript.transcript
    if not isinstance(transcript, Transcript):
        transcript = Transcript([to_units(np.asarray(output), GRID) for output in transcript], 0)
    door = Pinned(transcript.outputs, transcript.seed, transcript.trials, transcript.every_report)
    yield Channel(door)
