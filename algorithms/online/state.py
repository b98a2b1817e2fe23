"""The public state of an online bandit at a batch boundary: as a file, and caught up with what its ledger holds."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from algorithms.elimination.batch_plans import Plan
from algorithms.elimination.loop import Elimination, Play, States
from algorithms.elimination.pulls import Pulls
from algorithms.online.errors import UnreadableState
from algorithms.online.open_batch import noise_of
from dpaudit.channel import sum_by_tag
from dpaudit.ledger import Cohort, Ledger, Release
from dpaudit.noise import from_units

SCHEMA = "dpaudit.online/1"


@dataclass(frozen=True)
class Boundary:
    """What is public between two batches, and all that is ever saved."""

    batch: int
    time: int
    active: list[int]
    pulls: list[int]
    history: list[int]
    best: int

    def inside(self, size: int, horizon: int) -> bool:
        """Can a bandit of so many actions and rounds be there?"""
        ranges = [(self.active, size), ([self.best], size), (self.pulls, horizon + 1)]
        valid = all(0 <= value < limit for values, limit in ranges for value in values)
        return valid and len(self.pulls) == size and sum(self.pulls) == self.time <= horizon and bool(self.active)


class OnlineElimination(Elimination):
    """The same loop. A batch that a crash has used up can make any batch the last, so each one notes the best action."""

    def _may_end(self, plan: Plan) -> np.ndarray:
        return np.ones(len(plan.total), bool)

    def use_up(self, plan: Plan) -> None:
        """These rounds were charged and their release was lost: they are over, and the batch is played again later."""
        np.add.at(self.states.pulls, (0, plan.support[0]), plan.counts[0])
        self.states.time = self.states.time + plan.total

    def boundary(self) -> Boundary:
        states = self.states
        return Boundary(
            self.batch, int(states.time[0]), np.flatnonzero(states.active[0]).tolist(),
            states.pulls[0].tolist(), states.history[0].tolist(), int(self.best[0]),
        )  # fmt: skip

    def restore(self, boundary: Boundary) -> None:
        """Put a fresh loop into this state. Raises ValueError when it is none that the loop can be in."""
        size = self.actions.shape[1]
        if not boundary.inside(size, self.setting.horizon) or len(boundary.history) != boundary.batch - 1:
            raise ValueError("not a state of this bandit")
        active = np.zeros((1, size), bool)
        active[0, boundary.active] = True
        history = np.array([boundary.history], np.int64).reshape(1, -1)
        pulls = np.array([boundary.pulls], np.int64)
        self.states = States(active, np.array([boundary.time], np.int64), pulls, history, np.zeros(1, np.int64))
        self.batch, self.best[0] = boundary.batch, boundary.best

    def sums(self, plan: Plan, values: np.ndarray) -> np.ndarray:
        """The statistic that sums of reports, or a released value, stand for: themselves."""
        return values


class OnlineLoop(Protocol):
    """What the online face drives: one run, a batch at a time."""

    setting: Any

    @property
    def batch(self) -> int: ...
    @property
    def states(self) -> Any: ...  # with ``time``
    @property
    def best(self) -> np.ndarray: ...
    def plan(self) -> Any: ...
    def pulls(self, plan: Any, single: bool) -> Pulls: ...
    def learn(self, plan: Any, noisy: np.ndarray) -> None: ...
    def use_up(self, plan: Any) -> None: ...
    def sums(self, plan: Any, values: np.ndarray) -> np.ndarray: ...
    def boundary(self) -> Boundary: ...
    def restore(self, boundary: Boundary) -> None: ...
    def result(self, single: bool) -> Play: ...


def write_state(path: str | Path, parameters: Mapping[str, Any], ledger: str | None, boundary: Boundary) -> None:
    """Replace the file as a whole, durably: a crash leaves the old one or the new one."""
    document = {"schema": SCHEMA, "parameters": dict(parameters), "ledger": ledger, "state": asdict(boundary)}
    path = Path(path)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def read_state(path: str | Path, ledger: str | None) -> tuple[dict[str, Any], Boundary]:
    """Parameters and boundary. Raises UnreadableState, also for a state of another ledger."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document["schema"] != SCHEMA:
            raise UnreadableState(str(path), f"its schema is not {SCHEMA}")
        parameters, owner, boundary = document["parameters"], document["ledger"], Boundary(**document["state"])
        numbers = [boundary.batch, boundary.time, boundary.best]
        lists = [boundary.active, boundary.pulls, boundary.history]
        if not isinstance(parameters, dict) or not all(type(n) is int for part in (numbers, *lists) for n in part):
            raise TypeError
    except OSError as error:
        raise UnreadableState(str(path), error.strerror or "the file cannot be read") from None
    except (ValueError, KeyError, TypeError):
        raise UnreadableState(str(path), "it is not the saved state of an online bandit") from None
    if owner != ledger:
        raise UnreadableState(str(path), "it belongs to another ledger; open the one it was saved with")
    return parameters, boundary


class Recorded:
    """What a ledger already holds of a run: released batches need no rewards and cost nothing again."""

    def __init__(self, ledger: Ledger) -> None:
        self._releases: dict[str, list[Release]] = {}
        for release in ledger.releases():
            self._releases.setdefault(release.name, []).append(release)
        self._lost = [charge.cohort for charge in ledger.unused_charges()]

    def statistic(self, loop: OnlineLoop, plan: Any) -> np.ndarray | None:
        """The noisy sums of this batch, if they were released; from a shuffled batch they are added up again."""
        noise = noise_of(plan.scale[0])
        for release in self._of(loop.batch):
            if release.cohort != self._rounds(loop, plan) or release.parameters != noise.parameters():
                continue
            units = np.asarray(release.values)
            if release.kind == "shuffled":
                units = sum_by_tag(units, np.repeat(np.arange(len(plan.counts[0])), plan.counts[0]), len(plan.counts[0]))
            return loop.sums(plan, from_units(units, noise.grid))
        return None

    def reports(self, loop: OnlineLoop, plan: Any) -> dict[int, int]:
        """Reports of this batch that clients of the local model have sent: units by slot."""
        start, size = int(loop.states.time[0]), int(plan.total[0])
        found = {}
        for release in self._of(loop.batch):
            slot = release.cohort.intervals[0][0] - start if release.cohort.intervals else -1
            if release.kind == "reports" and 0 <= slot < size:
                found[slot] = int(np.ravel(np.asarray(release.values))[0])
        return found

    def lost(self, loop: OnlineLoop, plan: Any) -> bool:
        """Were these rounds charged without a release: did a crash come after the charge?"""
        rounds = self._rounds(loop, plan)
        return any(not cohort.disjoint(rounds) for cohort in self._lost)

    def touches(self, loop: OnlineLoop, plan: Any) -> bool:
        """Has any of these rounds been paid for?"""
        rounds = self._rounds(loop, plan)
        paid = [release.cohort for release in self._of(loop.batch)]
        return any(not cohort.disjoint(rounds) for cohort in (*paid, *self._lost))

    def _of(self, batch: int) -> list[Release]:
        return self._releases.get(f"batch {batch}", [])

    def _rounds(self, loop: OnlineLoop, plan: Any) -> Cohort:
        start = int(loop.states.time[0])
        return Cohort.of(range(start, start + int(plan.total[0])))
