"""The course of an online run: the state machine of the batch runner, driven one batch at a time, behind one door."""

from __future__ import annotations

import secrets
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import dpaudit as dp
from algorithms.elimination.batch_plans import Plan
from algorithms.elimination.local import Local
from algorithms.elimination.setting import PrivacyStep, Setting
from algorithms.online.client import Report, Terms, Ticket, client_report
from algorithms.online.open_batch import Batch, Layout, hold_rewards, receive_reports
from algorithms.online.state import Boundary, OnlineElimination, Recorded
from dpaudit.channel import Channel
from dpaudit.channel.release_cost import cost
from dpaudit.claims import DpauditError
from dpaudit.ledger import Cohort, Ledger, Release


@dataclass(eq=False, repr=False)
class Course:
    """Opens and closes batches. ``batch`` is the open one, None when all are closed; ``boundary`` what it started from."""

    setting: Setting
    step: PrivacyStep
    claim: dp.Claim
    missing: float
    ledger: Ledger | None
    channel: Channel | None
    loop: OnlineElimination = field(init=False)
    batch: Batch | None = field(init=False, default=None)
    plan: Plan | None = field(init=False, default=None)
    boundary: Boundary = field(init=False)

    def begin(self, boundary: Boundary | None) -> None:
        """Start, or go on from a boundary: batches that the ledger holds since are taken from there.

        Raises DpauditError when a new run would use rounds that the ledger has charged already.
        """
        self.loop = OnlineElimination(self.setting, self.step)
        with self.door():  # the budget is set before anything can be spent
            pass
        if boundary is not None:
            boundary.restore(self.loop)
        recorded = None if self.ledger is None else Recorded(self.ledger)
        if boundary is None and recorded is not None:
            plan = self.loop.plan()
            if plan is not None and recorded.touches(self.loop, plan):
                raise DpauditError("this ledger holds a run over these rounds already; continue it with OnlineBandit.load")
            self.loop = OnlineElimination(self.setting, self.step)
        self._open(recorded)

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
        if self.plan is None or not isinstance(self.step, Local):
            return None
        setting, step = self.setting, self.step
        return Terms(setting.low, setting.high, self.plan.scale[0], step.sensitivity, step.epsilon)

    def _open(self, recorded: Recorded | None) -> None:
        self.boundary, self.plan = Boundary.of(self.loop), self.loop.plan()
        while self.plan is not None and recorded is not None and self._pass_over(self.plan, recorded):
            self.boundary, self.plan = Boundary.of(self.loop), self.loop.plan()
        self.batch = None if self.plan is None else self._start(self.plan, recorded)
        if self.batch is not None and self.batch.waiting() == 0:
            self.close(recorded)

    def _pass_over(self, plan: Plan, recorded: Recorded) -> bool:
        """Is this batch over already: released, or charged and lost?"""
        if isinstance(self.step, Local):
            return False
        noisy = recorded.statistic(self.loop, plan)
        if noisy is not None:
            self.loop.learn(plan, noisy)
        elif recorded.lost(self.loop, plan):
            self.loop.use_up(plan)
        else:
            return False
        return True

    def _start(self, plan: Plan, recorded: Recorded | None) -> Batch:
        layout = Layout(self.loop.pulls(plan, single=True), self.loop.batch, plan.scale[0])
        if isinstance(self.step, Local):
            known = {} if recorded is None else recorded.reports(self.loop, plan)
            server = _Server(self.step, layout, self.ledger)
            return receive_reports(self.step, layout, self._stand_in(layout), server.record, known)
        with self.door() as door:
            return hold_rewards(self.step, layout, self.setting.low, self.setting.high, self.missing, door)

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

    step: Local
    layout: Layout
    ledger: Ledger | None

    def record(self, slot: int, place: int, units: int) -> int:
        """Write one report; what is returned is what the ledger holds for that round."""
        if self.ledger is None:
            return units
        noise, played = dp.Laplace(self.layout.scale), self.layout.start + slot
        steps = int(-(-self.step.sensitivity // noise.grid))
        release = Release(
            name=f"batch {self.layout.number}", mechanism=noise.name, parameters=noise.parameters(),
            sensitivity=self.step.sensitivity, epsilon=cost(noise, steps, Fraction(0))[0],
            cohort=Cohort.of(played), kind="reports", n=1, values=np.array([units]), tags={str(place): 1},
            steps=steps, coordinates=1,
        )  # fmt: skip
        stored = self.ledger.append(release, key=f"round {played}")
        return int(np.ravel(np.asarray(stored.values))[0])
