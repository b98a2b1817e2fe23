"""From releases to the laws of their privacy losses: what numerical composition composes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accountants.losses.laws.finite_loss import finite_loss
from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, LatticeLoss, PrivacyLoss, ResponseLoss
from dpaudit.accountants.losses.laws.range_loss import RangeLoss
from dpaudit.accountants.losses.laws.shuffled_loss import shuffled_loss
from dpaudit.accountants.losses.stated_parts import Concentrated, LossPart, RenyiCurve
from dpaudit.accountants.numerics.roots import log
from dpaudit.accountants.sampling.pure_sampling import sampled_pure
from dpaudit.claims import InvalidValue
from dpaudit.claims.balls import ball, lower, precision, upper
from dpaudit.noise import Noise
from dpaudit.noise.loss_facts import FiniteFact, GaussianFact, LaplaceFact, PureFact, RangeFact

_COARSE = 64  # units: up to this deviation, Gaussian noise is taken exactly, value by value
_BITS = 128
_EXACT_BITS = 1024


@dataclass(frozen=True)
class Part:
    """``count`` releases by one mechanism, each of whose queries moves by at most ``steps`` of its grid (L1; L2 for Gaussian).

    ``coordinates``: how many numbers a release holds. ``shuffled``: each release is a batch of so many shuffled reports.
    ``sampling``: each release is computed from a fresh Poisson sample with this rate; None: from all records. ``entries``: in so
    many entries of a ledger; within one parameters are constant, while the next one's may have been chosen on the way.
    """

    noise: Noise
    steps: int
    count: int = 1
    coordinates: int = 1
    shuffled: int | None = None
    sampling: Fraction | None = None
    entries: int = 1

    def pure_one(self) -> Fraction | None:
        """ε at δ = 0 of one of them; None if there is none."""
        one = self.noise.epsilon(self.steps)
        return one if one is None or self.sampling is None else sampled_pure(one, self.sampling)

    def pure(self) -> Fraction | None:
        """ε at δ = 0 of all of them; None if there is none."""
        one = self.pure_one()
        return None if one is None else one * self.count

    def range(self) -> Fraction | None:
        """ε of one of them where it is ε-bounded range, computed from all records; else None."""
        fact = None if self.shuffled is not None or self.sampling is not None else self.noise.loss(self.steps)
        return fact.epsilon if isinstance(fact, RangeFact) else None


@dataclass(frozen=True)
class Known:
    """``count`` releases of which it is known only that each is (ε, δ)-DP."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    count: int = 1

    def pure(self) -> Fraction | None:
        return None if self.delta else self.epsilon * self.count


AnyPart = Part | Known | Concentrated | RenyiCurve | LossPart


@dataclass(frozen=True)
class ComposedLosses:
    """The losses of a composition, what is added to their δ(ε), or taken from it for a lower bound, and how likely none fails.

    ``succeeds`` is Π(1 − P(L_j = ∞)), rounded down: a pair whose loss is infinite with probability δ_j is one that reveals all
    with probability δ_j, on its own, and else has the law of its finite loss. So δ = succeeds·δ(laws) + 1 − succeeds + added.
    """

    laws: tuple[tuple[PrivacyLoss, int], ...]
    added: Fraction
    succeeds: Fraction = Fraction(1)

    @property
    def least_delta(self) -> Fraction:
        """Below it there is no finite ε."""
        return 1 - self.succeeds + self.added

    def delta(self, of_laws: Fraction) -> Fraction:
        """δ of the composition from that of the laws."""
        return self.succeeds * of_laws + self.least_delta

    def of_laws(self, delta: Fraction) -> Fraction:
        """The inverse: what is left for the laws."""
        return (delta - self.least_delta) / self.succeeds

    @property
    def bits(self) -> int:
        """Working precision: moments are raised to the number of losses, and lose a grid's fineness."""
        count = sum(count for _, count in self.laws)
        fineness = max((law.steps.bit_length() for law, _ in self.laws if isinstance(law, LaplaceLoss)), default=0)
        return 160 + 2 * count.bit_length() + fineness


def upper_losses(parts: Sequence[AnyPart], delta: Fraction) -> ComposedLosses:
    """ComposedLosses that bound these releases from above, as accurate as needed at δ. Raises ``InvalidValue``."""
    return _losses(parts, delta, up=True)


def lower_losses(parts: Sequence[AnyPart], delta: Fraction) -> ComposedLosses | None:
    """ComposedLosses that bound these releases from below; None if no such bound is known."""
    if any(not isinstance(part, Part) or part.shuffled is not None or part.sampling is not None for part in parts):
        return None
    if any(isinstance(part, Part) and isinstance(part.noise.loss(part.steps), PureFact | RangeFact) for part in parts):
        return None
    return _losses(parts, delta, up=False)


def _losses(parts: Sequence[AnyPart], delta: Fraction, *, up: bool) -> ComposedLosses:
    counts: dict[PrivacyLoss, int] = {}
    mu_squared = added = Fraction(0)
    for part in parts:
        if not part.count or (isinstance(part, Part) and not part.steps) or (isinstance(part, LossPart) and not part.losses):
            continue
        law, times, missed = _loss(part, delta, up=up)
        added += missed if up else -missed
        if isinstance(law, GaussianLoss):
            mu_squared += times * law.mu_squared
        else:
            counts[law] = counts.get(law, 0) + times
    if mu_squared:
        counts[GaussianLoss(mu_squared)] = 1
    return ComposedLosses(tuple(counts.items()), added, stated_success(parts))


