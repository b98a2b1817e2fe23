"""Reads releases and proves what they cost together: per record, per observer, per batch.

For every record, the least ε that provably holds for what touches it (least.py): sums of pure ε (Dwork & Roth 2014, Thm 3.16) and
of ρ (Bun & Steinke 2016, Lemma 1.7) always, and the exact composition where parameters were fixed in advance. Disjoint cohorts
compose in parallel. A shuffled batch costs what the amplification theorem named in its line gives.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpaudit.accountants.least_epsilon import ZCDP, Least, least
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.record_groups import groups, records_with
from dpaudit.accountants.sampling import constant_steps
from dpaudit.accountants.shuffle.amplifier import best_theorem
from dpaudit.accountants.shuffle.report_sums import summed
from dpaudit.accountants.stated_releases import LARGER, StatedRead, stated_failures, stated_part
from dpaudit.accountants.worst_client import Client, client_of, worst_client
from dpaudit.channel.release_cost import gaussian_epsilon
from dpaudit.claims import Bound, DpauditError, Finding, InvalidValue, Line, Number, exact_delta, show
from dpaudit.ledger import Budget, Charge, Cohort, Ledger, PureSums, Release, is_ledger, load_releases, open_ledger
from dpaudit.ledger.records.guarantees import guarantee_from
from dpaudit.noise import MECHANISMS, Noise, capped_steps, noise_from, written_forms

DEFAULT_DELTA = Fraction(1, 10**6)
_MOST_DELTA = 1 - Fraction(1, 2**64)
REFUSED = (
    "numerical composition refused: parameters may have been chosen adaptively, after looking at released values; "
    "give --fixed (fixed=True) if every noise scale and sensitivity was fixed in advance. Queries may be adaptive. Where "
    'parameters do depend on outputs, open the door with dp.Budget(ε, δ, filter="renyi"), which adds up moments at one order'
)


IN_ADVANCE = (
    "a sum of ρ holds where its limit was set in advance, as a door with a budget does; if what was released decided when to "
    "stop, --odometer gives the figure that holds"
)
VACUOUS = (
    "the δ that these releases state add up to {}: a bound with δ of 1 or more says nothing. If all was fixed in advance, "
    "--fixed (fixed=True) composes them"
)
FACTS = (
    "mechanism",
    "sensitivity",
    "steps",
    "coordinates",
    "count",
    "sampling",
)  # of a charge, beside the parameters of its mechanism
BLANKET = "privacy blanket, exact (Balle et al. 2019; Su et al. 2025)"
SAMPLED = ", on Poisson samples (Zhu, Dong, Wang 2022)"
SAMPLED_PURE = ", on Poisson samples: ln(1 + q(e^ε − 1)) each (Li, Qardaji, Su 2012)"
COINS = (
    "every record enters each sample by its own secret coin with probability {}, fresh each time; neighbours add or remove one "
    "record, or zero it out; the batch's size and ids stay secret; rate and noise constant"
)
TREE = "a stream of {} running sums by a binary tree: one record is in at most {} noisy sums (Chan, Shi, Song 2011)"
THRESHOLDED = "counts of unknown keys above a threshold (Korolova et al. 2009)"
CLONES = "clones, exact (Feldman–McMillan–Talwar 2021)"
SAME = "one randomiser for all reports, exact (claim shuffle.same-randomiser; Balle et al. 2019)"
RESPONSES = "privacy blanket of k-ary randomised response, exact (Balle et al. 2019)"
BITS = "privacy blanket of unary encodings, exact (Balle et al. 2019)"
AMPLIFIED = {"laplace": BLANKET, "krr": RESPONSES, "unary": BITS, "oue": BITS, "same": SAME, "clone": CLONES}


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
        """How many reports a shuffled one hides among."""
        return self.release.n if self.release.crowd is None else self.release.crowd

    @property
    def clients(self) -> int:
        """How many clients it is about: one per report, or the records of its cohort where they are known."""
        return self.release.n if self.release.kind != "release" else self.release.cohort.size or self.release.n

    @property
    def summed(self) -> bool:
        """Is nothing but sums of these reports used?"""
        return self.release.kind == "reports" and self.release.read == "sums"

    @property
    def fewest_alike(self) -> int:
        """The crowd for who knows which client sent which tag: the smallest group with one tag."""
        return min((count for count in self.release.tags.values() if count > 0), default=self.crowd)

    @property
    def cohort(self) -> Cohort:
        """Whose data it is; a release that names nobody is charged to everybody."""
        return self.release.cohort if self.release.cohort.size != 0 else Cohort.all()


AnyRead = Read | StatedRead


def read_release(release: Release) -> AnyRead:
    """A release by its noise, or by the guarantee that it states. Raises ``InvalidValue``."""
    return StatedRead.of(release) or Read.of(release)


def as_release(written: Release | Mapping[str, Any]) -> Release:
    """A release, also from the fields that people write by hand. Raises InvalidRecord."""
    return written if isinstance(written, Release) else Release.from_json(written, forms=written_forms())


def account(
    ledger: Ledger | str | Path | Iterable[Release | Mapping[str, Any]], *, delta: Number | None = None, fixed: bool = False,
    limit: Fraction | None = None,
) -> Bound:  # fmt: skip
    """A proven (ε, δ) for a ledger, its file or a list of releases (also as people write them), per observer and worst client.

    ``fixed``: every noise scale, sensitivity and cohort was fixed in advance, only the queries may have looked at what was
    released before; then losses are composed exactly. Else only what holds for adaptively chosen parameters is used.
    ``limit``: the ε that it will be held to. A plain sum with δ = 0 is shown where anything better gains less than a thousandth,
    but not where that thousandth decides.
    Without ``delta``: the budget's, else 0 where every release is pure and 10^-6 where not. Charges whose release was
    never stored (a crash) count as spent.
    """
    if not isinstance(ledger, Ledger | str | Path | Iterable):
        raise InvalidValue("ledger", type(ledger).__name__, "a ledger, its file, or a list of releases")
    if isinstance(ledger, str | Path):
        if not is_ledger(ledger):
            return account(load_releases(ledger, written_forms()), delta=delta, fixed=fixed, limit=limit)
        with open_ledger(ledger, readonly=True) as opened:
            return account(opened, delta=delta, fixed=fixed, limit=limit)
    releases = list(ledger.releases() if isinstance(ledger, Ledger) else map(as_release, ledger))
    budget = ledger.budget if isinstance(ledger, Ledger) else None
    unused = ledger.unused_charges() if isinstance(ledger, Ledger) else []
    said = (
        [constant_steps.statement(releases), constant_steps.IN_ADVANCE] if any(map(constant_steps.is_constant, releases)) else []
    )
    releases, unused = constant_steps.join_steps(releases, unused)
    bound = account_releases(releases, target_delta(releases, budget, delta), unused, fixed=fixed, limit=limit)
    return replace(bound, notes=[*bound.notes, *said])


def target_delta(releases: Sequence[Release], budget: Budget | None, delta: Number | None) -> Fraction:
    """The δ at which a ledger is accounted for: the one asked for, else the budget's, else one that its noise needs."""
    if delta is not None:
        return exact_delta(delta)
    if budget is not None:
        return budget.delta
    stated = [read for read in map(StatedRead.of, releases) if read is not None]
    pure = all(_is_pure(release.mechanism) and release.kind != "shuffled" for release in releases)
    pure = pure and all(read.guarantee.pure is not None for read in stated)
    failures = sum((read.failure * read.count for read in map(read_release, releases) if isinstance(read, Read)), Fraction(0))
    least_delta = min(stated_failures([read.part() for read in stated]) + failures, _MOST_DELTA)
    return least_delta if pure else min(least_delta + DEFAULT_DELTA, _MOST_DELTA)


