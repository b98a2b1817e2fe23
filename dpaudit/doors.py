"""What is behind the door: who draws, what is pinned, and what an auditor may see of what passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.claims import DpauditError
from dpaudit.ledger import Cohort, Release
from dpaudit.noise import Noise, Source
from dpaudit.reports import Records


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
    kind: str  # "release", "reports" (one per client) or "sums" (of reports, by the law of the sum)
    index: np.ndarray | None  # which trials; None for all
    derived: Fraction | None = None
    counts: np.ndarray | None = None  # reports behind each coordinate of "sums"
    records: Records | None = None  # of "reports"
    record: Release | None = None


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

    seed: int
    trials: int | None
    every_report: bool = False
    first: np.ndarray | None = None  # outputs to pin for the first release alone; the rest is drawn
    wild: bool = False  # the rest is noise of every size instead: what does not notice depends on the first alone
    strict: bool = False
    generator: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = np.random.default_rng([self.seed, 1])

    def noise(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        if self.first is not None:
            pinned, self.first = self.first, None
            return np.broadcast_to(pinned.reshape(-1, *[1] * (units.ndim - 1)), units.shape)
        return self._wild(noise, units) if self.wild else noise.simulate(units, self.generator)

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return self._wild(noise, units) if self.wild else noise.simulate_sums(units, counts, self.generator)

    def _wild(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        if noise.name == "randomized-response":
            return self.generator.integers(0, 2, units.shape)
        size = 2.0 ** self.generator.uniform(0, 50, units.shape)
        return units + np.where(self.generator.random(units.shape) < 0.5, -size, size).astype(np.int64)


@dataclass
class Live:
    """Exact noise from a cryptographic source. One run; every report is drawn."""

    source: Source
    seed: int
    trials: int | None = None
    every_report: bool = True
    strict: bool = True

    def noise(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        return noise.draw(units, self.source)

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        raise DpauditError("a live door draws every report; ask for the values or their sum")


@dataclass
class Pinned:
    """Recorded outputs in their order. A query of another shape than the recorded one means that the path changed."""

    outputs: Sequence[np.ndarray]
    seed: int
    trials: int | None
    every_report: bool
    strict: bool = False
    position: int = 0

    def noise(self, noise: Noise, units: np.ndarray) -> np.ndarray:
        if self.position >= len(self.outputs) or self.outputs[self.position].shape != units.shape:
            raise PathChanged(self.position)
        self.position += 1
        return self.outputs[self.position - 1]

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return self.noise(noise, units)


class PathChanged(DpauditError):
    """With all outputs pinned the algorithm took another path: something else than the outputs decided it (DPA002)."""

    def __init__(self, release: int) -> None:
        self.release = release
        super().__init__(f"DPA002: with all outputs pinned, the run changed its path at release {release + 1}")