def stated_success(parts: Sequence[AnyPart]) -> Fraction:
    """Π(1 − δ_j) over what fails with a stated probability, rounded down; exact while it is short."""
    total = Fraction(1)
    for part in parts:
        failure = part.delta if isinstance(part, Known) else part.infinite if isinstance(part, LossPart) else Fraction(0)
        if not failure or not part.count:
            continue
        if part.count * failure.denominator.bit_length() + total.denominator.bit_length() <= _EXACT_BITS:
            total *= (1 - failure) ** part.count
        else:
            with precision(_BITS + failure.denominator.bit_length()):
                total = lower(ball(total) * ball(1 - failure) ** part.count)
    return total


def _loss(part: AnyPart, delta: Fraction, *, up: bool) -> tuple[PrivacyLoss, int, Fraction]:
    """The law of one loss, how many of it there are, and the probability that it leaves out in all of them.

    Any (ε, δ)-DP release is dominated by randomised response that fails with probability δ (Kairouz, Oh, Viswanath 2015,
    Thm 3.4); Laplace noise on several coordinates is taken as that. Several answers moved are as many responses.
    """
    if isinstance(part, Known):
        return ResponseLoss(part.epsilon), part.count, Fraction(0)
    if isinstance(part, LossPart):
        return part.law(), part.count, Fraction(0)
    if isinstance(part, Concentrated | RenyiCurve):
        raise InvalidValue(
            "releases", "a bound on moments", "given by the law of their loss: ρ and Rényi curves have none to compose"
        )
    if part.shuffled is not None:  # all batches together may leave out a thousandth of δ
        decades = math.ceil(log(part.count / delta) / math.log(10)) + 3
        law, missed = shuffled_loss(part.noise, part.steps, part.shuffled, decades)
        return law, part.count, part.count * missed
    if part.sampling is not None:  # known only by its pure ε: Gaussian noise on samples has an accountant of its own
        return ResponseLoss(part.pure_one() or Fraction(0)), part.count, Fraction(0)
    match part.noise.loss(part.steps):
        case GaussianFact(spread):
            return _gaussian(part, spread, delta, up=up)
        case FiniteFact(atoms, times):
            return finite_loss(atoms), times * part.count, Fraction(0)
        case PureFact(epsilon):
            return ResponseLoss(epsilon), part.count, Fraction(0)
        case RangeFact(epsilon):
            return RangeLoss(epsilon), part.count, Fraction(0)
        case LaplaceFact(rate, steps):
            one = part.coordinates <= 1 or not up  # from below: the whole move in one coordinate
            return (LaplaceLoss(rate * steps, steps) if one else ResponseLoss(rate * steps)), part.count, Fraction(0)


def _gaussian(part: Part, spread: Fraction, delta: Fraction, *, up: bool) -> tuple[PrivacyLoss, int, Fraction]:
    """Discrete Gaussian noise, in units of its grid with deviation s, by comparison with N(0, s² ∓ v).

    Add N(0, s²−v) to a whole number and round to o with probability ∝ e^{−(o−y)²/2v}: the normalising sum is √(2πv) (1 ± η),
    η = 2Σ_m e^{−2π²vm²} (Poisson), for every y, so the outcome has the discrete Gaussian law of deviation s up to factors 1 ± η,
    twice. Hence in d coordinates the discrete noise is, with probability at least 1 − 2dη, a post-processing of the continuous
    one; the rest may reveal everything. The other way round, N(0, v) added to it gives N(0, s²+v), as closely.
    """
    if spread <= _COARSE and part.coordinates <= 1:
        return _coarse_gaussian(spread, part.steps, part.count, delta, up=up)
    size = 5 * part.coordinates * part.count
    v = math.ceil((log(1 / delta) / math.log(2) + 40 + size.bit_length()) / 28)  # e^{−2π²} < 2^-28
    if spread**2 <= 4 * v:
        raise InvalidValue("sigma", part.noise.parameters()["sigma"], "several steps of its grid, for numerical composition")
    squared = Fraction(part.steps) ** 2 / (spread**2 + (-v if up else v))
    return GaussianLoss(squared), part.count, size * Fraction(1, 2 ** (28 * v))


def _coarse_gaussian(s: Fraction, k: int, count: int, delta: Fraction, *, up: bool) -> tuple[PrivacyLoss, int, Fraction]:
    """L = (k² − 2ko)/(2s²) at output o, P(o) ∝ e^{−o²/2s²}; outputs beyond some |o| are left out."""
    last = math.ceil(float(s) * math.sqrt(2 * (log(count / delta) + 40))) + 1
    unit = 2 ** (80 + math.ceil(log(count / delta) / math.log(2)))
    with precision(_BITS + unit.bit_length()):
        weights = [ball(-(Fraction(o) ** 2) / (2 * s * s)).exp() for o in range(last + 1)]
        total = 2 * sum(weights[1:], start=weights[0] / 2)
        # the rest of the sum is below its first term times 1/(1 − ratio), and raises the total by less than 2^-40
        rest = 2 * weights[last] * ball(-Fraction(last) / (s * s)).exp() / (1 - ball(-Fraction(last) / (s * s)).exp())
        whole = total if up else total + rest
        values = [weight / whole * unit for weight in weights]
        missed = upper(rest / total)
        ends = [math.ceil(upper(v)) if up else math.floor(-upper(-v)) for v in values]
    masses = tuple(Fraction(ends[abs(o)], unit) for o in range(-last, last + 1))
    return LatticeLoss((k * k + 2 * k * last) / (2 * s * s), k / (s * s), masses), count, count * missed if up else Fraction(0)