def _is_pure(mechanism: str) -> bool:
    return mechanism not in MECHANISMS or MECHANISMS[mechanism].pure


def account_releases(
    releases: Sequence[Release], delta: Fraction, unused: Sequence[Charge] = (), *, fixed: bool = False,
    limit: Fraction | None = None,
) -> Bound:  # fmt: skip
    """The bound at ``delta`` for these releases; ``fixed`` and ``limit`` as in ``account``."""
    reads = [read_release(release) for release in releases]
    lines = [_line(read, delta) for read in reads]
    findings = _understated(releases)
    findings += [Finding("DPA005", f"{line.batch}: {line.preconditions}", line.batch) for line in lines if not line.in_domain]
    observers = ("server", "actions", *(["shuffled"] if any(r.kind == "shuffled" for r in releases) else []))
    seen = {observer: groups(touched(reads, unused, observer, delta)) for observer in observers}
    bounds = {observer: least(parts, delta, fixed=fixed, limit=limit) for observer, parts in seen.items()}
    if any(release.failure for release in releases) and bounds["server"].delta > delta:
        raise InvalidValue("delta", delta, f"at least {show(bounds['server'].delta)}: counts of unknown keys need that much")
    views = {observer: (bound.epsilon, bound.delta) for observer, bound in bounds.items()}
    epsilon, spent = views["server"]
    if spent >= 1:
        raise DpauditError(VACUOUS.format(show(spent)))
    charges = [Charge(line.epsilon, line.delta, read.cohort, line.batch) for line, read in zip(lines, reads, strict=True)]
    worst = _worst(list(touched(reads, unused, "server", delta)), [*charges, *unused], bounds["server"].group)
    several = any(group.total() > 1 for group in seen["server"])
    notes = [REFUSED] if delta and several and not fixed else []
    notes += [IN_ADVANCE] if several and not fixed and ZCDP in bounds["server"].method else []
    notes += [LARGER.format(show(delta), show(spent))] if spent > delta else []
    told = worst.to_dict(epsilon, spent)
    return Bound(epsilon, spent, bounds["server"].method, views, told, lines, findings, notes)


