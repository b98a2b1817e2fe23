"""A plan: the releases that a subject makes, in their order. A door under a plan refuses every other one.

What a plan costs is then known before anything is released, on every path: noise, sensitivity, order, cohort and observer are
constants, and only the queries may look at what was released before.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any, Self

from dpaudit.channel.declarations import check_call, refuse_failing
from dpaudit.channel.selection.scores import noisy_max_of
from dpaudit.channel.streams.dyadic_sums import levels
from dpaudit.claims import InvalidValue, exact, positive, show, whole
from dpaudit.ledger import Cohort, Release
from dpaudit.noise import Noise, mechanism_of, python_code
from dpaudit.noise.selection.thresholded_laplace import ThresholdedLaplace

SELECTIONS = ("select", "noisy_max", "above", "threshold_counts")  # several numbers decide what is shown
KINDS = ("release", "reports", "shuffled", "tree", *SELECTIONS)
EXAMPLE = '("sum", dp.Laplace(scale=2), 2)'
MANY = 2**40  # numbers in one release; no release has more


@dataclass(frozen=True)
class Planned:
    """One release of a plan, or ``count`` equal ones after each other.

    ``kind``: "release", "reports" (one per client), "shuffled" or "tree", a stream of ``count`` running sums; "select" with
    dp.Exponential(scale) or dp.PermuteAndFlip(scale), "noisy_max" with dp.Laplace(scale), "above" with
    dp.SparseVector(scale, positives), "threshold_counts" with dp.ThresholdedLaplace(scale, delta). ``cohort``: the records that
    it touches; left out, it may touch any and is charged to everybody. A shuffled batch hides each report among as many as its
    cohort has records, at least; without a cohort, nothing is counted for shuffling. ``sampling``: the rate of the sample that it
    is made from.
    Raises InvalidValue.
    """

    name: str
    noise: Noise | ThresholdedLaplace
    sensitivity: Any  # held exactly, as a Fraction
    _: KW_ONLY
    kind: str = "release"
    cohort: Any = None  # held as a Cohort, or None
    to: str = "server"
    sampling: Any = None  # held exactly
    count: int = 1

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.kind not in KINDS:
            raise InvalidValue("kind", self.kind, "one of " + ", ".join(KINDS))
        if self.kind == "shuffled" or (self.kind, self.to) == ("reports", "shuffled"):
            put(self, "kind", "shuffled")
            put(self, "to", "shuffled")
        if self.kind == "noisy_max":
            put(self, "noise", noisy_max_of(self.noise))
        check_call(self.name, self.drawn, self.to, None, entrywise=mechanism_of(self.drawn).entrywise)
        if self.kind != "release" or self.sampling is not None:
            refuse_failing(self.drawn)
        if self.kind == "release" and not self.noise.entrywise:
            put(self, "kind", self.noise.verb)
        if (self.kind in SELECTIONS) == self.noise.entrywise or (not self.noise.entrywise and self.kind != self.noise.verb):
            raise InvalidValue("kind", self.kind, f"{self.noise.verb}: that is what the channel calls {self.noise.words}")
        if self.kind in ("release", "tree", "threshold_counts") and self.to == "shuffled":
            raise InvalidValue("to", self.to, 'another observer: only reports pass a shuffler (kind="shuffled")')
        if not isinstance(self.noise.size, Fraction):
            raise InvalidValue("noise", "one parameter per trial", "the same in every trial of a plan")
        put(self, "sensitivity", positive(self.sensitivity, "sensitivity"))
        put(self, "count", whole(self.count, "count", 1))
        if self.cohort is not None:
            put(self, "cohort", Cohort.of(self.cohort))
        if self.sampling is not None:
            put(self, "sampling", exact(self.sampling, "sampling"))
            if self.kind != "release":
                raise InvalidValue("sampling", self.sampling, 'left out of all but releases (kind="release")')
            if not 0 < self.sampling <= 1:
                raise InvalidValue("sampling", self.sampling, "a rate above 0 and at most 1")

    @property
    def drawn(self) -> Noise:
        """What is drawn, and what its record names."""
        return self.noise.laplace if isinstance(self.noise, ThresholdedLaplace) else self.noise

    @property
    def steps(self) -> int:
        """How far one record may move it, in steps of its grid."""
        return int(-(-self.sensitivity // self.noise.grid))

    @property
    def places(self) -> int:
        """How many releases of a plan it stands for. A stream is one, opened once."""
        return 1 if self.kind == "tree" else self.count

    @property
    def crowd(self) -> int:
        """How many reports of a shuffled batch one of them hides among, on every path."""
        return 1 if self.cohort is None or not self.cohort.size else int(self.cohort.size)

    def release(self, derived: Fraction | None, relation: str | None = None) -> Release:
        """The record that it is accounted by, whatever its query and its size are. ``derived``: a sensitivity proven by traces,
        for the neighbours of ``relation``, which is charged where it is larger.

        Size does not matter. Gaussian noise: the bound takes any number of coordinates. Answers: as many as the sensitivity says
        change. Laplace noise on several coordinates, which move by a + b, is no worse than on one that moves by a + b: with
        trade-off functions f, T(P₁×P₂, Q₁×Q₂) ≥ f_b(1 − f_a) by the triangle P₁×P₂, Q₁×P₂, Q₁×Q₂ (Dong, Roth, Su 2022, proof
        of Thm 2.14), and for log-concave noise, whose best tests are half-lines, f_b(1 − f_a) = f_{a+b}.
        """
        worst = self.sensitivity if derived is None else max(self.sensitivity, derived)
        stream, many = self.kind == "tree", self.kind in ("release", "tree")
        times = levels(self.count) if stream else 1
        return Release(
            name=self.name, mechanism=self.drawn.name, parameters=self.drawn.parameters(), sensitivity=self.sensitivity,
            derived=None if derived is None else worst, cohort=Cohort.all() if self.cohort is None else self.cohort, to=self.to,
            kind="release" if stream or not self.noise.entrywise else self.kind, n=self.crowd,
            steps=int(-(-worst // self.noise.grid)), coordinates=1 if self.noise.norm in (1, -1) or not many else MANY,
            crowd=self.crowd if self.kind == "shuffled" else None, relation=relation,
            count=times if times > 1 else None, leaves=self.count if stream else None,
            sampling=None if self.sampling is None else show(self.sampling),
            failure=self._failure(),
        )  # fmt: skip

    def _failure(self) -> str | None:
        if isinstance(self.noise, ThresholdedLaplace):
            return show(self.noise.delta)
        return show(self.drawn.failure) if self.drawn.fails else None

    def python_code(self) -> str:
        """As one writes it in a plan."""
        facts = f'{json.dumps(self.name, ensure_ascii=False)}, {python_code(self.noise)}, "{show(self.sensitivity)}"'
        if self == Planned(self.name, self.noise, self.sensitivity):
            return f"({facts})"
        more = [f'kind="{self.kind}"'] if self.kind not in ("release", self.noise.verb) else []
        more += [f"cohort={_cohort_code(self.cohort)}"] if self.cohort is not None else []
        more += [f'to="{self.to}"'] if self.to not in ("server", self.kind) else []
        more += [f'sampling="{show(self.sampling)}"'] if self.sampling is not None else []
        more += [f"count={self.count}"] if self.count > 1 else []
        return f"dp.Planned({', '.join([facts, *more])})"

    def words(self) -> str:
        """For a person; no values, and no records by name."""
        shown = f"{self.name[:60]!r} ({self.kind}) with {python_code(self.noise)}, sensitivity {show(self.sensitivity)}"
        shown += f", {self.count} running sums" if self.kind == "tree" else ""
        shown += "" if self.to in ("server", self.kind) else f", to {self.to}"
        shown += "" if self.cohort is None else f", {cohort_words(self.cohort)}"
        return shown + ("" if self.sampling is None else f", sampled at rate {show(self.sampling)}")


@dataclass(frozen=True)
class Plan:
    """Releases in their order."""

    entries: tuple[Planned, ...]
    ends: tuple[int, ...] = field(init=False)  # how many releases there are up to the end of each entry

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", tuple(accumulate(entry.places for entry in self.entries)))

    @classmethod
    def of(cls, given: Any) -> Self:
        """From ``Planned`` and tuples (name, noise, sensitivity). Raises InvalidValue."""
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidValue("plan", type(given).__name__, f"a list of releases, such as [{EXAMPLE}]")
        return cls(tuple(_entry(one) for one in given))

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    def __iter__(self) -> Iterator[Planned]:
        return (entry for entry in self.entries for _ in range(entry.places))

    def at(self, place: int) -> Planned | None:
        """The release with this number, from 0 on; None after the last."""
        return None if place >= len(self) else self.entries[bisect_right(self.ends, place)]

    def python_code(self) -> str:
        return f"plan=[{', '.join(entry.python_code() for entry in self.entries)}]"


def _entry(entry: Any) -> Planned:
    if isinstance(entry, Planned):
        return entry
    if not isinstance(entry, tuple) or len(entry) != 3:
        raise InvalidValue("plan", type(entry).__name__, f"made of dp.Planned(…) or (name, noise, sensitivity): {EXAMPLE}")
    return Planned(*entry)


def cohort_words(cohort: Cohort) -> str:
    return "a cohort of everybody" if cohort.everyone else f"a cohort of {cohort.size} records"


def _cohort_code(cohort: Cohort) -> str:
    ranges = [f"range({start}, {stop})" for start, stop in cohort.intervals]
    if len(ranges) == 1 and not cohort.ids:
        return ranges[0]
    return f"[{', '.join([*ranges, *(repr(name) for name in sorted(cohort.ids))])}]"
