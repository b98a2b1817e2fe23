"""How a door is opened: for a deployment, for a simulation, or onto a recorded transcript.

Whoever opens doors hands them the theorem by which they charge shuffled batches: ``dp.live`` and its kin those of the accountants
(``dpaudit.deployment``), auditors none, as nothing is charged at their doors.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.channel.door import Channel
from dpaudit.channel.long_batches import Elsewhere
from dpaudit.channel.modes import Live, Pinned, Rest, Simulated, Transcript
from dpaudit.channel.release_cost import Amplifier, Composer, no_amplification, plain_sums
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Budget, Ledger, MemoryLedger
from dpaudit.ledger.checkpoint import Kept, Key, require_continuation
from dpaudit.noise import GRID, SecureSource, to_units
from dpaudit.sealed.array import ADD_REMOVE, REPLACE_ONE


def is_live(channel: Channel) -> bool:
    """Does this door belong to a deployment? For drivers; an algorithm must not ask."""
    return isinstance(channel._door, Live)


@dataclass(frozen=True)
class Doors:
    """Opens doors. ``amplify``: what n shuffled reports cost together; without a theorem, what one of them does. ``compose``:
    what equal releases cost together, from samples too; without a theorem, their sum."""

    amplify: Amplifier = no_amplification
    compose: Composer = plain_sums

    @contextmanager
    def live(
        self,
        ledger: Ledger,
        budget: Any = None,
        *,
        filter: str | None = None,
        strict: bool | None = None,
        proven: bool = False,
        relation: str | None = None,
        checkpoint: Kept | None = None,
        trusted_key: Key | None = None,
    ) -> Iterator[Channel]:
        """The door of a deployment: exact noise, cryptographic generator, ledger first. ``budget``: a Budget, Claim, (ε, δ) or ε.

        ``filter``: what keeps the budget. "pure-sums" (default) adds up ε and δ; "zcdp" adds up ρ, for Gaussian noise and for
        many small releases; "renyi" or "renyi(8)" adds up moments at one order that is fixed now, for any mixture; "gaussian"
        adds up μ², for Gaussian noise alone. All hold when each release's noise is chosen after looking at the ones before it.
        ``proven=True``: takes only releases of sealed data whose trace is whole, so that the budget bounds every path. Together
        with a budget this is written down, and holds for every later door on the ledger.
        ``relation``: takes only data that is sealed for these neighbours, "replace-one" or "add-remove".
        ``checkpoint``: opens only if the ledger goes on where this ends: a checkpoint or its file, signed by ``trusted_key``, or
        a head of ``ledger.head()`` that was kept elsewhere.
        A plain array is taken with one warning in the log that its sensitivity is only declared. ``strict=True`` refuses it;
        ``strict=False``: a declared sensitivity below the proven one is charged at the proven one instead of refused.
        Every release is logged under the name ``dpaudit``, without any value.
        """
        limit = None if budget is None else Budget.of(budget)
        if relation not in (None, REPLACE_ONE, ADD_REMOVE):
            raise InvalidValue("relation", relation, f"{REPLACE_ONE} or {ADD_REMOVE}")
        ledger.require("deployment")
        if checkpoint is not None:
            require_continuation(ledger, checkpoint, trusted_key)
        if limit is not None:
            ledger.limit(limit, filter, proven=proven)
        elif filter is not None:
            raise InvalidValue("filter", filter, "given together with a budget")
        yield Channel(
            Live(SecureSource(), secrets.randbits(63), strict=strict is not False),
            ledger=ledger,
            budget=limit or ledger.budget,
            proven=proven or ledger.proven,
            relation=relation,
            amplify=self.amplify,
            compose=self.compose,
            plain="refuse" if strict else "warn",
        )

    @contextmanager
    def simulate(
        self,
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
        elsewhere: Elsewhere | None = None,
    ) -> Iterator[Channel]:
        """A seeded door of the same law, for one run or many trials at once. Never writes a deployment ledger.

        ``elsewhere``: workers that draw long batches of reports (``dpaudit.auditors.runs.scheduler.connected``); the same
        reports, to the bit, as without them.
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
        door = Simulated(int(seed), trials, every, pinned, rest, elsewhere=elsewhere)
        yield Channel(
            door, ledger=ledger, budget=limit, observe=observe, proven=proven, amplify=self.amplify, compose=self.compose
        )

    @contextmanager
    def replay(self, transcript: Transcript | Channel | Sequence[Any]) -> Iterator[Channel]:
        """All outputs pinned, queries collected: on any data the algorithm takes the same path, or ``PathChanged`` is raised."""
        if isinstance(transcript, Channel):
            transcript = transcript.transcript
        if not isinstance(transcript, Transcript):
            transcript = Transcript([to_units(np.asarray(output), GRID) for output in transcript], 0)
        door = Pinned(transcript.outputs, transcript.seed, transcript.trials, transcript.every_report)
        yield Channel(door, amplify=self.amplify, compose=self.compose)