def _worst(seen: Sequence[tuple[AnyPart, Cohort]], charges: Sequence[Charge], group: Counter[AnyPart]) -> Client:
    """The client whom the bound is about: the one with the largest sum if that is what touches it, else one whom it touches."""
    first = worst_client(charges)
    own = Counter(part for part, cohort in seen if cohort.everyone or (first.record is not None and first.record in cohort))
    return first if own == group or not group else client_of(records_with(seen, group), charges)


def _understated(releases: Sequence[Release]) -> list[Finding]:
    """Releases whose proven sensitivity exceeds the declared one: one finding for all of them."""
    found = [r for r in releases if r.derived is not None and r.derived > r.sensitivity * (1 + Fraction(1, 10**12))]
    if not found:
        return []
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    proven = show(first.derived or Fraction(0))
    message = f"release {first.name!r}{more} declares sensitivity {show(first.sensitivity)}, proven is {proven}"
    return [Finding("DPA003", message, first.name, first.name)]


def _line(read: AnyRead, delta: Fraction) -> Line:
    if isinstance(read, StatedRead):
        return read.line(delta)
    release, pure = read.release, read.noise.epsilon(read.steps)
    if read.sampling is not None or read.count > 1:
        return _repeated_line(read, pure, delta)
    if read.failure and pure is not None:
        enough = read.failure <= delta
        needs = f"sensitivity {_known(release)}" if enough else f"needs δ of at least {show(read.failure)}"
        theorem = read.noise.theorem if read.noise.fails else THRESHOLDED
        return Line(release.name, read.clients, pure, enough, pure, theorem, needs, read.failure)
    if release.kind == "shuffled" and pure is not None:
        return _shuffled_line(read, pure, delta)
    if pure is None:
        epsilon = gaussian_epsilon(read.noise, read.steps, delta, read.coordinates) if delta else None
        if epsilon is None:
            return Line(
                release.name,
                read.clients,
                Fraction(0),
                False,
                Fraction(0),
                f"{read.noise.words.split()[0]} mechanism",
                "needs δ > 0; give --delta",
            )
        return Line(
            release.name,
            read.clients,
            epsilon,
            True,
            epsilon,
            read.noise.theorem,
            "L2 sensitivity " + _known(release),
            delta,
        )
    theorem = read.noise.theorem + (", local" if release.kind == "reports" else "")
    return Line(release.name, read.clients, pure, True, pure, theorem, "sensitivity " + _known(release))


