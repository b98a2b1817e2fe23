"""What peers can be asked about: the releases of the worst client, equal ones counted; and our certified interval for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accountants.composition import account_releases
from dpaudit.accountants.losses.numerical import compose
from dpaudit.accountants.losses.parts import Part
from dpaudit.accountants.readings.reads import Read
from dpaudit.accountants.shuffle.amplification import amplify
from dpaudit.accountants.stated_releases import StatedRead
from dpaudit.channel.release_cost import LARGEST_EPSILON, epsilon_at, rho, zcdp_delta
from dpaudit.claims import Enclosure, InvalidValue, show
from dpaudit.ledger import Release


@dataclass(frozen=True)
class SameReleases:
    """Releases that all touch one client: as records, as parts that compose, in words; and what peers may have no words for."""

    releases: Sequence[Release]
    count: int  # how often all of them were made
    parts: Sequence[Part]
    described: str
    features: frozenset[str]

    @property
    def pure(self) -> Fraction | None:
        """The pure sum; None if a release has no pure ε."""
        costs = [part.pure() for part in self.parts]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Fraction(0))


def of_worst_client(releases: Sequence[Release], delta: Fraction, count: int = 1) -> SameReleases:
    """The releases that touch the client who pays most at δ, each ``count`` times. Those of sensitivity 0 tell nothing."""
    stated = [release for release in releases if StatedRead.of(release) is not None]
    if stated:
        raise InvalidValue("mechanism", stated[0].mechanism, "noise: peers are asked about mechanisms, not stated guarantees")
    reads = [Read.of(release) for release in releases]
    worst = account_releases(releases, delta, fixed=True).worst_client["client"]  # as the peers assume
    touching = [read for read in reads if read.cohort.everyone or (worst is not None and worst in read.cohort)]
    if any(read.failure for read in touching):
        raise InvalidValue("releases", "counts of unknown keys", "others: no peer is asked about those")
    groups = Counter(
        replace(read.mechanism_part(read.crowd if read.release.kind == "shuffled" else None), count=count * read.count)
        for read in touching
        if read.steps
    )
    parts = [replace(part, count=part.count * times) for part, times in groups.items()]
    who = "" if len(touching) == len(reads) or worst is None else f" of client {worst}, who pays most"
    described = "; ".join(_words(part) for part in parts[:4]) + ("; …" if len(parts) > 4 else "") or "nothing"
    return SameReleases([r.release for r in touching], count, parts, described + who, _features(reads, touching, parts))


def _words(part: Part) -> str:
    parameters = part.noise.parameters()
    value = parameters[part.noise.size_name]
    sizes = {part.noise.size_name: value if len(value) <= 12 else f"about {float(Fraction(value)):.6g}"}
    sizes |= {name: text for name, text in parameters.items() if name not in (*sizes, "grid")}
    moved = "" if part.noise.alphabet else f", sensitivity {show(part.steps * part.noise.grid)}"
    crowd = "" if part.shuffled is None else f", shuffled among {part.shuffled}"
    crowd += "" if part.sampling is None else f", Poisson samples of rate {show(part.sampling)}"
    shown = ", ".join(f"{name} {text}" for name, text in sizes.items())
    return (f"{part.count} × " if part.count > 1 else "") + f"{part.noise.name} ({shown}{moved}{crowd})"


def _features(reads: Sequence[Read], touching: Sequence[Read], parts: Sequence[Part]) -> frozenset[str]:
    kinds, answers = {read.release.kind for read in reads}, {part.noise.alphabet is not None for part in parts}
    present = {
        "Laplace noise": any(part.noise.rate is not None for part in parts),
        "randomised response": True in answers,
        "randomised response beside other noise": len(answers) > 1,
        "shuffled batches": "shuffled" in kinds,
        "local reports": "reports" in kinds,
        "disjoint cohorts": len(touching) < len(reads),
    }
    return frozenset(feature for feature, found in present.items() if found)


def our_enclosure(same: SameReleases, delta: Fraction) -> Enclosure:
    """[lower, upper] around the least ε at δ, for noise that is fixed in advance, as the peers assume.

    The lower end is attained by queries that move one coordinate by the whole sensitivity; with shuffled batches, by an attack on
    the other releases or on one of the batches. The upper end is the least of the numerical composition and the account, or a
    plain sum where parameters are beyond what the composition can hold in floats.
    """
    try:
        ours = compose(same.parts, delta)
    except ArithmeticError:
        return _summed(same, delta)
    batches = [part for part in same.parts if part.shuffled is not None]
    if not batches and all(part.coordinates <= 1 for part in same.parts):
        return ours
    plain = compose([replace(part, coordinates=1) for part in same.parts if part.shuffled is None], delta)
    low = max([plain.lower, *(_attacked(part, delta) for part in batches if delta)])
    high, method = ours.upper, ours.method
    if same.count == 1:
        bound = account_releases(same.releases, delta)
        high, method = min((high, method), (bound.epsilon, bound.method))
    return Enclosure(min(low, high), high, True, method)


def _summed(same: SameReleases, delta: Fraction) -> Enclosure:
    """Σε, or Σρ with ρ = ε²/2 for a pure release (Bun & Steinke 2016, Prop. 1.4); no lower bound."""
    if same.pure is not None:
        return Enclosure(Fraction(0), same.pure, True, "pure sum")
    total = sum((part.count * rho(part.noise, part.steps) for part in same.parts), Fraction(0))
    if total > LARGEST_EPSILON:
        raise InvalidValue("noise", same.described, f"more: Σρ is at most {LARGEST_EPSILON:.0e}")
    return Enclosure(Fraction(0), epsilon_at(delta, lambda epsilon: zcdp_delta(total, epsilon) <= delta), True, "zCDP sum")


def _attacked(part: Part, delta: Fraction) -> Fraction:
    """A proven lower bound for one shuffled batch of Laplace reports; of others none is at hand for the very same randomiser."""
    if part.noise.rate is None:
        return Fraction(0)
    found = amplify(part.noise.epsilon(part.steps) or 0, part.shuffled, delta, method="laplace", steps=part.steps)
    return found.attack or Fraction(0)
