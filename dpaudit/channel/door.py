"""The door as an algorithm sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.random import default_rng

from dpaudit.channel.client_reports import Records, Reports, as_records, multiset, read_interval
from dpaudit.channel.declarations import (
    Asked,
    check_call,
    check_report_call,
    crowd_of,
    declared_sensitivity,
    joined,
    query_units,
    tag_counts,
)  # fmt: skip
from dpaudit.channel.discretion import discreet
from dpaudit.channel.foreign.known_guarantee import known
from dpaudit.channel.keyed_releases import Kept, written
from dpaudit.channel.modes import Event, Live, Pinned, Simulated, Transcript
from dpaudit.channel.planned.plan import Plan
from dpaudit.channel.planned.plan_progress import CallFacts, Progress
from dpaudit.channel.proven_sensitivity import Proving
from dpaudit.channel.release_cost import Amplifier, Composer, Repetition, cost, no_amplification, plain_sums
from dpaudit.channel.release_log import heard, log_release
from dpaudit.channel.selection.verbs import Selecting
from dpaudit.channel.streams.binary_tree import Tree, open_tree
from dpaudit.channel.streams.poisson_sample import SampledPart, check_origin
from dpaudit.channel.streams.thresholded_counts import threshold_counts
from dpaudit.channel.weighted_sums import query_of
from dpaudit.claims import DpauditError, Finding, InvalidValue, Leak, exact_delta, show
from dpaudit.ledger import Budget, Ledger, PureSums, Release
from dpaudit.noise import Noise, from_units
from dpaudit.sealed.array import Sealed, caller, gathered, one_record_each, relation_of

_audited: ContextVar[list[Event | Callable[[], Event]] | None] = ContextVar("the door of an audit", default=None)


class Channel(Selecting):
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
        amplify: Amplifier = no_amplification,
        compose: Composer = plain_sums,
        plain: Literal["take", "warn", "refuse"] = "take",
    ) -> None:
        self._door, self._ledger, self._budget, self._observe = door, ledger, budget, observe
        self._amplify, self._compose = amplify, compose
        if ledger is not None:
            ledger.require(door.kind)
        self._proving = Proving(proven, relation, door.strict, plain)
        self._kept = Kept()
        self._plans: tuple[Progress, ...] = ()
        self._relation: str | None = None
        self._index: np.ndarray | None = None
        self._events: list[Event | Callable[[], Event]] = []  # a threshold's grows with what is asked
        self._rng = default_rng([door.seed, 2])
        self._asked_rng, self._asked_secret = [False], [False]  # shared with views of some of the trials
        self.keeps_records = True  # False: an auditor draws very many runs and reads their events alone

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
        return tuple(event if isinstance(event, Event) else event() for event in self._events)

    @property
    def transcript(self) -> Transcript:
        """The outputs so far, for ``replay``."""
        if _audited.get() is self._events:
            raise Leak("the memory of the door", caller())
        if self._live:
            raise DpauditError("a live door keeps no transcript; its ledger does")
        outputs = [event.output if isinstance(event, Event) else event().output for event in self._events]
        return Transcript(outputs, self._door.seed, self._door.trials, self.every_report)

    @property
    def findings(self) -> Sequence[Finding]:
        return tuple(self._proving.findings)

    @property
    def untraced(self) -> Sequence[Finding]:
        """Where a trace was lost: no finding, but sensitivity is not proven there."""
        return tuple(self._proving.untraced)

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

    def under(self, plan: Plan | None, relation: str | None = None) -> Channel:
        """The same door for one run under a plan, however long it is kept: what is not the plan's next release is refused.
        ``relation``: the neighbours that plain data is released for, where the door is not opened for some."""
        view = object.__new__(Channel)
        view.__dict__.update(self.__dict__)
        view._plans = self._plans if plan is None else (*self._plans, Progress(plan, self._door.trials))
        view._relation = relation or self._relation
        return view

    @property
    def relation(self) -> str | None:
        """The neighbours that it is opened for, "replace-one" or "add-remove"; None where that is not said."""
        return self._proving.relation or self._relation

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

    @discreet
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
        return self._release(name, value, noise, sensitivity, (cohort, to, key, delta))

    def _release(
        self,
        name: str,
        value: Any,
        noise: Noise,
        sensitivity: Any,
        more: tuple[Any, str, str | None, Any],
        part: SampledPart | None = None,
        rate: Fraction | None = None,
    ) -> Any:
        """``more``: cohort, observer, key, share of δ. ``part``: the sample that it is from; ``rate``: charged as sampled."""
        cohort, to, key, delta = more
        check_call(name, noise, to, key)
        if to == "shuffled":
            raise InvalidValue("to", to, "another observer: only channel.reports(…) passes a shuffler")
        value = gathered(value)
        query = query_of(name, value, noise, None if self._budget is None else self._budget.epsilon)
        planned, noise = noise, query.noise
        asked = self._ask(name, query.value, noise, sensitivity, cohort, to, query.weight, part)
        if asked.cohort.size == 0 and asked.derived is None:
            raise InvalidValue("cohort", "empty", "the records whose data is released, or left out for all of them")
        self._follow(asked, "release", CallFacts(planned, cohort, self._index, key, sampling=rate))
        units = query_units(query, self.trials)
        steps, record = asked.steps_of(value, units, self.trials), None
        if steps is not None and self.trials is None and (self.keeps_records or self._ledger is not None):
            # a record is about one run
            if rate:
                paid = self._repeated_cost(Repetition(noise, steps, 1, units.size, rate), delta)
            else:
                paid = self._cost(noise, steps, units.size, share=delta)
            record = asked.record(paid, steps=steps, coordinates=units.size, sampling=None if rate is None else show(rate))
        what = (name, "release", units.shape)
        output, fresh = self._pass(record, lambda: self._door.noise(noise, units, self._index), key, what)
        if fresh:
            self._remember(asked, "release", units, output, record)
        result = from_units(noise.unfold(output), noise.grid)
        return self._observe(result) if self._observe else (result[()] if np.ndim(result) == 0 else result)

    @discreet
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
        interval: Any = None,
    ) -> Reports:
        """One report per client. ``tags``: public labels that travel with the reports, such as the action played.

        ``to="shuffled"``: the batch is one release, the sorted multiset. Sums are ``.sum(groups)``, reports ``.values``.
        It is charged less than one report where its values are known to share one interval: sealed ones by their trace, plain
        ones if ``interval=(low, high)`` is declared, to which the door then clamps them; answers of randomised response always.
        ``key`` and ``delta`` as for ``release``; a shuffled batch needs a share of δ to be charged less than its reports. Under
        a key every report is drawn. ``sums_only``: nothing but sums by tag is handed out, so that whoever sees what is done with
        them sees the noise of all the reports in a sum.
        """
        check_report_call(name, noise, to, key)
        clamp = read_interval(interval, declared_sensitivity(sensitivity, self.trials))
        records = as_records(values, tags, self.trials, clamp)
        sealed, shuffled = records.sealed(), to == "shuffled"
        if shuffled and sealed is not None and not one_record_each(sealed):
            raise InvalidValue("values", "values that share records", "one report per record: amplification rests on it")
        asked = self._ask(name, sealed, noise, sensitivity, cohort, to)
        record = self._batch_record(asked, records, delta, sums_only)
        crowd = record.crowd if record is not None and shuffled else None
        self._follow(asked, "shuffled" if shuffled else "reports", CallFacts(noise, cohort, self._index, key, crowd))

        def draw(kind: str) -> np.ndarray:
            return self._sums(asked, records, record) if kind == "sums" else self._reports(asked, records, record, key)

        every = self.every_report or key is not None or not noise.summable
        return Reports(draw, records, noise, shuffled=shuffled, every=every, sums_only=sums_only)

    @discreet
    def tree(
        self, name: str, *, steps: int, noise: Noise, sensitivity: Any, cohort: Any = None, to: str = "server", delta: Any = None
    ) -> Tree:
        """A stream of running sums by a binary tree, charged here for all its steps; ``.add(value)`` gives the sum so far."""
        return open_tree(self, name, steps, noise, sensitivity, (cohort, to, delta))

    @discreet
    def threshold_counts(
        self, name: str, keys: Any, *, epsilon: Any, delta: Any, per_record: Any = 1, cohort: Any = None, to: str = "server"
    ) -> Any:
        """Noisy counts of keys that are not known in advance, those above a threshold that makes it (ε, δ)-DP. Each record
        counts for ``per_record`` distinct keys at most. Plain keys get the noise for replacing a record, which serves removing
        one too; sealed ones, and those of a subject, that of their neighbours. A dict; with trials, a list of one for each."""
        return threshold_counts(self, name, keys, (epsilon, delta, per_record), (cohort, to))

    @discreet
    def known(
        self, name: str, measure: Callable[[Any], Any], data: Any, *, epsilon: Any = None, delta: Any = 0, distance: Any = None,
        cohort: Any = None, to: str = "server",
    ) -> Any:  # fmt: skip
        """What a mechanism of another library gives of the data, charged by the (ε, δ) that it declares; for a measurement of
        OpenDP ``distance=…`` asks its own map. Live doors only, and never where releases must be proven."""
        return known(self, name, measure, data, (epsilon, delta, distance), (cohort, to))

    @contextmanager
    def sample(self, rate: Any) -> Iterator[SampledPart]:
        """A Poisson sample: ``part(data)`` gives its rows, ``part.release(…)`` is charged as sampled at this rate."""
        part = SampledPart(self, rate)
        try:
            yield part
        finally:
            part.close()

    # --- what is asked, what it costs, and what is written ---

    def _ask(
        self, name: str, value: Any, noise: Noise, sensitivity: Any, cohort: Any, to: str, weight: Fraction = Fraction(1),
        part: SampledPart | None = None,
    ) -> Asked:  # fmt: skip
        """What a call declares and what sealed data proves; while a subject is audited, no other door takes its data."""
        declared = declared_sensitivity(sensitivity, self.trials)
        door = _audited.get()
        if isinstance(value, Sealed) and door is not None and door is not self._events:
            raise Leak("another door", caller())
        check_origin(self, name, value, part)
        derived, touched, steps = self._proving.derive(name, value, noise, declared, self.trials is not None, weight)
        relation = None if derived is None else relation_of(value)
        return Asked(name, noise, declared, joined(cohort, touched), to, derived, steps, relation)

    def _follow(self, asked: Asked, kind: str, call: CallFacts) -> None:
        """Raise NotPlanned where a plan that is in force has another release next."""
        for progress in self._plans:
            progress.follow(asked, kind, call)

    def _batch_record(self, asked: Asked, records: Records, share: Any, sums_only: bool) -> Release | None:
        """The record of a batch of reports; None for many trials, as a record is about one run, and where nobody reads it. A
        plan does: it fixes the crowd."""
        steps, shuffled = asked.report_steps(), asked.to == "shuffled"
        read = self.keeps_records or self._ledger is not None or bool(self._plans)
        if steps is None or self.trials is not None or not read:
            return None
        crowd = crowd_of(asked, records, steps)
        paid = self._cost(asked.noise, steps, 1, crowd if shuffled else None, share=share)
        return asked.record(
            paid, kind="shuffled" if shuffled else "reports", n=records.n, tags=tag_counts(records),
            steps=steps, coordinates=1, crowd=crowd, read="sums" if sums_only else None,
        )  # fmt: skip

    def _sums(self, asked: Asked, records: Records, record: Release | None) -> np.ndarray:
        """Sums of reports by the law of the sum."""
        query, counts = records.sum_units(asked.noise.grid), records.counts
        output = self._door.sums(asked.noise, query, counts)
        self._remember(asked, "sums", query, output, record, counts=counts)
        return output

    def _reports(self, asked: Asked, records: Records, record: Release | None, key: str | None) -> np.ndarray:
        """Every report, drawn now or earlier under this key."""
        queries = [records.units(asked.noise.grid)]
        what = (asked.name, asked.to, queries[0].shape, *tag_counts(records).items())

        def draw() -> np.ndarray:  # a live door keeps no query, also not while it writes
            return self._shuffled(asked.noise, queries.pop() if self._live else queries[0], asked.to, records)

        output, fresh = self._pass(record, draw, key, what)
        if fresh and not self._live:
            self._remember(asked, "reports", queries[0], output, record, records=records)
        return output

    def _share(self, share: Any) -> Fraction:
        """The δ that a release is charged with, where it needs one: its own, or all of the budget's."""
        if share is not None:
            return exact_delta(share)
        adds_epsilon = self._ledger is None or self._ledger.filter_name == PureSums.name  # others read the facts
        return self._budget.delta if self._budget and adds_epsilon else Fraction(0)

    def _cost(
        self, noise: Noise, steps: int, coordinates: int, shuffled: int | None = None, *, share: Any = None
    ) -> tuple[Fraction | None, Fraction]:
        """(ε, δ) for each record of the cohort."""
        delta = self._share(share)
        return cost(noise, steps, delta, coordinates=coordinates, shuffled=shuffled, amplify=self._amplify)

    def _repeated_cost(self, repeated: Repetition, share: Any) -> tuple[Fraction | None, Fraction]:
        return self._compose(repeated, self._share(share))

    def _shuffled(self, noise: Noise, query: np.ndarray, to: str, records: Records) -> np.ndarray:
        """Reports; it is forgotten who sent what before anything is stored. A pinned output is the multiset already."""
        door = self._door
        if not isinstance(door, Pinned) and door.splits:
            output = door.reports(noise, query)
        else:
            output = door.noise(noise, query, self._index)
        if to == "shuffled" and not isinstance(self._door, Pinned):
            output = multiset(output, records.tags)
        if self._live:
            output.setflags(write=False)  # so that the ledger keeps this one, and no copy of it
        return output

    def _pass(
        self, record: Release | None, draw: Callable[[], np.ndarray], key: str | None, what: tuple[Any, ...]
    ) -> tuple[np.ndarray, bool]:
        """What leaves, and whether it was drawn now rather than earlier under this key."""
        if self._ledger is None:
            return self._kept.passed(draw, key, what, self._index)
        if record is None or self.trials is not None:
            raise DpauditError("a ledger records one run; open the door without trials")
        if not self._live:
            return written(self._ledger, record, draw, key)
        output, fresh = heard(record, self._ledger, partial(written, self._ledger, record, draw, key))()
        log_release(record, fresh=fresh)
        return output, fresh

    def _write(self, record: Release) -> None:
        """Charge and write down what is drawn afterwards, and kept by nobody."""
        if self._ledger is None:
            return
        if not self._live:
            self._ledger.append(record)
            return
        heard(record, self._ledger, partial(self._ledger.append, record))()
        log_release(record)

    def _remember(
        self, asked: Asked, kind: str, query: np.ndarray, output: np.ndarray, record: Release | None, **more: Any
    ) -> None:
        """For auditors. A live door keeps no query."""
        if not self._live:
            hidden = self._asked_secret[0]
            self._events.append(asked.event(kind, query, output, record=record, index=self._index, hidden=hidden, **more))
