"""The entry point that a certificate is about: seals the data, runs the subject behind a live door, searches what it returns.

    total = noisy_sum.deploy("runs/today.ledger")(rewards)

A certificate does not cover calling the function on plain data: nothing stands between its data and the world then.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.accountants.sampling.repetitions import composed
from dpaudit.accountants.shuffle.amplifier import amplified
from dpaudit.channel import Channel, Doors
from dpaudit.channel.modes import Live
from dpaudit.claims import InvalidValue, Leak
from dpaudit.claims.leak_watch import watching
from dpaudit.deployment.doors import live
from dpaudit.deployment.shown_frames import hide_own_frames
from dpaudit.ledger import Budget, Charge, Ledger, open_ledger
from dpaudit.ledger.spending.filters import FILTERS
from dpaudit.neighbours.categories import SealedTexts
from dpaudit.neighbours.mixed_records import SealedRecords
from dpaudit.noise import SecureSource
from dpaudit.sealed.array import ADD_REMOVE, REPLACE_ONE, Sealed
from dpaudit.sealed.frames.frame import SealedFrame
from dpaudit.subjects.sealed_search import refuse_sealed
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of
from dpaudit.verdict.ready_plan import account_plan

_simulate = Doors(amplified, composed).simulate


@dataclass(frozen=True)
class Deployment:
    """A subject, its ledger and its budget. Each call is one run, and is charged anew."""

    subject: Subject
    ledger: Ledger | str | Path
    budget: Budget

    def __call__(self, data: Any) -> Any:
        """What the subject returns when it runs on ``data`` behind its door.

        Records outside the declared bounds are brought to the nearer one, and NaN to the lower one, without a word: a message
        would tell. Data of another shape than the neighbours declare is refused; where a record may be missing, how many there
        are is private, and any number is taken.
        The ledger holds every release; that of a plan which only fits the budget as a whole, one charge for all of it.

        Raises BudgetExceeded (DPA001) before a release that the budget does not allow, Leak (DPA002) where private data leaves
        another way (also where the subject caught that), or is in what it returns, SensitivityError (DPA003) for a release that
        declares too little, and DpauditError for one whose sensitivity is not proven. What was released before stays charged.
        Errors show the frames of the subject's own code, and none of dpaudit's: those hold the data.
        """
        try:
            return self._run(data)
        except BaseException as error:
            failure = error
        del data  # this frame is the one that stays
        hide_own_frames(failure)
        raise failure

    def _run(self, data: Any) -> Any:
        subject = self.subject
        sealed = seal_data(subject, data)
        with (
            _opened(self.ledger, subject) as ledger,
            watching() as noticed,
            self._door(ledger) as channel,
            channel.audited(),
        ):
            returned = subject.run(sealed, channel)
        if noticed.leaks:  # the subject caught it
            raise noticed.leaks[0]
        if noticed.doubts:
            raise Leak(f"{noticed.doubts[0].operation}, which fails on some data and not on other", noticed.doubts[0].where)
        refuse_sealed(returned, subject.name, [sealed, data])
        return returned

    @contextmanager
    def _door(self, ledger: Ledger) -> Iterator[Channel]:
        """A live door. A plan that no running sum lets through, but whose composed cost is within the budget, is charged as one
        before anything is drawn; no other release passes then."""
        subject = self.subject
        relation = ADD_REMOVE if subject.neighbours.name == "add_remove" else REPLACE_ONE
        name = _filter(subject, ledger, self.budget)
        whole = _cost_as_one(subject, self.budget) if name is None else None
        if whole is None:
            with live(ledger, self.budget, filter=name, proven=True, relation=relation) as channel:
                yield channel
            return
        ledger.require("deployment")
        ledger.limit(self.budget, proven=True)
        ledger.charge(Charge(*whole, name=f"the plan of {subject.name}"))
        yield Channel(Live(SecureSource(), secrets.randbits(63)), proven=True, relation=relation, amplify=amplified)


def _cost_as_one(subject: Subject, budget: Budget) -> tuple[Fraction, Fraction] | None:
    """(ε, δ) of the whole plan, composed at the claim's δ, where it is within the budget and its releases one by one are not."""
    claim = subject.claim
    if subject.plan is None or not 0 < claim.delta <= budget.delta or _passing_filter(subject, budget) is not None:
        return None
    try:
        epsilon = account_plan(subject.plan, claim).epsilon
    except InvalidValue:  # it has no finite cost at this δ
        return None
    return (epsilon, claim.delta) if epsilon <= budget.epsilon else None


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
    if isinstance(data, Sealed | SealedTexts | SealedRecords | SealedFrame):
        raise InvalidValue("data", "sealed data", "plain data: a deployment seals it itself, with the bounds of its neighbours")
    _check_shape(subject, data)
    sealed = subject.neighbours.seal(data)
    if sealed is None:
        raise InvalidValue(
            "neighbours", subject.neighbours.name,
            "dp.replace_one(…), dp.add_remove(…) or others that say how data is sealed: without bounds nothing can be proven",
        )  # fmt: skip
    return sealed


def _check_shape(subject: Subject, data: Any) -> None:
    """Raise InvalidValue for data of another shape than an audit makes up; no value of it is told, and no private length."""
    made_up = subject.neighbours.pairs(np.random.default_rng(0))[0][0]
    if not isinstance(made_up, np.ndarray | list):
        return
    wanted, has = _shape_of(made_up), _shape_of(data)
    if subject.neighbours.name == "add_remove":  # how many records there are is private
        wanted, has = wanted[1:], has[1:] if has else (-1,)
    if wanted == has:
        return
    if subject.neighbours.name == "add_remove":
        raise InvalidValue("data", "records of another shape", f"an array with one {_row_words(wanted)} per record")
    raise InvalidValue("data", f"of shape {has}", f"of shape {wanted}, as {subject.name} declares with its neighbours")


def _shape_of(data: Any) -> tuple[int, ...]:
    """Of an array or a list; of records that are no numbers, how many there are."""
    if isinstance(data, list | tuple) and any(isinstance(one, list | tuple | dict | str) for one in data[:1]):
        rows = [one for one in data if isinstance(one, list | tuple)]
        numbers = len(rows) == len(data) and all(isinstance(one, int | float | np.number) for row in rows for one in row)
        if not numbers or len({len(row) for row in rows}) != 1:
            return (len(data),)
    return tuple(int(length) for length in np.shape(data))


def _row_words(shape: tuple[int, ...]) -> str:
    return f"row of {shape[0]} numbers" if shape else "value"


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
    return None if ledger.budget is not None or not budget.delta else _passing_filter(subject, budget)


def _passing_filter(subject: Subject, budget: Budget) -> str | None:
    """The first filter that lets a simulated run on made-up data through."""
    made_up = subject.neighbours.seal(subject.neighbours.pairs(np.random.default_rng(0))[0][0])
    for name in FILTERS:
        try:
            with watching(), _simulate(0, budget=budget, filter=name, every_report=True, proven=True) as channel:
                subject.run(made_up, channel)
        except Exception:  # over budget, not proven, or an error of its own: the live door will say so
            continue
        return name
    return None
