"""The online face: the same algorithms, one client at a time.

``select`` hands out tickets, ``update`` takes rewards late, out of order, twice or never. It drives the same state
machine, privacy steps and door as ``algorithms.elimination.loop.run``; only public state is kept between batches.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from pathlib import Path
from typing import Any, Literal, NoReturn

import dpaudit as dp
from algorithms.elimination.loop import Play
from algorithms.elimination.setting import Design
from algorithms.online.client import Client, Report, Ticket, as_reward, client_report
from algorithms.online.course import Course
from algorithms.online.errors import BatchOutstanding, HorizonReached, UnknownTicket, UnreadableState
from algorithms.online.open_batch import Batch
from algorithms.online.state import Boundary, read_state, write_state
from algorithms.optimistic.registry import CALIBRATION as OPTIMISTIC
from algorithms.optimistic.registry import STEPS, optimistic_pieces
from algorithms.registry import pieces
from dpaudit.channel import Channel, is_live
from dpaudit.claims import DpauditError, InvalidValue, Leak, Number, exact, show
from dpaudit.ledger import Ledger

Algorithm = Literal["central", "local", "shuffled", "optimistic", "optimistic-local", "optimistic-shuffled"]

__all__ = [
    "BatchOutstanding",
    "Client",
    "HorizonReached",
    "OnlineBandit",
    "Report",
    "Ticket",
    "UnknownTicket",
    "UnreadableState",
    "client_report",
]


class OnlineBandit:
    """A private linear bandit for a deployment. ``ledger``: its live door's ledger; or ``channel``: a simulated door.

    ``missing`` stands in for rewards that never come (the middle of the range by default): batch size and noise
    stay as they are. ``state``: a file for the public state, written at every batch boundary. In the local model
    clients call ``Client.report`` and ``update`` takes that report; in the shuffled one this object plays the
    trusted shuffler, and tickets are for the clients alone. When a batch is closed is public: that must not
    depend on rewards.
    """

    def __init__(
        self, algorithm: Algorithm, *, epsilon: Number, delta: Number | None = None,
        horizon: Any, actions: Any = None, calibration: str | None = None, low: Number = -1, high: Number = 1,
        missing: Number | None = None, ledger: Ledger | None = None, channel: Channel | None = None,
        state: str | Path | None = None, design: Design = "frank-wolfe", maximum: str = "active",
    ) -> None:  # fmt: skip
        ends = exact(low, "low"), exact(high, "high")
        if ends[0] >= ends[1]:
            raise InvalidValue("low, high", (low, high), "in order: low below high")
        own = {
            "delta": show(exact(("1e-6" if algorithm.endswith("shuffled") else 0) if delta is None else delta, "delta")),
            "missing": show((ends[0] + ends[1]) / 2 if missing is None else exact(missing, "missing")),
        }  # fmt: skip
        parameters = {
            "algorithm": algorithm, "epsilon": show(exact(epsilon, "epsilon")), "horizon": horizon, "actions": actions,
            "calibration": calibration or (OPTIMISTIC if algorithm in STEPS else "tight"),
            "low": show(ends[0]), "high": show(ends[1]), "design": design, "maximum": maximum,
            **({"coins": secrets.randbits(63)} if algorithm in STEPS else {}), **own,
        }  # fmt: skip
        self._set_up(parameters, ledger, channel, state, None)

    @classmethod
    def load(cls, path: str | Path, *, ledger: Ledger | None = None, channel: Channel | None = None) -> OnlineBandit:
        """Go on from a saved state, which is kept up to date from here on.

        Batches that the ledger holds since are taken from there, at no cost. Rewards of an unfinished batch are
        gone, and its assignment is played again; reports of the local model are in the ledger and stay.
        Raises UnreadableState.
        """
        parameters, boundary = read_state(path, None if ledger is None else ledger.identity)
        bandit = cls.__new__(cls)
        try:
            bandit._set_up(parameters, ledger, channel, path, boundary)
        except (KeyError, TypeError, ValueError):
            raise UnreadableState(str(path), "it is not the saved state of an online bandit") from None
        return bandit

    def _set_up(
        self, parameters: dict[str, Any], ledger: Ledger | None, channel: Channel | None,
        path: str | Path | None, boundary: Boundary | None,
    ) -> None:  # fmt: skip
        _check_door(ledger, channel, parameters["calibration"])
        setting, step, claim = _parts(parameters)
        missing = float(exact(parameters["missing"], "missing"))
        if not setting.low <= missing <= setting.high:
            raise InvalidValue("missing", parameters["missing"], "in the declared range of rewards")
        self._parameters = {**parameters, "horizon": setting.horizon, "actions": setting.actions.tolist()}
        self._course = Course(setting, step, claim, missing, ledger, channel, parameters.get("coins", 0))
        self._path, self._lock, self._key = path, threading.RLock(), secrets.token_bytes(16)
        self._course.begin(boundary)
        self._turn()

    def select(self) -> Ticket:
        """The next round. Raises BatchOutstanding when all of the batch is out, HorizonReached at the end."""
        with self._lock:
            batch = self._course.batch
            if batch is not None and self._all_out(batch):
                raise BatchOutstanding(batch.number, batch.waiting(), True)
            if self._next >= self._course.setting.horizon:
                raise HorizonReached(self._course.setting.horizon)
            played = self._next
            action = int(self._course.loop.best[0]) if batch is None else batch.action(played - batch.start)
            vector = tuple(self._course.setting.actions[action].tolist())
            self._next += 1
            number, terms = (None, None) if batch is None else (batch.number, self._course.terms())
            return Ticket(f"{played}-{self._seal(played)}", played, action, vector, number, terms)

    def update(self, ticket: Ticket | str, reward: Any) -> bool:
        """Take a reward, or in the local model a report; the last one closes the batch. False: it was not needed.

        A value is never refused: NaN counts as the lowest reward, others are clipped to the range.
        Raises UnknownTicket, and InvalidValue for what is no number, report or ticket.
        """
        with self._lock:
            played = self._round(ticket)
            if not isinstance(reward, Report):
                as_reward(reward)
            elif self._round(reward.ticket) != played:
                raise InvalidValue("report", "for another ticket", "the one made for this ticket")
            batch = self._course.batch
            if batch is None or played < batch.start or batch.arrived(played - batch.start):
                return False
            batch.put(played - batch.start, reward)
            if batch.waiting() == 0:
                self._close()
            return True

    def close_batch(self) -> None:
        """Close a batch whose rewards have all arrived: needed after a ledger could not be written, say."""
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
            ledger = self._course.ledger
            identity = None if ledger is None else ledger.identity
            write_state(path, self._parameters, identity, self._course.boundary)

    @property
    def batch(self) -> int | None:
        """The number of the open batch; None when the best action is played to the end."""
        return None if self._course.batch is None else self._course.batch.number

    @property
    def waiting(self) -> int:
        """How many rewards of the open batch are missing."""
        return 0 if self._course.batch is None else self._course.batch.waiting()

    def result(self) -> Play:
        """What is played over the whole horizon, once all batches are closed."""
        batch = self._course.batch
        if batch is not None:
            raise BatchOutstanding(batch.number, batch.waiting(), self._all_out(batch))
        return self._course.loop.result(single=True)

    def __repr__(self) -> str:
        where = "all batches closed" if self.batch is None else f"batch {self.batch}"
        horizon = self._course.setting.horizon
        return f"<OnlineBandit {self._parameters['algorithm']}, {where}, round {self._next} of {horizon}>"

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Leak("pickling or copying an online bandit (save(path) keeps its public state)")

    def _close(self) -> None:
        self._course.close()
        self._turn()

    def _turn(self) -> None:
        """A batch boundary: what is public now is saved."""
        self._next = self._course.boundary.time
        if self._path is not None:
            self.save(self._path)

    def _require_batch(self) -> Batch:
        if self._course.batch is None:
            raise DpauditError("no batch is open: all are closed, and the best action is played to the end")
        return self._course.batch

    def _all_out(self, batch: Batch) -> bool:
        """Is every round handed out? Rounds whose report the ledger has kept from before a restart are passed over."""
        while self._next < batch.start + batch.size and batch.arrived(self._next - batch.start):
            self._next += 1
        return self._next >= batch.start + batch.size

    def _seal(self, played: int) -> str:
        return hashlib.blake2b(str(played).encode(), key=self._key, digest_size=12).hexdigest()

    def _round(self, ticket: Ticket | str) -> int:
        """The round of a ticket that this object has handed out: no list of tickets is needed."""
        name = ticket.id if isinstance(ticket, Ticket) else ticket
        if not isinstance(name, str):
            raise InvalidValue("ticket", type(ticket).__name__, "a ticket or its id")
        number, _, seal = name.partition("-")
        if not number.isascii() or not number.isdigit() or len(number) > 20:
            raise UnknownTicket
        if not hmac.compare_digest(seal.encode(), self._seal(int(number)).encode()):
            raise UnknownTicket
        return int(number)


def _parts(parameters: dict[str, Any]) -> tuple[Any, Any, dp.Claim]:
    """Setting, step and claim of one of the two families. The optimistic one has rewards in [−1, 1] and no open choices."""
    name = parameters["algorithm"]
    if name not in STEPS:
        return pieces(**{key: value for key, value in parameters.items() if key != "missing"})
    if parameters["calibration"] != OPTIMISTIC:
        raise InvalidValue("calibration", parameters["calibration"], f"left out: {name} has no other than its own")
    if (parameters["low"], parameters["high"]) != ("-1", "1"):
        raise InvalidValue("low, high", (parameters["low"], parameters["high"]), "-1 and 1 for the optimistic algorithms")
    chosen = {key: parameters[key] for key in ("epsilon", "delta", "horizon", "actions")}
    return optimistic_pieces(name, **chosen)


def _check_door(ledger: Ledger | None, channel: Channel | None, calibration: str) -> None:
    if (ledger is None) == (channel is None):
        raise InvalidValue("ledger", "both or none", "given for a deployment, or else a simulated channel")
    if channel is not None and (is_live(channel) or channel.trials is not None):
        raise InvalidValue("channel", "live or of many trials", "a simulated door for one run")
    if ledger is not None and calibration == "printed":
        raise InvalidValue("calibration", calibration, "corrected or tight: as printed, the claim does not hold")
