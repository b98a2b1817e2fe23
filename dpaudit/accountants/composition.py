"""Reads releases and proves what they cost together: per record, per observer, per batch.

Pure ε adds up per record (Dwork & Roth 2014, Thm 3.16) and composes in parallel over disjoint cohorts. Gaussian releases add
up their ρ (Bun & Steinke 2016, Lemma 1.7). A shuffled batch costs what the amplification theorem named in its line gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpaudit.accountants.amplification import amplify
from dpaudit.charges import cost, epsilon_at, gaussian_epsilon, rho, use_amplifier, zcdp_delta
from dpaudit.claims import Bound, Finding, InvalidValue, Line, Number, exact_delta, show
from dpaudit.ledger import Charge, Cohort, Ledger, PureSums, Release, is_ledger, load_releases, open_ledger
from dpaudit.noise import GRID, Noise, noise_from

DEFAULT_DELTA = Fraction(1, 10**6)


@lru_cache(maxsize=4096)
def _cloned(epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    return amplify(epsilon0, n, delta, method="clone", attack=False).upper


def amplified(noise: Noise, epsilon0: Fraction, n: int, delta: Fraction) -> Fraction:
    """ε of n shuffled reports of any ε0-LDP randomiser, adaptive ones included: the exact clone bound, at most ε0."""
    return min(epsilon0, _cloned(epsilon0, n, delta))


use_amplifier(amplified)


@dataclass(frozen=True)
class Read:
    """A release as an accountant understands it."""

    release: Release
    noise: Noise
    steps: int
    coordinates: int

    @classmethod
    def of(cls, release: Release) -> Read:
        grid = "1" if release.mechanism == "randomized-response" else show(GRID)  # hand-written releases may leave it out
        noise = noise_from(release.mechanism, {"grid": grid, **release.parameters})
        sensitivity = release.sensitivity if release.derived is None else release.derived
        steps = int(release.extra["steps"]) if "steps" in release.extra else int(-(-sensitivity // noise.grid))
        return cls(release, noise, steps, int(release.extra.get("coordinates", "1")))

    @property
    def crowd(self) -> int:
        """How many reports a shuffled one hides among."""
        return int(self.release.extra.get("crowd", self.release.n))

    @property
    def fewest_alike(self) -> int:
        """The crowd for who knows which client sent which tag: the smallest group with one tag."""
        return min((count for count in self.release.tags.values() if count > 0), default=self.crowd)

    @property
    def cohort(self) -> Cohort:
        """Whose data it is; a release that names nobody is charged to everybody."""
        return self.release.cohort if self.release.cohort.size != 0 else Cohort.all()


def account(ledger: Ledger | str | Path | Iterable[Release], *, delta: Number | None = None) -> Bound:
    """A proven (ε, δ) for a ledger, its file or a list of releases, per observer and for its worst client.

    Without ``delta``: the budget's, else 0 where every release is pure and 10^-6 where not. Charges whose release was
    never stored (a crash) count as spent.
    """
    if not isinstance(ledger, Ledger | str | Path | Iterable):
        raise InvalidValue("ledger", type(ledger).__name__, "a ledger, its file, or a list of releases")
    if isinstance(ledger, str | Path):
        if not is_ledger(ledger):
            return account(load_releases(ledger), delta=delta)
        with open_ledger(ledger, readonly=True) as opened:
            return account(opened, delta=delta)
    releases = list(ledger.releases() if isinstance(ledger, Ledger) else ledger)
    budget = ledger.budget if isinstance(ledger, Ledger) else None
    if delta is not None:
        target = exact_delta(delta)
    elif budget is not None:
        target = budget.delta
    else:
        pure = all(release.mechanism != "gaussian" and release.kind != "shuffled" for release in releases)
        target = Fraction(0) if pure else DEFAULT_DELTA
    unused = ledger.unused_charges() if isinstance(ledger, Ledger) else []
    return account_releases(releases, target, unused)


def account_releases(releases: Sequence[Release], delta: Fraction, unused: Sequence[Charge] = ()) -> Bound:
    """The bound at ``delta`` for these releases."""
    reads = [Read.of(release) for release in releases]
    lines = [_line(read, delta) for read in reads]
    findings = _understated(releases)
    findings += [Finding("DPA005", f"{line.batch}: {line.preconditions}", line.batch) for line in lines if not line.in_domain]
    views: dict[str, tuple[Fraction, Fraction]] = {}
    for observer in (
        "server",
        "actions",
        *(["shuffled"] if any(r.kind == "shuffled" for r in releases) else []),
    ):
        views[observer] = _compose(reads, delta, unused, observer)
    epsilon, spent = views["server"]
    worst = {"epsilon": show(epsilon), "delta": show(spent), "releases": _most_releases(releases)}
    return Bound(epsilon, spent, _method(reads), views, worst, lines, findings)


def _understated(releases: Sequence[Release]) -> list[Finding]:
    """Releases whose proven sensitivity exceeds the declared one: one finding for all of them."""
    found = [r for r in releases if r.derived is not None and r.derived > r.sensitivity * (1 + Fraction(1, 10**12))]
    if not found:
        return []
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    proven = show(first.derived or Fraction(0))
    message = f"release {first.name!r}{more} declares sensitivity {show(first.sensitivity)}, proven is {proven}"
    return [Finding("DPA003", message, first.name)]


def _line(read: Read, delta: Fraction) -> Line:
    release, pure = read.release, read.noise.epsilon(read.steps)
    if release.kind == "shuffled" and pure is not None:
        return _shuffled_line(read, pure, delta)
    if pure is None:
        epsilon = gaussian_epsilon(read.noise, read.steps, delta, read.coordinates) if delta else None
        if epsilon is None:
            return Line(
                release.name,
                release.n,
                Fraction(0),
                False,
                Fraction(0),
                "Gaussian mechanism",
                "needs δ > 0; give --delta",
            )
        return Line(
            release.name,
            release.n,
            epsilon,
            True,
            epsilon,
            "discrete Gaussian (Canonne et al. 2020)",
            "sensitivity in L2",
            delta,
        )
    theorem = "Laplace mechanism (Dwork et al. 2006)" if release.mechanism == "laplace" else "randomised response"
    if release.kind == "reports":
        theorem += ", local"
    return Line(release.name, release.n, pure, True, pure, theorem, "sensitivity " + _known(release))


def _shuffled_line(read: Read, pure: Fraction, delta: Fraction) -> Line:
    release = read.release
    if not delta:
        return Line(release.name, release.n, pure, True, pure, "local randomiser", "δ = 0: shuffling gives nothing")
    epsilon = amplified(read.noise, pure, read.crowd, delta)
    if epsilon < pure:
        condition = f"n honest clients, one report each; sensitivity {_known(release)}"
        return Line(
            release.name, release.n, pure, True, epsilon, "clones, exact (Feldman–McMillan–Talwar 2021)", condition, delta
        )
    return Line(release.name, release.n, pure, True, pure, "local randomiser", "too few reports for amplification")


def _known(release: Release) -> str:
    return f"{show(release.derived)} proven" if release.derived is not None else f"{show(release.sensitivity)} declared"


def _compose(reads: Sequence[Read], delta: Fraction, unused: Sequence[Charge], observer: str) -> tuple[Fraction, Fraction]:
    """Worst record: Σ of pure and shuffled costs, plus the Gaussian part at the δ that is left."""
    sums = PureSums()
    gaussians: list[Read] = []
    share = _share(reads, delta)
    for read in reads:
        pure = read.noise.epsilon(read.steps)
        if pure is None:
            gaussians.append(read)
            continue
        crowd = read.fewest_alike if observer == "actions" else read.crowd
        shuffled = crowd if read.release.kind == "shuffled" else None
        epsilon, spent = cost(read.noise, read.steps, share, shuffled=shuffled)
        sums.add(Charge(epsilon, spent, read.cohort, read.release.name))
    for charge in unused:
        sums.add(charge)
    epsilon, spent = sums.worst()
    if not gaussians:
        return epsilon, spent
    extra, used = _gaussian_part(gaussians, max(delta - spent, Fraction(0)))
    return epsilon + extra, spent + used


def _share(reads: Sequence[Read], delta: Fraction) -> Fraction:
    """δ for one shuffled batch. The δs of a record's batches add up, so they share it, and with the Gaussian part."""
    parts = _most_releases([read.release for read in reads if read.release.kind == "shuffled"])
    parts += any(read.noise.epsilon(read.steps) is None for read in reads)
    return delta / max(parts, 1)


