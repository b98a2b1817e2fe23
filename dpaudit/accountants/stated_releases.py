"""Releases that state their guarantee, as an accountant reads them: what composes, and their line in an account."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.accountants.least_epsilon import least
from dpaudit.accountants.losses.parts import AnyPart, Known
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve
from dpaudit.accountants.sampling.pure_sampling import sampled_pure
from dpaudit.claims import Line, show, sum_up
from dpaudit.ledger import Cohort, Release
from dpaudit.ledger.records.guarantees import (
    Guarantee,
    KnownGuarantee,
    LossGuarantee,
    RenyiGuarantee,
    ZcdpGuarantee,
    guarantee_from,
)

WORDS: dict[type[Guarantee], str] = {
    KnownGuarantee: "stated (ε, δ)-DP (Kairouz, Oh, Viswanath 2015)",
    ZcdpGuarantee: "stated ρ-zCDP (Bun & Steinke 2016)",
    RenyiGuarantee: "stated Rényi divergences (Mironov 2017)",
    LossGuarantee: "stated law of the loss of a dominating pair (Zhu, Dong, Wang 2022)",
}
SAMPLED = ", on Poisson samples: (ln(1 + q(e^ε − 1)), qδ) each (Balle, Barthe, Gaboardi 2018, Thm 8)"
TAKEN = "taken as stated, for one record, neighbours in either order"
COINS = (
    "every record enters each sample by its own secret coin with probability {}, fresh each time; neighbours add or remove one "
    "record, in the stated guarantee too"
)
LARGER = (
    "at δ = {} these releases have no finite ε: what they state fails with probability up to {} in all; the figure is at that δ"
)


@dataclass(frozen=True)
class StatedRead:
    """A release that states its guarantee."""

    release: Release
    guarantee: Guarantee

    @classmethod
    def of(cls, release: Release) -> StatedRead | None:
        """None for a release with noise. Raises ``InvalidValue``."""
        stated = guarantee_from(release.mechanism, release.parameters)
        return None if stated is None else cls(release, stated)

    @property
    def count(self) -> int:
        return 1 if self.release.count is None else self.release.count

    @property
    def summed(self) -> bool:
        """Nothing is stated about sums."""
        return False

    @property
    def clients(self) -> int:
        return self.release.n if self.release.kind != "release" else self.release.cohort.size or self.release.n

    @property
    def cohort(self) -> Cohort:
        return self.release.cohort if self.release.cohort.size != 0 else Cohort.all()

    def part(self) -> AnyPart:
        """As what is composed."""
        return stated_part(self.guarantee, self.count, self.release.sampling)

    def line(self, delta: Fraction) -> Line:
        """What it costs by itself at δ, or at the least δ that it states."""
        part, release = self.part(), self.release
        times = f"{self.count} × " if self.count > 1 else ""
        theorem = times + WORDS[type(self.guarantee)] + (SAMPLED if release.sampling is not None else "")
        needs = TAKEN if release.sampling is None else f"{COINS.format(show(Fraction(release.sampling)))}; {TAKEN}"
        if not delta and isinstance(part, Concentrated | RenyiCurve) and part.pure() is None:
            return Line(release.name, self.clients, Fraction(0), False, Fraction(0), theorem, "needs δ > 0; give --delta")
        if self.count == 1 and isinstance(part, Known | LossPart):
            own = (part.epsilon, part.delta) if isinstance(part, Known) else (part.top, part.infinite)
            return Line(release.name, self.clients, own[0], True, own[0], theorem, needs, own[1])
        bound = least([Counter([part])], delta, fixed=True)
        one = least([Counter([replace(part, count=1)])], delta, fixed=True).epsilon if self.count > 1 else bound.epsilon
        return Line(release.name, self.clients, one, True, bound.epsilon, theorem, needs, bound.delta)


def stated_part(guarantee: Guarantee, count: int = 1, sampling: str | None = None) -> AnyPart:
    """A guarantee as what is composed; ``sampling`` is the rate of Poisson samples, for (ε, δ) alone."""
    match guarantee:
        case KnownGuarantee(epsilon, delta):
            rate = Fraction(1 if sampling is None else sampling)
            return Known(sampled_pure(epsilon, rate), rate * delta, count)
        case ZcdpGuarantee(rho):
            return Concentrated(rho, count)
        case RenyiGuarantee(curve):
            return RenyiCurve(curve, count)
        case LossGuarantee(losses, infinite):
            return LossPart(losses, infinite, count)


def stated_failures(parts: list[AnyPart]) -> Fraction:
    """Σ of the probabilities with which these parts fail as they state."""
    return sum_up(
        part.count * (part.delta if isinstance(part, Known) else part.infinite)
        for part in parts
        if isinstance(part, Known | LossPart)
    )