def _repeated_line(read: Read, pure: Fraction | None, delta: Fraction) -> Line:
    """Several equal releases, or releases from Poisson samples, in one entry: one plan with constant parameters."""
    release, sensitivity = read.release, ("L2 " if pure is None else "") + "sensitivity " + _known(read.release)
    conditions = ([COINS.format(show(read.sampling))] if read.sampling is not None else []) + [sensitivity]
    times = f"{read.count} × " if read.count > 1 else ""
    if release.leaves is not None:
        conditions.append(TREE.format(release.leaves, read.count))
    amplified_by = (SAMPLED if pure is None else SAMPLED_PURE) if read.sampling is not None else ""
    theorem = times + read.noise.theorem + amplified_by
    if pure is None and not delta:
        words = f"{read.noise.words.split()[0]} mechanism"
        return Line(release.name, read.clients, Fraction(0), False, Fraction(0), words, "needs δ > 0; give --delta")
    shuffled = read.crowd if release.kind == "shuffled" else None
    bound = _least_alone(read.part(shuffled), delta)
    own = bound.epsilon if pure is None else pure
    return Line(release.name, read.clients, own, True, bound.epsilon, theorem, "; ".join(conditions), bound.delta)


@lru_cache(maxsize=1024)
def _least_alone(part: AnyPart, delta: Fraction) -> Least:
    """A plan of samples has thousands of equal lines."""
    return least([Counter([part])], delta, fixed=True)


def _shuffled_line(read: Read, pure: Fraction, delta: Fraction) -> Line:
    release = read.release
    if not delta:
        return Line(release.name, release.n, pure, True, pure, "local randomiser", "δ = 0: shuffling gives nothing")
    if read.crowd < 2 <= release.n:
        why = "a report alone with its tag is not hidden by shuffling, nor are values that are not known to share one interval"
        return Line(release.name, release.n, pure, True, pure, "local randomiser", why)
    epsilon, method = best_theorem(read.noise, pure, read.crowd, delta)
    if epsilon < pure:
        values = ", values in one interval" if read.noise.alphabet is None else ""
        condition = f"n honest clients, one report each, by one randomiser{values}; sensitivity {_known(release)}"
        return Line(release.name, release.n, pure, True, epsilon, AMPLIFIED[method], condition, delta)
    return Line(release.name, release.n, pure, True, pure, "local randomiser", "too few reports for amplification")


def _known(release: Release) -> str:
    return f"{show(release.derived)} proven" if release.derived is not None else f"{show(release.sensitivity)} declared"


def touched(
    reads: Sequence[AnyRead], unused: Sequence[Charge], observer: str, delta: Fraction
) -> Iterator[tuple[AnyPart, Cohort]]:
    """What an observer sees of each release, and whose data it is about."""
    share = (
        delta / _most([read for read in reads if isinstance(read, Read) and read.summed])
        if observer == "actions"
        else Fraction(0)
    )
    for read in reads:
        if isinstance(read, StatedRead):
            yield read.part(), read.cohort
            continue
        if share and read.summed and read.noise.rate is not None:
            behind = summed(read.noise, read.steps, read.fewest_alike, share)
            if behind.upper < (read.noise.epsilon(read.steps) or 0):
                yield Known(behind.upper, share), read.cohort
                continue
        crowd = min(read.fewest_alike, read.crowd) if observer == "actions" else read.crowd
        shuffled = crowd if read.release.kind == "shuffled" else None
        yield read.part(shuffled), read.cohort
    for charge in unused:
        yield lost(charge), charge.cohort


def _most(reads: Sequence[Read]) -> int:
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
    if not _is_pure(mechanism):
        noise = noise_from(mechanism, {name: text for name, text in charge.facts.items() if name not in FACTS})
        steps = int(charge.facts.get("steps", math.ceil(Fraction(charge.facts["sensitivity"]) / noise.grid)))
        rate = Fraction(charge.facts["sampling"]) if "sampling" in charge.facts else None
        count, coordinates = int(charge.facts.get("count", 1)), int(charge.facts.get("coordinates", 2))
        return Part(noise, steps, count, coordinates, sampling=rate)
    if charge.epsilon is None:
        raise InvalidValue("epsilon", None, "known for every charge")
    return Known(charge.epsilon, charge.delta)
