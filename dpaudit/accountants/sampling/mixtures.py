"""Releases from Poisson samples beside any others: one joint composition.

The losses of the others are symmetric, so they go with either direction of the sampled ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss, LaplaceLoss, PrivacyLoss, ResponseLoss
from dpaudit.accountants.losses.parts import AnyPart, ComposedLosses, Part, lower_losses, upper_losses
from dpaudit.accountants.sampling.accountant import sampled_delta, sampled_epsilon
from dpaudit.accountants.sampling.discrete_noise import continuous_noise, root_down
from dpaudit.accountants.sampling.groups import SampledGaussian, bounded
from dpaudit.accountants.sampling.lattice.laplace_samples import (
    MOST_COUNT,
    MOST_KINDS,
    laplace_samples_delta,
    laplace_samples_epsilon,
)
from dpaudit.accountants.sampling.lattice.loss_curves import Group, PlainGaussian, SampledLaplace
from dpaudit.claims import Enclosure, InvalidValue
from dpaudit.claims.balls import decimal
from dpaudit.noise.loss_facts import LaplaceFact

_ULP = Fraction(1, 2**60)
_LONG = 40  # digits


@dataclass(frozen=True)
class Mixture:
    """What is composed, and what is added to its δ."""

    groups: tuple[SampledGaussian, ...]
    others: tuple[tuple[Any, int], ...]
    plain: Fraction
    added: Fraction
    succeeds: Fraction

    @property
    def least_delta(self) -> Fraction:
        """Below it there is no finite ε."""
        return 1 - self.succeeds + self.added

    def of_laws(self, delta: Fraction) -> Fraction:
        """What is left of δ for what is composed; rounded down where a product of probabilities makes it long."""
        left = (delta - self.least_delta) / self.succeeds
        return left if self.succeeds == 1 else decimal(left, _LONG, up=False)


def is_sampled(part: AnyPart) -> bool:
    """Is it Gaussian noise on a Poisson sample?"""
    return isinstance(part, Part) and part.sampling is not None and part.noise.spread is not None


def any_sampled(parts: Sequence[AnyPart]) -> bool:
    """Does any of these need the sampled accountant?"""
    return any(map(is_sampled, parts))


@dataclass(frozen=True)
class LaplaceMixture:
    """Laplace noise on samples beside other releases, for a grid of losses; what is added to their δ is in ``composed``."""

    groups: tuple[Group, ...]
    composed: ComposedLosses


def laplace_mixture(parts: Sequence[AnyPart], delta: Fraction, *, up: bool) -> LaplaceMixture | None:
    """From above or from below; None where no Laplace noise is on a sample, or a loss beside it has no curve here."""
    counts: dict[Group, int] = {}
    rest = []
    for part in parts:
        group = _laplace_sample(part)
        if group is None:
            rest.append(part)
        else:
            counts[group] = counts.get(group, 0) + part.count
    if not counts:
        return None
    losses = upper_losses(rest, delta) if up else lower_losses(rest, delta)
    if losses is None:
        return None
    for law, count in losses.laws:
        found = _plain_group(law)
        if found is None:
            return None
        counts[found] = counts.get(found, 0) + count
    if sum(counts.values()) > MOST_COUNT or len(counts) > MOST_KINDS:
        return None
    return LaplaceMixture(tuple(replace(group, count=count) for group, count in counts.items() if count), losses)


def _laplace_sample(part: AnyPart) -> SampledLaplace | None:
    """One release of Laplace noise on a Poisson sample, if it is that."""
    if not isinstance(part, Part) or part.sampling is None or part.shuffled is not None or part.coordinates > 1:
        return None
    fact = part.noise.loss(part.steps) if part.steps else None
    if not isinstance(fact, LaplaceFact) or not 0 < part.sampling < 1:
        return None
    return SampledLaplace(fact.rate * fact.steps, fact.steps, part.sampling)


def _plain_group(law: PrivacyLoss) -> Group | None:
    """A loss without sampling as one of a kind that has a curve: randomised response is Laplace noise that moves by one step."""
    match law:
        case LaplaceLoss(epsilon, steps):
            return SampledLaplace(epsilon, steps, Fraction(1))
        case ResponseLoss(epsilon):
            return SampledLaplace(epsilon, 1, Fraction(1)) if epsilon else None
        case GaussianLoss(mu_squared):
            return PlainGaussian(mu_squared)
    return None


def laplace_mixture_epsilon(parts: Sequence[AnyPart], delta: Fraction) -> tuple[Fraction, Fraction] | None:
    """(lower, upper) around ε at δ > 0; None where ``laplace_mixture`` is, or δ is all used up by what fails as stated."""
    above, below = (laplace_mixture(parts, delta, up=up) for up in (True, False))
    if above is None or above.composed.least_delta >= delta:
        return None
    ends = laplace_samples_epsilon(above.groups, above.composed.of_laws(delta))
    if below == above:
        return ends.lower, ends.upper
    low = Fraction(0) if below is None else laplace_samples_epsilon(below.groups, below.composed.of_laws(delta)).lower
    return min(low, ends.upper), ends.upper


def laplace_mixture_delta(parts: Sequence[AnyPart], epsilon: Fraction, least: Fraction) -> tuple[Fraction, Fraction] | None:
    """(lower, upper) around δ(ε), accurate down to δ = ``least``; None where ``laplace_mixture`` is."""
    above, below = (laplace_mixture(parts, least, up=up) for up in (True, False))
    if above is None:
        return None
    low, high = laplace_samples_delta(above.groups, epsilon)
    if below != above:
        low = Fraction(0) if below is None else laplace_samples_delta(below.groups, epsilon)[0]
    high = min(Fraction(1), above.composed.delta(high))
    return min(high, max(Fraction(0), low if below is None else below.composed.delta(low))), high


def mixture_epsilon(parts: Sequence[AnyPart], delta: Fraction) -> Enclosure:
    """Enclose the least ε at δ > 0 of all parts together. Raises ``InvalidValue`` where noise is too coarse to be compared."""
    above, below = _mixture(parts, delta, up=True), _mixture(parts, delta, up=False)
    if above is None or above.least_delta >= delta:
        raise InvalidValue("delta", delta, "larger: these releases have no finite ε at it")
    high = sampled_epsilon(above.groups, above.of_laws(delta), above.others, above.plain)
    if below is None:
        return Enclosure(Fraction(0), high.upper, True, high.method)
    low = sampled_epsilon(below.groups, below.of_laws(delta), below.others, below.plain).lower
    return Enclosure(min(low, high.upper), high.upper, True, high.method)


def mixture_delta(parts: Sequence[AnyPart], epsilon: Fraction, least: Fraction) -> tuple[Fraction, Fraction]:
    """(lower, upper) around δ(ε), accurate down to δ = ``least``."""
    above, below = _mixture(parts, least, up=True), _mixture(parts, least, up=False)
    if above is None:
        return Fraction(0), Fraction(1)
    high = above.succeeds * sampled_delta(above.groups, epsilon, above.others, above.plain).upper + above.least_delta
    low = Fraction(0)
    if below is not None:
        low = max(Fraction(0), sampled_delta(below.groups, epsilon, below.others, below.plain).lower + below.added)
    return min(low, high, Fraction(1)), min(high, Fraction(1))


def _mixture(parts: Sequence[AnyPart], delta: Fraction, *, up: bool) -> Mixture | None:
    """From above or from below; None if nothing is known from below."""
    rest = [part for part in parts if not is_sampled(part)]
    losses = upper_losses(rest, delta) if up else lower_losses(rest, delta)
    if losses is None:
        return None
    plain = sum((law.mu_squared * count for law, count in losses.laws if isinstance(law, GaussianLoss)), Fraction(0))
    others = tuple((law, count) for law, count in losses.laws if not isinstance(law, GaussianLoss))
    groups, added = [], losses.added
    for part in parts:
        if not isinstance(part, Part) or part.sampling is None or part.noise.spread is None or not part.steps * part.count:
            continue
        noise = continuous_noise(part.noise.spread, part.steps, part.count, delta, part.coordinates, up=up)
        sigma = root_down(noise.variance)
        groups.append(bounded(SampledGaussian(part.sampling, sigma if up else sigma + _ULP, part.count), up=up))
        added += noise.missed if up else -noise.missed
    return Mixture(tuple(groups), others, plain, added, losses.succeeds)
