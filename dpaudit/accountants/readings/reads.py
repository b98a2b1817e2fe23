"""Releases as accountants understand them: noise, steps, crowd, and what an observer sees of each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.shuffle.report_sums import summed
from dpaudit.accountants.stated_releases import StatedRead, stated_part
from dpaudit.claims import InvalidValue
from dpaudit.ledger import Charge, Cohort, PureSums, Release
from dpaudit.ledger.records.guarantees import guarantee_from
from dpaudit.noise import MECHANISMS, Noise, capped_steps, noise_from

FACTS = (
    "mechanism",
    "sensitivity",
    "steps",
    "coordinates",
    "count",
    "sampling",
)  # of a charge, beside the parameters of its mechanism

_FARTHEST = 2**20  # deviations of Gaussian noise: ε would be above 10^11, and exponentials of it fill the memory


@lru_cache(maxsize=4096)
def _noise(name: str, parameters: tuple[tuple[str, str], ...]) -> Noise:
    """Equal releases share one mechanism: they are told apart quickly."""
    return noise_from(name, dict(parameters))


@dataclass(frozen=True)
class Read:
    """A release as an accountant understands it."""

    release: Release
    noise: Noise
    steps: int
    coordinates: int

    @classmethod
    def of(cls, release: Release) -> Read:
        noise = _noise(release.mechanism, tuple(release.parameters.items()))
        sensitivity = release.sensitivity if release.derived is None else release.derived
        steps = int(-(-sensitivity // noise.grid)) if release.steps is None else release.steps
        if noise.spread is not None and steps > _FARTHEST * noise.spread:
            raise InvalidValue("sensitivity", sensitivity, "at most 2^20 times sigma: no ε that says anything holds beyond")
        coordinates = 1 if release.coordinates is None else release.coordinates
        return cls(release, noise, capped_steps(noise, steps, coordinates), coordinates)

    @property
    def count(self) -> int:
        """How many equal releases the entry stands for."""
        return 1 if self.release.count is None else self.release.count

    @property
    def sampling(self) -> Fraction | None:
        """The rate of the Poisson sample that each was computed from."""
        return None if self.release.sampling is None else Fraction(self.release.sampling)

    @property
    def failure(self) -> Fraction:
        """The probability with which it shows what its mechanism does not account for."""
        stated = self.release.failure
        return max(Fraction(stated), self.noise.failure) if stated else self.noise.failure

    def part(self, shuffled: int | None = None) -> AnyPart:
        """As what is composed."""
        failure = self.failure
        pure = self.noise.epsilon(self.steps) if failure else None
        if pure is not None:
            return Known(pure, failure, self.count)
        return self.mechanism_part(shuffled)

    def mechanism_part(self, shuffled: int | None = None) -> Part:
        """What its noise costs."""
        return Part(self.noise, self.steps, self.count, self.coordinates, shuffled, self.sampling)

    @property
    def crowd(self) -> int:
        """How many reports a shuffled one hides among: never more than were sent, nor than the clients that its cohort names.
        Where its door did not say, tags count as public: it hides among those with its own."""
        stated = self._fewest_tagged if self.release.crowd is None else self.release.crowd
        return min(self.release.n, stated, self.release.cohort.size or self.release.n)

    @property
    def clients(self) -> int:
        """How many clients it is about: one per report, or the records of its cohort where they are known."""
        return self.release.n if self.release.kind != "release" else self.release.cohort.size or self.release.n

    @property
    def summed(self) -> bool:
        """Is nothing but sums of these reports used?"""
        return self.release.kind == "reports" and self.release.read == "sums"

    @property
    def summed_once(self) -> bool:
        """Is it one batch of everybody's reports, hidden by noise alone? Of such it is known what sums cost."""
        return self.summed and self.count == 1 and self.sampling is None and not self.failure

    @property
    def fewest_alike(self) -> int:
        """The crowd for who knows which client sent which tag: the smallest group with one tag."""
        return min(self._fewest_tagged, self.crowd)

    @property
    def _fewest_tagged(self) -> int:
        return min((count for count in self.release.tags.values() if count > 0), default=self.release.n)

    @property
    def cohort(self) -> Cohort:
        """Whose data it is; a release that names nobody is charged to everybody."""
        return self.release.cohort if self.release.cohort.size != 0 else Cohort.all()


