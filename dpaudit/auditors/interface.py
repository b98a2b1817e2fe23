"""What an auditor is: it takes a case and what is known about it so far, and returns what is known after its attack.

To add one: a class or a row that satisfies ``Auditor``, and its place in ``registry.AUDITORS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dpaudit.auditors.games.guessing_game import Outcome
from dpaudit.auditors.pairs.pair_names import pair_generator
from dpaudit.auditors.replay.pinned_runs import Observed, Replayed
from dpaudit.auditors.runs.engine import HERE, Engine
from dpaudit.claims import Claim, Finding, Losses, Lower
from dpaudit.subjects.subject import Subject

Pair = tuple[Any, Any]
Replays = Sequence[tuple[int, Replayed]]  # runs that were replayed on a neighbour, with the place of their pair
REFUTE = 1e-6  # a statistical refutation holds at confidence 1 − 10^-6
FLOAT_SHARE = 0.1  # of that error, for events of low bits where a claim is about floats


@dataclass(frozen=True)
class Case:
    """A subject, the claim it is held to, and what an attack may spend on it.

    ``samples``: runs per side. ``search``: nothing is proven yet, so look at other neighbours than the listed ones as well.
    ``sequential``: an e-process that stops at the first run where it refutes the claim, in place of the game.
    ``error``: the probability of refuting an honest subject by statistics.
    """

    subject: Subject
    claim: Claim
    confidence: float
    samples: int
    seed: int
    engine: Engine = HERE
    search: bool = True
    sequential: bool = False
    error: float = REFUTE

    @property
    def late(self) -> bool:
        """Is the time over? Sample sizes and errors stay as planned: a stage that has not ended says nothing."""
        return self.engine.late

    @property
    def float_error(self) -> float:
        """The part of ``error`` that events of low bits may use: none behind a door, or where arithmetic is ideal."""
        return 0.0 if self.subject.grey or self.claim.ideal else FLOAT_SHARE * self.error

    @property
    def game_error(self) -> float:
        """The rest: for the game, or for bets."""
        return self.error - self.float_error

    @property
    def pairs(self) -> Sequence[Pair]:
        """The neighbours that are listed for this seed."""
        return self._pairs_and_generator[0]

    @property
    def far_generator(self) -> np.random.Generator:
        """Draws data that are no neighbours, after the pairs."""
        return self._pairs_and_generator[1]

    @cached_property
    def _pairs_and_generator(self) -> tuple[Sequence[Pair], np.random.Generator]:
        generator = pair_generator(self.seed)
        return list(self.subject.neighbours.pairs(generator)), generator


@dataclass(frozen=True)
class GamePlan:
    """A game that could show more: on which pairs, and whether the observer knows the likelihood ratio of all releases."""

    pairs: Sequence[Pair]
    by_likelihood: bool


@dataclass(frozen=True)
class Attack:
    """What is known: a lower bound, perhaps a refutation, and what replay noticed on the way."""

    lower: Lower
    refuted: bool = False
    exact: Fraction | None = None
    level: float = 0.0  # the bound that a statistical refutation rests on, at confidence 1 − 10^-6
    witness: dict[str, Any] | None = None
    detectable: float | None = None
    findings: Sequence[Finding] = ()
    observed: Observed = field(default_factory=Observed)
    reason: str = ""
    interrupted: bool = False  # by Ctrl-C: what is here holds, but there might have been more
    losses: Losses | None = None  # of the game that was played, for a picture
    replays: Replays = ()
    untried: Sequence[str] = ()  # what there was no time for
    game: GamePlan | None = None  # what exact evidence leaves to a game; None: nothing
    played: Sequence[Outcome] = ()  # the first game and the one that decided, with their counts

    def finds(self, rule: str) -> bool:
        return any(finding.rule == rule for finding in self.findings)

    @property
    def replay_void(self) -> bool:
        """Does something other than the door decide, so that replay says nothing?"""
        return self.finds("DPA002")


class Auditor(Protocol):
    """One way to attack. Auditors are asked in the order of the registry; each builds on what the ones before it know."""

    @property
    def name(self) -> str:
        """For a person who waits."""

    def supports(self, case: Case, known: Attack) -> bool:
        """Is this case of its kind, and could it add to what is known?"""

    def attack(self, case: Case, known: Attack) -> Attack:
        """What is known afterwards. Raises PathChanged where runs show that replay is void."""