def _gaussian_part(reads: Sequence[Read], delta: Fraction) -> tuple[Fraction, Fraction]:
    if not delta:
        raise InvalidValue("delta", "0", "greater than 0: Gaussian noise has no finite ε at δ = 0")
    groups = _overlapping(reads)
    return max(_gaussian_group(group, delta) for group in groups), delta


def _gaussian_group(reads: Sequence[Read], delta: Fraction) -> Fraction:
    if len(reads) == 1:
        return gaussian_epsilon(reads[0].noise, reads[0].steps, delta, reads[0].coordinates)
    total = sum((rho(read.noise, read.steps) for read in reads), Fraction(0))
    return epsilon_at(delta, lambda epsilon: zcdp_delta(total, epsilon) <= delta)


def _overlapping(reads: Sequence[Read]) -> list[list[Read]]:
    """Groups of releases that may share a record; groups are disjoint from each other."""
    groups: list[tuple[Cohort, list[Read]]] = []
    for read in reads:
        cohort, members = read.cohort, [read]
        apart = []
        for other, others in groups:
            if cohort.disjoint(other):
                apart.append((other, others))
            else:
                cohort, members = cohort.union(other), others + members
        groups = [*apart, (cohort, members)]
    return [members for _, members in groups]


def _most_releases(releases: Sequence[Release]) -> int:
    """How many releases touch the record that is touched most often."""
    counts = PureSums()
    for release in releases:
        counts.add(Charge(Fraction(1), Fraction(0), release.cohort, release.name))
    return int(counts.worst()[0])


def _method(reads: Sequence[Read]) -> str:
    parts: list[Any] = []
    if any(r.noise.epsilon(r.steps) is not None for r in reads):
        parts.append("pure sums per record, parallel over disjoint cohorts")
    if any(r.release.kind == "shuffled" for r in reads):
        parts.append("shuffle amplification")
    if any(r.noise.epsilon(r.steps) is None for r in reads):
        parts.append("zCDP sums")
    return "; ".join(parts) or "nothing released"
