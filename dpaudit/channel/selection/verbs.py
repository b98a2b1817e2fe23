"""The calls of the door that select: an index from scores, the noisy maximum, and comparisons with a noisy threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.channel.declarations import Asked, check_call
from dpaudit.channel.discretion import discreet
from dpaudit.channel.modes import Live, Pinned, Simulated
from dpaudit.channel.planned.plan_progress import CallFacts
from dpaudit.channel.proven_sensitivity import Proving
from dpaudit.channel.selection.scores import (
    noisy_max_of,
    one_sensitivity,
    score_units,
    selecting_noise,
    threshold_units,
    threshold_words,
    with_gap,
)
from dpaudit.channel.selection.threshold import Above, Comparisons
from dpaudit.claims import InvalidValue, Leak, exact_epsilon
from dpaudit.ledger import Cohort, Ledger, Release
from dpaudit.noise import GRID, Noise, SparseVector
from dpaudit.sealed.array import Sealed, caller, gathered


class Selecting:
    """Part of the door. What is released is an index or an answer, never a score; its cost is charged before it is drawn."""

    _door: Simulated | Live | Pinned
    _ledger: Ledger | None
    _proving: Proving
    _index: np.ndarray | None
    _observe: Callable[[Any], Any] | None
    _asked_secret: list[bool]
    _events: list[Any]
    keeps_records: bool
    trials: Any
    _ask: Callable[..., Asked]
    _follow: Callable[[Asked, str, CallFacts], None]
    _cost: Callable[..., tuple[Fraction | None, Fraction]]
    _pass: Callable[..., tuple[np.ndarray, bool]]
    _remember: Callable[..., None]

    @discreet
    def select(
        self, name: str, scores: Any, *, epsilon: Any, sensitivity: Any, monotone: bool = False, method: str = "exponential",
        cohort: Any = None, to: str = "server", key: str | None = None,
    ) -> Any:  # fmt: skip
        """The index of a good score: larger ones are likelier, by e^(ε·score/2Δ), and ε is what it costs.

        ``sensitivity``: how far one record moves any one score. ``monotone=True``: all scores move one way for every pair of
        neighbours, as counts do under add_remove; the scale is then half as large. Sealed scores must prove it (DPA005).
        ``method``: "exponential", which composes as bounded range, or "permute-and-flip", which chooses better scores.
        Raises as ``release`` does.
        """
        declared = one_sensitivity(sensitivity)
        return self._selected(name, scores, selecting_noise(method, epsilon, declared, monotone), declared, (cohort, to, key))

    @discreet
    def noisy_max(
        self,
        name: str,
        scores: Any,
        noise: Any,
        *,
        sensitivity: Any,
        cohort: Any = None,
        to: str = "server",
        key: str | None = None,
    ) -> Any:
        """The index of the largest score after Laplace noise on each of them; no noisy score is released.

        It costs ε = 2Δ/scale, where one record moves any one score by Δ; Δ/scale where sealed scores prove that all move one way.
        """
        return self._selected(name, scores, noisy_max_of(noise), one_sensitivity(sensitivity), (cohort, to, key), noise)

    @discreet
    def above(
        self, name: str, *, epsilon: Any, sensitivity: Any, threshold: Any, positives: int = 1, to: str = "server"
    ) -> Above:
        """Opens a noisy threshold: ``.ask(value)`` says whether a number is above it, as often as one likes, until it has said so
        ``positives`` times. All of it together costs ε, charged now. ``sensitivity``: how far one record moves any number asked.
        """
        declared, cost = one_sensitivity(sensitivity), exact_epsilon(epsilon)
        if isinstance(threshold, Sealed):
            raise Leak("a threshold", caller(), "a threshold is public: what it is compared with may be private")
        if not cost:
            raise InvalidValue("epsilon", epsilon, "greater than 0")
        noise = SparseVector(2 * (-(-declared // GRID) * GRID) / cost, positives)
        check_call(name, noise, to, None, entrywise=False)
        units = threshold_units(threshold, noise.grid, self.trials)
        asked = self._opened(name, noise, declared, to)
        self._follow(asked, "above", CallFacts(noise, None, self._index, None))
        record, rows = self._selection_record(asked), 1 if self.trials is None else int(self.trials)
        notes = {} if units.ndim else threshold_words(int(units) * noise.grid)
        record = None if record is None else _noted(record, notes)
        pinned = self._pinned_answers(noise, rows)
        if self._ledger is not None:
            self._pass(record, lambda: np.zeros(0, np.int64), None, (name, "above"))  # charged; its noise stays secret
        comparisons = Comparisons(noise, self._door, rows, pinned)

        def derive(value: Any) -> Asked:
            return self._ask(name, value, noise, declared, None, to)

        session = Above(asked, comparisons, np.broadcast_to(units, rows), self.trials, derive, self._observe)
        if not isinstance(self._door, Live):
            index, hidden = self._index, self._asked_secret[0]
            self._events.append(lambda: session.event(record, index, hidden))
        return session

    def _selected(
        self, name: str, scores: Any, noise: Noise, declared: Fraction, call: tuple[Any, str, str | None], planned: Any = None
    ) -> Any:
        cohort, to, key = call
        check_call(name, noise, to, key, entrywise=False)
        if to == "shuffled":
            raise InvalidValue("to", to, "another observer: only channel.reports(…) passes a shuffler")
        scores = gathered(scores)
        asked, findings = with_gap(
            self._ask(name, scores, noise, declared, cohort, to), scores, strict=self._proving.strict or self._proving.only
        )
        self._proving.findings += findings
        self._follow(asked, noise.verb, CallFacts(noise, cohort, self._index, key))
        units = score_units(scores, noise.grid, self.trials)
        record, what = self._selection_record(asked), (name, noise.verb, units.shape)
        output, fresh = self._pass(record, lambda: np.asarray(self._door.noise(noise, units, self._index)), key, what)
        if fresh:
            self._remember(asked, "selection", units, output, record)
        result: Any = int(output) if self.trials is None else np.asarray(output)
        return result if self._observe is None else self._observe(np.asarray(result))

    def _selection_record(self, asked: Asked) -> Release | None:
        steps = asked.steps if asked.steps is not None else -(-asked.sensitivity // asked.noise.grid)
        if self.trials is not None or not (self.keeps_records or self._ledger is not None):
            return None
        return asked.record(self._cost(asked.noise, int(steps), 1), steps=int(steps), coordinates=1)

    def _opened(self, name: str, noise: SparseVector, declared: Fraction, to: str) -> Asked:
        """Nothing is asked yet. A door for proven releases refuses every number that is not proven to move by what is declared:
        there, that is proven now."""
        proven = self._proving.only
        steps = int(-(-declared // noise.grid))
        derived, relation = (declared, self._proving.relation) if proven else (None, None)
        return Asked(name, noise, declared, Cohort.all(), to, derived, steps if proven else None, relation)

    def _pinned_answers(self, noise: SparseVector, rows: int) -> np.ndarray | None:
        """Answers that a replay, or an auditor, has chosen for this release."""
        if isinstance(self._door, Live):
            return None
        chosen = self._door.answers(noise, self._index)
        return None if chosen is None else chosen.reshape(rows, -1)


def _noted(record: Release, notes: dict[str, str]) -> Release:
    return replace(record, extra={**record.extra, **notes})