AnyRead = Read | StatedRead


def read_release(release: Release) -> AnyRead:
    """A release by its noise, or by the guarantee that it states. Raises ``InvalidValue``."""
    return StatedRead.of(release) or Read.of(release)


def is_pure(mechanism: str) -> bool:
    return mechanism not in MECHANISMS or MECHANISMS[mechanism].pure


def touched(
    reads: Sequence[AnyRead], unused: Sequence[Charge], observer: str, delta: Fraction
) -> Iterator[tuple[AnyPart, Cohort]]:
    """What an observer sees of each release, and whose data it is about."""
    share = Fraction(0)
    if observer == "actions":
        share = left_for_sums(reads, [1] * len(reads), unused, delta) / _most([read for read in reads if read.summed])
    for read in reads:
        yield part_seen(read, observer, share), read.cohort
    for charge in unused:
        yield lost(charge), charge.cohort


def part_seen(read: AnyRead, observer: str, share: Fraction) -> AnyPart:
    """What an observer sees of a release. ``share``: of δ, for each that shows nothing but sums."""
    if isinstance(read, StatedRead):
        return read.part()
    if share and read.summed_once and read.noise.rate is not None:
        behind = summed(read.noise, read.steps, read.fewest_alike, share)
        if behind.upper < (read.noise.epsilon(read.steps) or 0):
            return Known(behind.upper, share)
    crowd = min(read.fewest_alike, read.crowd) if observer == "actions" else read.crowd
    return read.part(crowd if read.release.kind == "shuffled" else None)


def left_for_sums(reads: Sequence[AnyRead], counts: Sequence[int], unused: Sequence[Charge], delta: Fraction) -> Fraction:
    """What the other releases leave of δ: all but what they state, and half of it where one has no finite ε without δ."""
    others = [(part_seen(read, "actions", Fraction(0)), count) for read, count in zip(reads, counts, strict=True)]
    others += [(lost(charge), 1) for charge in unused]
    stated = sum((part.delta * part.count * count for part, count in others if isinstance(part, Known)), Fraction(0))
    needed = any(part.pure() is None for part, _ in others if not isinstance(part, Known))
    return max(delta - stated, Fraction(0)) / (2 if needed else 1)


def _most(reads: Sequence[AnyRead]) -> int:
    """How many of these touch the record that they touch most often; at least 1."""
    counts = PureSums()
    for read in reads:
        counts.add(Charge(Fraction(1), Fraction(0), read.cohort, read.release.name))
    return max(1, int(counts.worst()[0]))


def lost(charge: Charge) -> AnyPart:
    """A charge whose release was never stored: what it may have shown."""
    mechanism = charge.facts.get("mechanism", "")
    stated = guarantee_from(mechanism, {name: text for name, text in charge.facts.items() if name not in FACTS})
    if stated is not None:
        return stated_part(stated)
    if not is_pure(mechanism):
        noise = noise_from(mechanism, {name: text for name, text in charge.facts.items() if name not in FACTS})
        steps = int(charge.facts.get("steps", math.ceil(Fraction(charge.facts["sensitivity"]) / noise.grid)))
        rate = Fraction(charge.facts["sampling"]) if "sampling" in charge.facts else None
        count, coordinates = int(charge.facts.get("count", 1)), int(charge.facts.get("coordinates", 2))
        return Part(noise, steps, count, coordinates, sampling=rate)
    if charge.epsilon is None:
        raise InvalidValue("epsilon", None, "known for every charge")
    return Known(charge.epsilon, charge.delta)
