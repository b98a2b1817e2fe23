"""The entry point that a certificate is about: seals the data, runs the subject behind a live door, searches what it returns.

    total = noisy_sum.deploy("runs/today.ledger")(rewards)

A certificate does not cover calling the function on plain data: nothing stands between its data and the world then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel import Doors
from dpaudit.claims import InvalidValue, Leak
from dpaudit.claims.leak_watch import watching
from dpaudit.deployment.doors import live
from dpaudit.ledger import Budget, Ledger, open_ledger
from dpaudit.ledger.spending.filters import FILTERS
from dpaudit.sealed.array import ADD_REMOVE, REPLACE_ONE, Sealed
from dpaudit.subjects.sealed_search import refuse_sealed
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of

_simulate = Doors(amplified).simulate


@dataclass(frozen=True)
class Deployment:
    """A subject, its ledger and its budget. Each call is one run, and is charged anew."""

    subject: Subject
    ledger: Ledger | str | Path
    budget: Budget

    def __call__(self, data: Any) -> Any:
        """What the subject returns when it runs on ``data`` behind its door; records outside the declared bounds are clipped.

        Raises BudgetExceeded (DPA001) before a release that the budget does not allow, Leak (DPA002) where private data leaves
        another way (also where the subject caught that), or is in what it returns, SensitivityError (DPA003) for a release that
        declares too little, and DpauditError for one whose sensitivity is not proven. What was released before stays charged.
        """
        subject = self.subject
        sealed = seal_data(subject, data)
        with _opened(self.ledger, subject) as ledger:
            relation = ADD_REMOVE if subject.neighbours.name == "add_remove" else REPLACE_ONE
            name = _filter(subject, ledger, self.budget)
            with (
                watching() as noticed,
                live(ledger, self.budget, filter=name, proven=True, relation=relation) as channel,
                channel.audited(),
            ):
                returned = subject.run(sealed, channel)
        if noticed.leaks:  # the subject caught it
            raise noticed.leaks[0]
        if noticed.doubts:
            raise Leak(f"{noticed.doubts[0].operation}, which fails on some data and not on other", noticed.doubts[0].where)
        refuse_sealed(returned, subject.name, [sealed, data])
        return returned


def deploy(subject: Subject, ledger: Ledger | str | Path, budget: Any = None) -> Deployment:
    """Bind a subject to a ledger and a budget (default: its claim). Raises InvalidValue for what cannot be deployed."""
    if not subject.grey:
        raise InvalidValue(
            "subject", subject.name, "a function of (data, channel): what leaves a black box passes no door, so none can hold it"
        )
    if not isinstance(ledger, Ledger | str | Path):
        raise InvalidValue("ledger", type(ledger).__name__, "a ledger, as dp.open_ledger gives it, or a path")
    return Deployment(subject, ledger, Budget.of(subject.claim if budget is None else budget))


def seal_data(subject: Subject, data: Any) -> Any:
    """The data, sealed with the bounds that the subject's neighbours declare. Raises InvalidValue where they declare none."""
    if isinstance(data, Sealed):
        raise InvalidValue("data", "sealed data", "plain data: a deployment seals it itself, with the bounds of its neighbours")
    sealed = subject.neighbours.seal(data)
    if sealed is None:
        raise InvalidValue(
            "neighbours", subject.neighbours.name,
            "dp.replace_one(…), dp.add_remove(…) or others that say how data is sealed: without bounds nothing can be proven",
        )  # fmt: skip
    return sealed


@contextmanager
def _opened(ledger: Ledger | str | Path, subject: Subject) -> Iterator[Ledger]:
    """The ledger, with the subject's code noted in it; one that is named by its path is closed again."""
    if isinstance(ledger, Ledger):
        ledger.note_code(code_of(subject))
        yield ledger
        return
    with open_ledger(ledger, code=code_of(subject)) as own:
        yield own


def _filter(subject: Subject, ledger: Ledger, budget: Budget) -> str | None:
    """What keeps the budget: as the ledger says; for a new one, the first filter that lets a simulated run through.

    That run is on data that an audit would make up, so the choice tells nothing of the data.
    """
    if ledger.budget is not None or not budget.delta:
        return None
    made_up = subject.neighbours.seal(subject.neighbours.pairs(np.random.default_rng(0))[0][0])
    for name in FILTERS:
        try:
            with watching(), _simulate(0, budget=budget, filter=name, every_report=True, proven=True) as channel:
                subject.run(made_up, channel)
        except Exception:  # over budget, not proven, or an error of its own: the live door will say so
            continue
        return name
    return None
