"""The online face: the same algorithms, one client at a time.

``select`` hands out tickets, ``update`` takes rewards late, out of order, twice or never. It drives the same state
machine, privacy steps and door as ``algorithms.elimination.run``; only public state is kept between batches.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np

import dpaudit as dp
from algorithms.confidence import Calibration
from algorithms.elimination import Design, Plan, Play
from algorithms.local import Local
from algorithms.online_batch import Batch, Layout, hold_rewards, receive_reports
from algorithms.online_client import Report, Terms, Ticket, as_reward, client_report
from algorithms.online_state import (
    Boundary,
    OnlineElimination,
    Recorded,
    UnreadableState,
    read_state,
    write_state,
)
from algorithms.registry import pieces
from dpaudit.charges import cost
from dpaudit.claims import DpauditError, InvalidValue, Leak, Number, exact, show

__all__ = ["BatchOutstanding", "HorizonReached", "OnlineBandit", "Report", "Ticket", "UnknownTicket", "UnreadableState", "client_report"]  # fmt: skip


class UnknownTicket(DpauditError):
    """A ticket that this bandit did not hand out since it was started."""

    def __init__(self) -> None:
        super().__init__("unknown ticket: not handed out since this bandit was started; a restart discards an unfinished batch")


class BatchOutstanding(DpauditError):
    """Rewards of the open batch are missing."""

    def __init__(self, batch: int, waiting: int, handed_out: bool) -> None:
        self.batch, self.waiting = batch, waiting
        remedy = "update them, or finish_batch()" if handed_out else "select() and play its other rounds first"
        super().__init__(f"batch {batch} waits for {waiting} rewards: {remedy}")


class HorizonReached(DpauditError):
    """All rounds are played."""

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon
        super().__init__(f"all {horizon} rounds have been handed out")


class OnlineBandit:
    """A private linear bandit for a deployment. ``ledger``: its live door's ledger; or ``channel``: a simulated door.

    ``missing`` stands in for rewards that never come (the middle of the range by default): batch size and noise stay
    as they are. ``state``: a file for the public state, written at every batch boundary. In the local model clients call
    ``client_report`` and ``update`` takes that report; in the shuffled one this object plays the trusted shuffler, and
    tickets are for the clients alone. When a batch is closed is public: it must not depend on rewards.
    """

    def __init__(
        self, algorithm: Literal["central", "local", "shuffled"], *, epsilon: Number, delta: Number | None = None,
        horizon: Any, actions: Any = None, calibration: Calibration = "tight", low: Number = -1, high: Number = 1,
        missing: Number | None = None, ledger: dp.Ledger | None = None, channel: dp.Channel | None = None,
        state: str | Path | None = None, design: Design = "frank-wolfe", maximum: str = "active",
    ) -> None:  # fmt: skip
        bounds = exact(low, "low"), exact(high, "high")
        parameters = {
            "algorithm": algorithm, "epsilon": show(exact(epsilon, "epsilon")), "horizon": horizon, "actions": actions,
            "delta": show(exact(("1e-6" if algorithm == "shuffled" else 0) if delta is None else delta, "delta")),
            "calibration": calibration, "low": show(bounds[0]), "high": show(bounds[1]), "design": design, "maximum": maximum,
            "missing": show(sum(bounds) / 2 if missing is None else exact(missing, "missing")),
        }  # fmt: skip
        self._set_up(parameters, ledger, channel, state, None)

    @classmethod
    def load(
        cls, path: str | Path, *, ledger: dp.Ledger | None = None, channel: dp.Channel | None = None
    ) -> OnlineBandit:
        """Go on from a saved state. Batches that the ledger holds since are taken from there, at no cost; rewards
        of an unfinished batch are gone and its assignment is played again. Raises UnreadableState."""
        parameters, boundary = read_state(path, None if ledger is None else ledger.identity)
        bandit = cls.__new__(cls)
        try:
            bandit._set_up(parameters, ledger, channel, path, boundary)
        except (KeyError, TypeError, ValueError):
            raise UnreadableState(str(path), "it is not the saved state of an online bandit") from None
        return bandit

    def _set_up(
        self, parameters: dict[str, Any], ledger: dp.Ledger | None, channel: dp.Channel | None,
        path: str | Path | None, boundary: Boundary | None,
    ) -> None:  # fmt: skip
        _check_door(ledger, channel, parameters["calibration"])
        given = {key: value for key, value in parameters.items() if key != "missing"}
        setting, self._step, self._claim = pieces(given.pop("algorithm"), **given)
        self._missing = float(exact(parameters["missing"], "missing"))
        if not setting.low <= self._missing <= setting.high:
            raise InvalidValue("missing", parameters["missing"], "in the declared range of rewards")
        self._parameters = {**parameters, "horizon": setting.horizon, "actions": setting.actions.tolist()}
        self._setting, self._ledger, self._channel, self._path = setting, ledger, channel, path
        self._lock, self._key = threading.RLock(), secrets.token_bytes(16)
        self._loop = OnlineElimination(setting, self._step)
        with self._door():  # sets the budget, before anything else can spend from the ledger
            pass
        if boundary is not None:
            boundary.restore(self._loop)
        recorded = None if ledger is None else Recorded(ledger)
        self._open(recorded, fresh=boundary is None)

    # --- what a deployment calls ---

    def select(self) -> Ticket:
        """The next round. Raises BatchOutstanding when all tickets of the batch are out, HorizonReached at the end."""
        with self._lock:
            batch = self._batch
            while batch is not None and self._next < batch.start + batch.size and batch.arrived(self._next - batch.start):
                self._next += 1
            if batch is not None and self._next >= batch.start + batch.size:
                raise BatchOutstanding(batch.number, batch.waiting(), True)
            if self._next >= self._setting.horizon:
                raise HorizonReached(self._setting.horizon)
            ticket = self._ticket(self._next)
            self._next += 1
            return ticket

    def update(self, ticket: Ticket | str, reward: Any) -> bool:
        """Take a reward, or in the local model a report; the last one closes the batch. False: it was not needed.

        A value is never refused: NaN counts as the lowest reward, others are clipped to the range.
        Raises UnknownTicket, and InvalidValue for what is no number or no ticket.
        """
        with self._lock:
            played = self._round(ticket)
            if isinstance(reward, Report):
                if self._round(reward.ticket) != played:
                    raise InvalidValue("report", "for another ticket", "the one made for this ticket")
            else:
                as_reward(reward)
            batch = self._batch
            if batch is None or played < batch.start or batch.arrived(played - batch.start):
                return False
            batch.put(played - batch.start, reward)
            if batch.waiting() == 0:
                self._close()
            return True

    def close_batch(self) -> None:
        """Close the open batch, whose rewards have all arrived (again, after a ledger that could not be written)."""
        with self._lock:
            batch = self._require_batch()
            if batch.waiting():
                raise BatchOutstanding(batch.number, batch.waiting(), self._all_out(batch))
            self._close()

    def finish_batch(self) -> int:
        """Close the open batch now; the declared default stands in for what is missing. Returns how often it did.

        Later rewards of this batch are ignored. Raises BatchOutstanding while rounds of it were not handed out.
        """
        with self._lock:
            batch = self._require_batch()
            missing = batch.waiting()
            if not self._all_out(batch):
                raise BatchOutstanding(batch.number, missing, False)
            for slot in range(batch.size if missing else 0):
                batch.fill(slot)
            self._close()
            return missing

    def save(self, path: str | Path) -> None:
        """Write the public state of the last batch boundary; nothing of the open batch is in it."""
        with self._lock:
            identity = None if self._ledger is None else self._ledger.identity
            write_state(path, self._parameters, identity, self._boundary)

    # --- what anybody may know ---

    @property
    def batch(self) -> int | None:
        """The number of the open batch; None when the best action is played to the end."""
        return None if self._batch is None else self._batch.number

    @property
    def waiting(self) -> int:
        """How many rewards of the open batch are missing."""
        return 0 if self._batch is None else self._batch.waiting()

    @property
    def finished(self) -> bool:
        """Is nothing left to learn?"""
        return self._batch is None

    def result(self) -> Play:
        """What is played over the whole horizon, once all batches are closed."""
        if self._batch is not None:
            raise BatchOutstanding(self._batch.number, self._batch.waiting(), self._all_out(self._batch))
        return self._loop.result(single=True)

    def __repr__(self) -> str:
        where = "all batches closed" if self._batch is None else f"batch {self._batch.number}"
        return f"<OnlineBandit {self._parameters['algorithm']}, {where}, round {self._next} of {self._setting.horizon}>"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Leak("pickling or copying an online bandit (save(path) keeps its public state)")

    # --- batches ---

    def _door(self) -> AbstractContextManager[dp.Channel]:
        if self._channel is not None:
            return nullcontext(self._channel)
        assert self._ledger is not None
        return dp.live(self._ledger, budget=self._claim)

    def _close(self) -> None:
        assert self._batch is not None and self._plan is not None
        with self._door() as door:
            noisy = self._batch.statistic(door)
        self._loop.learn(self._plan, noisy)
        self._open(None)

    def _open(self, recorded: Recorded | None, fresh: bool = False) -> None:
        """Plan the next batch; with ``recorded``, first go through those that the ledger holds."""
        while True:
            self._boundary = Boundary.of(self._loop)
            self._plan = self._loop.plan()
            if self._plan is None or recorded is None:
                break
            if fresh and recorded.touches(self._loop, self._plan):
                raise DpauditError("this ledger holds a run over these rounds already; go on with OnlineBandit.load(state, ledger=…)")
            noisy = None if isinstance(self._step, Local) else recorded.statistic(self._loop, self._plan)
            if noisy is not None:
                self._loop.learn(self._plan, noisy)
            elif not isinstance(self._step, Local) and recorded.lost(self._loop, self._plan):
                self._loop.use_up(self._plan)
            else:
                break
        self._next = self._boundary.time
        self._batch = None if self._plan is None else self._start(self._plan, recorded)
        if self._path is not None:
            self.save(self._path)
        if self._batch is not None and self._batch.waiting() == 0:
            with self._door() as door:
                noisy = self._batch.statistic(door)
            self._loop.learn(self._plan, noisy)  # type: ignore[arg-type]
            self._open(recorded)

    def _start(self, plan: Plan, recorded: Recorded | None) -> Batch:
        layout = Layout(self._loop.pulls(plan, single=True), self._loop.batch, plan.scale[0])
        if isinstance(self._step, Local):
            known = {} if recorded is None else recorded.reports(self._loop, plan)
            return receive_reports(self._step, layout, self._stand_in, self._record, known)
        with self._door() as door:
            return hold_rewards(self._step, layout, self._setting.low, self._setting.high, self._missing, door)

    def _require_batch(self) -> Batch:
        if self._batch is None:
            raise DpauditError("no batch is open: all are closed, and the best action is played to the end")
        return self._batch

    def _all_out(self, batch: Batch) -> bool:
        return self._next >= batch.start + batch.size
