"""Wild replay, before any certificate: runs on sealed data behind a door whose outputs have every size, by no law.

It looks for what rare outputs lead to: private data that is returned, turned into plain numbers, or written somewhere. It finds;
it proves nothing. Releases that are chosen by released values are no finding: a budget holds those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpaudit.channel import Channel
from dpaudit.channel.modes import Simulated
from dpaudit.claims import Finding, Leak
from dpaudit.claims.leak_watch import watching
from dpaudit.noise import Noise
from dpaudit.subjects.output_watch import OutputLog, recording_output
from dpaudit.subjects.sealed_search import refuse_sealed
from dpaudit.subjects.subject import Subject

RUNS = (
    300  # w6, a branch of probability 10^-4 and less, was met within 20; half as many runs miss a branch of 1 % of sizes in 5 %
)
SIZES = (-2.0, 4.0)  # outputs ±10^U(…): sizes of sums, thresholds and counts; larger ones make loops over them endless
NEAR = (-2.0, 1.0)  # the same around the query
WORK = 10**7  # of all runs together: …
RUN, RELEASE, RECORD = 10_000, 3000, 10  # … each run, release and record counts so much, each coordinate that is released 1: by
# what they take. A run of many releases meets as many outputs as many runs of few.


SEALED_TEXT = "<sealed private data>"  # what sealed data shows of itself


class _Exhausted(BaseException):
    """The work is done: no error, so that no subject takes it for one of its own."""


@dataclass
class Work:
    """What wild replay may still do. Counted, never timed, so that a verdict does not depend on a clock."""

    left: int = WORK

    def spend(self, amount: int) -> None:
        """Raises _Exhausted when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise _Exhausted


@dataclass
class WildDoor(Simulated):
    """A simulated door whose outputs are chosen: 0, near the query, by law, or of any size and sign.

    One choice for the whole run, for each release or for each coordinate, as ``scheme`` says: 0, 1 or 2.
    """

    scheme: int = 0
    work: Work = field(default_factory=Work)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._first = _Choice.draw((), self.generator)

    def noise(self, noise: Noise, units: np.ndarray, index: np.ndarray | None = None) -> np.ndarray:
        self.work.spend(RELEASE + int(units.size))
        if noise.alphabet is not None or not noise.entrywise:
            return noise.wild(units, self.generator)
        shape = units.shape if self.scheme == 2 else ()
        choice = self._first if self.scheme == 0 else _Choice.draw(shape, self.generator)
        return choice.outputs(units, lambda: noise.simulate(units, self.generator), float(noise.grid))

    def sums(self, noise: Noise, units: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return self.noise(noise, units)


@dataclass(frozen=True)
class _Choice:
    kind: np.ndarray  # 0: zero, 1: near the query, 2: by law, above: of any size
    size: np.ndarray
    near: np.ndarray

    @classmethod
    def draw(cls, shape: tuple[int, ...], generator: np.random.Generator) -> _Choice:
        sign = np.where(generator.random(shape) < 0.5, -1.0, 1.0)
        size, near = (sign * 10 ** generator.uniform(*ends, shape) for ends in (SIZES, NEAR))
        return cls(np.asarray(generator.integers(0, 8, shape)), size, near)

    def outputs(self, query: np.ndarray, lawful: Callable[[], np.ndarray], grid: float) -> np.ndarray:
        if not self.kind.ndim:
            return np.asarray(self._one(int(self.kind), query, lawful, grid), dtype=query.dtype)
        near, wild = (np.round(numbers / grid).astype(np.int64) for numbers in (self.near, self.size))
        chosen = [np.zeros_like(query), query + near, lawful()]
        return np.asarray(np.select([self.kind == 0, self.kind == 1, self.kind == 2], chosen, wild), dtype=query.dtype)

    def _one(self, kind: int, query: np.ndarray, lawful: Callable[[], np.ndarray], grid: float) -> np.ndarray:
        """The same choice for every coordinate."""
        if kind == 2:
            return lawful()
        if kind == 1:
            return query + round(float(self.near) / grid)
        return np.full_like(query, 0 if kind == 0 else round(float(self.size) / grid))


def wild_replay(subject: Subject, pairs: Sequence[tuple[Any, Any]], seed: int, work: Work | None = None) -> Finding | None:
    """Run sealed, with wild outputs, until private data leaves another way or the work is done; the leak as DPA002."""
    left = Work() if work is None else work
    try:
        for number, data in zip(range(RUNS), _sides(pairs), strict=False):
            left.spend(RUN + RECORD * int(np.size(data)))
            sealed = subject.neighbours.seal(data)
            if sealed is None:
                return None
            finding = _run(subject, sealed, data, WildDoor(seed + number, None, True, scheme=number % 3, work=left))
            if finding is not None:
                return finding
    except _Exhausted:
        return None
    return None


def _sides(pairs: Sequence[tuple[Any, Any]]) -> Iterator[Any]:
    """Data sets in turn, without end."""
    while True:
        for pair in pairs:
            yield from pair


def _run(subject: Subject, sealed: Any, data: Any, door: WildDoor) -> Finding | None:
    channel = Channel(door)
    channel.keeps_records = False  # no accountant reads these runs
    with watching() as noticed, recording_output() as log, channel.audited(), suppress(Exception):
        # It may raise a leak, which is noticed, or an error of its own on outputs so strange.
        refuse_sealed(subject.run(sealed, channel), subject.name, [sealed, data])
    if noticed.leaks:
        leak = noticed.leaks[0]
        where = leak.where if isinstance(leak, Leak) else subject.name
        return Finding("DPA002", f"{getattr(leak, 'detail', 'private data leaves')}; on a path that rare outputs lead to", where)
    way = sealed_text(log)
    return None if way is None else Finding("DPA002", f"text that is made from private data is written to {way}", subject.name)


def sealed_text(log: OutputLog) -> str | None:
    """The way on which text was written that private data would be part of, if it were not sealed."""
    return next((way for way in log.texts if SEALED_TEXT in log.text(way)), None)
