"""The course of an online run: the state machine of the batch runner, driven one batch at a time, behind one door."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.local import Local
from algorithms.elimination.setting import PrivacyStep
from algorithms.online.client import Report, Terms, Ticket, client_report
from algorithms.online.open_batch import Batch, Layout, Received, hold_rewards, receive_reports
from algorithms.online.optimism import OnlineOptimism
from algorithms.online.state import Boundary, OnlineElimination, OnlineLoop, Recorded
from algorithms.optimistic.loop import Setting as OptimisticSetting
from algorithms.optimistic.privacy_steps import OptimisticLocal, OptimisticStep
from dpaudit.channel import Channel
from dpaudit.channel.release_cost import cost
from dpaudit.claims import DpauditError
from dpaudit.ledger import Cohort, Ledger, Release


@dataclass(eq=False, repr=False)
class Course:
    """Opens and closes batches. ``batch`` is the open one, None when all are closed; ``boundary`` what it started from."""

    setting: Any  # of one of the two loops
    step: PrivacyStep | OptimisticStep
    claim: dp.Claim
    missing: float
    ledger: Ledger | None
    channel: Channel | None
    coins: int = 0  # public: the seed of the coins of the optimistic loop
    loop: OnlineLoop = field(init=False)
    batch: Batch | None = field(init=False, default=None)
    plan: Any = field(init=False, default=None)
    boundary: Boundary = field(init=False)

    def begin(self, boundary: Boundary | None) -> None:
        """Start, or go on from a boundary: batches that the ledger holds since are taken from there.

        Raises DpauditError when a new run would use rounds that the ledger has charged already.
        """
        self.loop = self._new_loop()
        with self.door():  # the budget is set before anything can be spent
            pass
        if boundary is not None:
            self.loop.restore(boundary)
        recorded = None if self.ledger is None else Recorded(self.ledger)
        if boundary is None and recorded is not None:
            plan = self.loop.plan()
            if plan is not None and recorded.touches(self.loop, plan):
                raise DpauditError("this ledger holds a run over these rounds already; continue it with OnlineBandit.load")
            self.loop = self._new_loop()
        self._open(recorded)

    def _new_loop(self) -> OnlineLoop:
        if isinstance(self.setting, OptimisticSetting):
            return OnlineOptimism(self.setting, self.step, self.coins)  # type: ignore[arg-type]
        return OnlineElimination(self.setting, self.step)  # type: ignore[arg-type]

    @property
    def local(self) -> bool:
        """Do clients randomise their own reports?"""
        return isinstance(self.step, Local | OptimisticLocal)

    def close(self, recorded: Recorded | None = None) -> None:
        """Release the batch, learn from it, open the next one."""
        assert self.batch is not None
        assert self.plan is not None
        with self.door() as door:
            noisy = self.batch.statistic(door)
        self.loop.learn(self.plan, noisy)
        self._open(recorded)

    def door(self) -> AbstractContextManager[Channel]:
        if self.channel is not None:
            return nullcontext(self.channel)
        assert self.ledger is not None
        return dp.live(self.ledger, budget=self.claim)

    def terms(self) -> Terms | None:
        """What clients of the open batch need in the local model."""
        if self.plan is None or not self.local:
            return None
        setting, step = self.setting, self.step
        if isinstance(step, OptimisticLocal):
            return Terms(setting.low, setting.high, step.epsilon, step.sensitivity, step.epsilon, bits=True)
        assert isinstance(step, Local)
        return Terms(setting.low, setting.high, self.plan.scale[0], step.sensitivity, step.epsilon)

    def _open(self, recorded: Recorded | None) -> None:
        self.boundary, self.plan = self.loop.boundary(), self.loop.plan()
        while self.plan is not None and recorded is not None and self._pass_over(self.plan, recorded):
            self.boundary, self.plan = self.loop.boundary(), self.loop.plan()
        self.batch = None if self.plan is None else self._start(self.plan, recorded)
        if self.batch is not None and self.batch.waiting() == 0:
            self.close(recorded)

    def _pass_over(self, plan: Any, recorded: Recorded) -> bool:
        """Is this batch over already: released, or charged and lost?"""
        if self.local:
            return False
        noisy = recorded.statistic(self.loop, plan)
        if noisy is not None:
            self.loop.learn(plan, noisy)
        elif recorded.lost(self.loop, plan):
            self.loop.use_up(plan)
        else:
            return False
        return True

    def _start(self, plan: Any, recorded: Recorded | None) -> Batch:
        layout = Layout(self.loop.pulls(plan, single=True), self.loop.batch, plan.scale[0])
        if self.local:
            known = {} if recorded is None else recorded.reports(self.loop, plan)
            server = _Server(self.step, layout, self.ledger)
            return receive_reports(self._sums(plan), layout, self._stand_in(layout), server.record, known)
        with self.door() as door:
            return hold_rewards(self.step, layout, self.setting.low, self.setting.high, self.missing, door)

    def _sums(self, plan: Any) -> Callable[[np.ndarray], np.ndarray]:
        """The server's side of the local model: what it makes of the sums of reports."""
        step = self.step
        if isinstance(step, Local):
            return lambda sums: step.server(Received(sums))  # type: ignore[arg-type]
        return lambda sums: self.loop.sums(plan, sums)

    def _stand_in(self, layout: Layout) -> Any:
        """A report of the declared default with the noise of any other, drawn by the server for an absent client."""

        def report(slot: int) -> Report:
            played = layout.start + slot
            ticket = Ticket(f"{played}-{secrets.token_hex(16)}", played, 0, (), layout.number, self.terms())
            return client_report(ticket, self.missing, channel=self.channel)

        return report


@dataclass(frozen=True)
class _Server:
    """The untrusted server of the local model: a report is in its ledger before it counts."""

    step: Any
    layout: Layout
    ledger: Ledger | None

    def record(self, slot: int, place: int, units: int) -> int:
        """Write one report; what is returned is what the ledger holds for that round."""
        if self.ledger is None:
            return units
        noise, played = self.layout.noise, self.layout.start + slot
        steps = int(-(-self.step.sensitivity // noise.grid))
        release = Release(
            name=f"batch {self.layout.number}", mechanism=noise.name, parameters=noise.parameters(),
            sensitivity=self.step.sensitivity, epsilon=cost(noise, steps, Fraction(0))[0],
            cohort=Cohort.of(played), kind="reports", n=1, values=np.array([units]), tags={str(place): 1},
            steps=steps, coordinates=1,
        )  # fmt: skip
        stored = self.ledger.append(release, key=f"round {played}")
        return int(np.ravel(np.asarray(stored.values))[0])
