"""What is behind the door: who draws, what is pinned, and what an auditor may see of what passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from dpaudit.channel.client_reports import Records
from dpaudit.channel.long_batches import Elsewhere, draw_in_parts, in_parts
from dpaudit.claims import DpauditError
from dpaudit.ledger import Cohort, Release
from dpaudit.noise import Noise, Source, mechanism_of

Rest = Literal["drawn", "wild", "exact"]


@dataclass(frozen=True)
class Event:
    """What passed a simulated or replayed door. Holds the query, so it exists for data that an audit made up only."""

    name: str
    noise: Noise
    query: np.ndarray
    output: np.ndarray
    sensitivity: Any  # declared: a Fraction, or an array with one entry per trial
    cohort: Cohort
    to: str
    kind: str  # "release", "reports" (one per client), "sums" (of reports, by the law of the sum), "selection" or "answers"
    index: np.ndarray | None = None  # which trials; None for all
    derived: Fraction | None = None
    counts: np.ndarray | None = None  # reports behind each coordinate of "sums"
    records: Records | None = None  # of "reports"
    record: Release | None = None
    hidden: bool = False  # secret randomness was drawn before it: its query may depend on what no observer sees

    @property
    def veiled(self) -> bool:
        """May what it asks depend on secret randomness? A shuffler's secret that only hands out tags moves no value."""
        tags_only = self.to == "shuffled" and getattr(self.records, "secret_assignment", False)
        return self.hidden and not tags_only


@dataclass(frozen=True)
class Transcript:
    """Everything that a run showed: outputs in their order, and the seed of its public randomness."""

    outputs: Sequence[np.ndarray]
    seed: int
    trials: int | None = None
    every_report: bool = True


@dataclass
class Simulated:
    """Same law, same grid, seeded; stamped simulated."""

    kind: ClassVar[str] = "simulated"
    seed: int
    trials: int | None
    every_report: bool = False
    pinned: Sequence[np.ndarray | None] = ()  # chosen outputs of each trial's first releases; None: not chosen
    rest: Rest = "drawn"  # the others: drawn by their law, "wild" numbers of every size, or "exact": the query, no noise
    strict: bool = False
    elsewhere: Elsewhere | None = None  # who draws the parts of long batches; None: this process
    generator: np.random.Generator = field(init=False)
    passed: np.ndarray = field(init=False)  # releases so far, per trial

    @property
    def splits(self) -> bool:
        """May a long batch of reports be drawn in parts?"""
        return self.trials is None and not self.pinned and self.rest == "drawn"

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng([self.seed, 1])
        self.passed = np.zeros(self.trials or 1, dtype=np.int64)

    def noise(self, noise: Noise, units: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
        output = self._rest(noise, units)
        return output if not self.pinned else self._pin(output, index)

    def reports(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        """One of each client, where ``splits``."""
        return draw_in_parts(noise, units, self.generator, self.elsewhere)

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return noise.simulate_sums(units, counts, self.generator) if self.rest == "drawn" else self._rest(noise, units)

    def answers(self, noise: Noise, index: np.ndarray | None = None) -> np.ndarray | None:
        """The chosen answers of a threshold, which are asked for one by one; None where they are to be drawn."""
        if self.trials is not None or not self.pinned:
            self.passed[slice(None) if index is None else index] += 1
            return None
        place = int(self.passed[0])
        self.passed += 1
        return self.pinned[place] if place < len(self.pinned) else None

    def _rest(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        if self.rest == "drawn":
            return noise.simulate(units, self.generator)
        return noise.without_noise(units) if self.rest == "exact" else noise.wild(units, self.generator)

    def _pin(self, output: np.ndarray, index: np.ndarray | None) -> np.ndarray:
        """Put the chosen outputs in. With trials: one number for each, whatever the release's shape."""
        if self.trials is None:
            place = int(self.passed[0])
            self.passed += 1
            chosen = self.pinned[place] if place < len(self.pinned) else None
            if chosen is not None and chosen.size != output.size:
                raise PathChanged(place)
            return output if chosen is None else chosen.reshape(output.shape)
        rows = np.arange(self.trials) if index is None else index
        places, output = self.passed[rows], output.copy()
        self.passed[rows] += 1
        for place, chosen in enumerate(self.pinned):
            here = np.flatnonzero(places == place)
            if chosen is not None and len(here):
                output[here] = chosen[rows[here]].reshape(-1, *[1] * (output.ndim - 1))
        return output


@dataclass
class Live:
    """Exact noise from a cryptographic source. One run; every report is drawn."""

    source: Source
    seed: int
    trials: int | None = None
    every_report: bool = True
    strict: bool = True
    splits: ClassVar[bool] = True

    @property
    def kind(self) -> str:
        """Of its ledger: what can be foretold is no deployment."""
        return "simulated" if self.source.simulated else "deployment"

    def noise(self, noise: Noise, units: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
        return mechanism_of(noise).draw(noise, units, self.source)

    def reports(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        """One of each client, all drawn here: private values do not leave for another machine."""
        return in_parts(partial(self.noise, noise), units)

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        raise DpauditError("a live door draws every report; ask for the values or their sum")


@dataclass
class Pinned:
    """Recorded outputs in their order. A query of another shape than the recorded one means that the path changed."""

    outputs: Sequence[np.ndarray]
    seed: int
    trials: int | None
    every_report: bool
    kind: ClassVar[str] = "simulated"
    splits: ClassVar[bool] = False
    strict: bool = False
    position: int = 0

    def noise(self, noise: Noise, units: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
        if self.position >= len(self.outputs) or self.outputs[self.position].shape != noise.output_shape(units.shape):
            raise PathChanged(self.position)
        self.position += 1
        return self.outputs[self.position - 1]

    def answers(self, noise: Noise, index: np.ndarray | None = None) -> np.ndarray | None:
        """All answers of a threshold, which are asked for one by one: those of every trial, one row each."""
        if self.position >= len(self.outputs) or self.outputs[self.position].ndim != (1 if self.trials is None else 2):
            raise PathChanged(self.position)
        self.position += 1
        return self.outputs[self.position - 1]

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return self.noise(noise, units)


class PathChanged(DpauditError):
    """With all outputs pinned the algorithm took another path: something else than the outputs decided it."""

    rule = "DPA002"

    def __init__(self, release: int) -> None:
        self.release = release
        super().__init__(f"with all outputs pinned, the run changed its path at release {release + 1}")
