"""Subjects: functions whose privacy is claimed. Parameters are recognised by name, as pytest fixtures are."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from dpaudit.channel import Channel, Plan, simulate
from dpaudit.channel.weighted_sums import Weights, weights_in_force
from dpaudit.claims import Claim, DpauditError, InvalidValue
from dpaudit.claims.leak_watch import watching
from dpaudit.neighbours.categories import SealedTexts
from dpaudit.neighbours.frames import Frames
from dpaudit.neighbours.listed_values import Values
from dpaudit.neighbours.mixed_records import SealedRecords
from dpaudit.neighbours.relations import AddRemove, Neighbours, ReplaceOne, as_neighbours
from dpaudit.neighbours.tables import Rows
from dpaudit.sealed.array import ADD_REMOVE, Sealed
from dpaudit.sealed.frames.frame import SealedFrame
from dpaudit.sealed.runs import one_run
from dpaudit.subjects.foreign_randomness import noticing
from dpaudit.subjects.output_watch import counting_output, diverted_output


@dataclass(frozen=True)
class Subject:
    """A function, what it claims, and for which neighbours.

    The first parameter is the data; ``channel`` makes it grey-box, ``rng`` alone black-box; with ``trials`` it is called once
    for many trials, and everything it releases or returns has trials as its first axis.
    """

    function: Callable[..., Any]
    claim: Claim
    neighbours: Neighbours
    name: str
    takes: frozenset[str]
    public: Callable[[Any], Any] = lambda returned: returned  # what the observer `actions` sees of the returned value
    evaluate: Callable[[Channel, np.random.Generator], Mapping[str, Any]] | None = None  # play a simulated environment
    notes: Mapping[str, str] = field(default_factory=dict)  # choices, printed with every result
    weights: Weights = field(default_factory=Weights, compare=False, repr=False)  # of its weighted sums
    plan: Plan | None = None  # its releases in their order; in force at every door that it is called with

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*map(self._planned, args), **{name: self._planned(value) for name, value in kwargs.items()})

    def _planned(self, argument: Any) -> Any:
        """A door under this subject's plan and for its neighbours; anything else as it is."""
        relation = ADD_REMOVE if self.neighbours.name == "add_remove" else None
        if not isinstance(argument, Channel) or (self.plan is None and relation is None):
            return argument
        return argument.under(self.plan, relation)

    def deploy(self, ledger: Any, budget: Any = None) -> Callable[[Any], Any]:
        """The certified entry point: ``subject.deploy(ledger)(data)`` seals the data, runs behind a live door and hands back what
        the subject returns, or refuses. ``ledger``: one, or its path. ``budget``: a Claim, (ε, δ) or ε; the claim by default.

        ``dpaudit.deployment.entry_point`` says what is promised. It lies above this layer, so it is loaded by its name.
        """
        deploy: Callable[..., Callable[[Any], Any]] = import_module("dpaudit.deployment.entry_point").deploy
        return deploy(self, ledger, budget)

    @property
    def grey(self) -> bool:
        """Does everything leave it through a channel?"""
        return "channel" in self.takes

    @property
    def vectorised(self) -> bool:
        return "trials" in self.takes

    def run(self, data: Any, channel: Channel) -> Any:
        """One call behind the door: one run, or all of the channel's trials."""
        extra: dict[str, Any] = {"channel": self._planned(channel)}
        if self.vectorised:
            extra["trials"] = channel.trials
        if "rng" in self.takes:
            extra["rng"] = channel.rng
        if isinstance(data, Sealed | SealedTexts | SealedRecords | SealedFrame):
            self.weights.known = True
        elif not self.weights.known:
            Context().run(self._learn, data)
        with weights_in_force(self.weights, self.claim.epsilon), noticing(self.function), diverted_output():
            return self.function(data, **extra)

    def _learn(self, data: Any) -> None:
        """Run once on sealed data, so that plain data is released on the same grids."""
        self.weights.known = True
        if not isinstance(self.neighbours, ReplaceOne | AddRemove | Rows | Values | Frames):
            return
        door = simulate(0, every_report=True)
        with suppress(Exception), counting_output(), watching(), one_run(), door as channel:
            sealed = self.neighbours.seal(data)
            if sealed is not None:
                self.run(sealed, channel)

    def run_black(self, data: Any, rng: np.random.Generator, trials: int | None) -> Any:
        """One call of a black box: one run, or ``trials`` of them when it takes that parameter."""
        extra: dict[str, Any] = {"rng": rng} if "rng" in self.takes else {}
        if self.vectorised:
            extra["trials"] = trials
        with diverted_output():
            return self.function(data, **extra)


def fresh(data: Any) -> Any:
    """A copy for one run: a subject that writes into its data must not change the next run's.

    Raises DpauditError for data that cannot be copied: nobody could tell whether the runs see the same then.
    """
    if isinstance(data, np.ndarray) and not data.dtype.hasobject:
        return data.copy()
    try:
        return copy.deepcopy(data)
    except Exception as error:
        raise DpauditError(
            f"each run needs a copy of its own of the data, and copy.deepcopy fails for {type(data).__name__} "
            f"({type(error).__name__}); if no run changes it, give it a __deepcopy__ that returns itself"
        ) from error


def subject(
    *, claim: Claim, neighbours: Any, name: str | None = None, plan: Any = None
) -> Callable[[Callable[..., Any]], Subject]:
    """Declare a function to be a subject: ``@dp.subject(claim=…, neighbours=…)``.

    ``plan``: its releases in their order, each a ``dp.Planned`` or (name, noise, sensitivity). Every door refuses it any other
    release; it may stop early.
    """
    if not isinstance(claim, Claim):
        raise InvalidValue("claim", type(claim).__name__, 'a dp.Claim, such as dp.Claim(epsilon="1")')

    def declare(function: Callable[..., Any]) -> Subject:
        if not callable(function):
            raise InvalidValue("subject", type(function).__name__, "a function of (data, channel) or (data, rng)")
        return make_subject(function, claim, neighbours, name, plan=plan)

    return declare


def make_subject(
    function: Callable[..., Any], claim: Claim, neighbours: Any, name: str | None = None, *, plan: Any = None, **more: Any
) -> Subject:
    """The same without a decorator. Raises InvalidValue when the parameters are not those of a subject."""
    parameters = list(inspect.signature(function).parameters)
    takes = frozenset(parameters[1:])
    if not parameters or not takes & {"channel", "rng"}:
        raise InvalidValue("subject", getattr(function, "__name__", "?"), "a function of (data, channel) or (data, rng)")
    unknown = takes - {"channel", "rng", "trials"}
    needed = {p for p in unknown if inspect.signature(function).parameters[p].default is inspect.Parameter.empty}
    if needed:
        raise InvalidValue("subject", sorted(needed), "parameters named channel, rng or trials after the data")
    label = name or str(getattr(function, "__name__", "subject"))
    if plan is not None and "channel" not in takes:
        raise InvalidValue("plan", "given", "for subjects with a channel: a black box has no door that could keep it")
    fixed = None if plan is None else Plan.of(plan)
    return Subject(function, claim, as_neighbours(neighbours), label, takes - unknown, plan=fixed, **more)
