"""Releases from Poisson samples beside any others: one joint composition.

The losses of the others are symmetric, so they go with either direction of the sampled ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.accountants.losses.laws.privacy_loss import GaussianLoss
from dpaudit.accountants.losses.parts import AnyPart, Part, lower_losses, upper_losses
from dpaudit.accountants.sampling.accountant import sampled_delta, sampled_epsilon
from dpaudit.accountants.sampling.discrete_noise import continuous_noise, root_down
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.accountants.sampling.lattice.laplace_samples import MOST_COUNT, SampledLaplace
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


def equal_laplace_samples(parts: Sequence[AnyPart]) -> SampledLaplace | None:
    """The releases, if all are by one Laplace noise on Poisson samples at one rate; beside others each counts as its pure ε."""
    groups: dict[tuple[Fraction, int, Fraction], int] = {}
    for part in parts:
        fact = part.noise.loss(part.steps) if isinstance(part, Part) and part.shuffled is None else None
        if not isinstance(part, Part) or not isinstance(fact, LaplaceFact) or part.sampling is None or part.coordinates > 1:
            return None
        key = fact.rate * fact.steps, fact.steps, part.sampling
        groups[key] = groups.get(key, 0) + part.count
    if len(groups) != 1:
        return None
    ((epsilon, steps, rate), count), *_ = groups.items()
    return SampledLaplace(epsilon, steps, rate, count) if 0 < rate < 1 and 0 < count <= MOST_COUNT else None


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
        groups.append(SampledGaussian(part.sampling, sigma if up else sigma + _ULP, part.count))
        added += noise.missed if up else -noise.missed
    return Mixture(tuple(groups), others, plain, added, losses.succeeds)
