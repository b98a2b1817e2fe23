"""What is composed: groups of equal releases from Poisson samples, in exact numbers and in one canonical order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from dpaudit.claims import InvalidValue, Number, exact, positive, whole
from dpaudit.ledger.records.handwritten import FIXED_SIZE

Direction = Literal["remove", "add"]
DIRECTIONS: tuple[Direction, ...] = ("remove", "add")

MOST_STEPS = 10**7
LEAST_RATE, LARGEST_SIGMA = Fraction(1, 10**9), Fraction(10**6)
_LEAST_SIGMA = Fraction(1, 10)


@dataclass(frozen=True, order=True)
class SampledGaussian:
    """``count`` releases, each with Gaussian noise of deviation ``sigma`` (relative to the L2 sensitivity) on what is computed
    from a fresh Poisson sample: every record enters by its own secret coin, with probability ``rate``.

    Holds for adding or removing one record, or replacing it by nothing ("zero-out"); rate and sigma are constants. Rate 1 is
    the plain Gaussian mechanism. Raises ``InvalidValue``.
    """

    rate: Fraction
    sigma: Fraction
    count: int = 1

    def __init__(self, rate: Number, sigma: Number, count: object = 1) -> None:
        put = object.__setattr__
        put(self, "rate", exact(rate, "sampling"))
        if not 0 <= self.rate <= 1:
            raise InvalidValue("sampling", rate, "a probability from 0 to 1")
        put(self, "sigma", positive(sigma, "sigma"))
        put(self, "count", whole(count, "count", least=0, most=MOST_STEPS))


def read_rate(value: Number) -> Fraction:
    """A sampling rate: above 0 and at most 1. Raises ``InvalidValue``."""
    if isinstance(value, str) and value.strip()[:1].isalpha():  # "fixed", "without replacement"
        raise InvalidValue("sampling", value, FIXED_SIZE)
    rate = positive(value, "sampling")
    if rate > 1:
        raise InvalidValue("sampling", value, "a probability above 0 and at most 1")
    return rate


def bounded(group: SampledGaussian, *, up: bool) -> SampledGaussian:
    """Releases that reveal at least as much (``up``), or at most as much, with a rate and a deviation that can be composed.

    More noise is post-processing of less. P_q' = (q'/q)P_q + (1 − q'/q)Q for q' < q, and H_α(P‖Q) is jointly convex and never
    below H_α(Q‖Q), in either direction: so the pair of the larger rate dominates that of the smaller, also where they compose.
    """
    rate, sigma = group.rate, group.sigma
    if rate < LEAST_RATE or sigma > LARGEST_SIGMA:
        return (
            SampledGaussian(max(rate, LEAST_RATE), min(sigma, LARGEST_SIGMA), group.count) if up else SampledGaussian(0, sigma, 0)
        )
    return group


def canonical(groups: Iterable[SampledGaussian]) -> tuple[SampledGaussian, ...]:
    """The same releases with equal ones counted together, in one order; rates of 0 release nothing and are left out."""
    counts: dict[tuple[Fraction, Fraction], int] = {}
    for group in groups:
        if group.count and group.rate:
            _within_range(group)
            counts[group.rate, group.sigma] = counts.get((group.rate, group.sigma), 0) + group.count
    return tuple(SampledGaussian(rate, sigma, count) for (rate, sigma), count in sorted(counts.items()))


def _within_range(group: SampledGaussian) -> None:
    if group.rate < LEAST_RATE:
        raise InvalidValue("sampling", group.rate, "0, or at least 1e-9")
    if not _LEAST_SIGMA <= group.sigma <= LARGEST_SIGMA:
        raise InvalidValue("sigma", group.sigma, "from 1/10 to 10^6 times the sensitivity, for releases from samples")


def steps(groups: Iterable[SampledGaussian]) -> int:
    """How many releases there are."""
    return sum(group.count for group in groups)


def plain_part(groups: Iterable[SampledGaussian]) -> Fraction:
    """μ² = Σ σ^-2 over the releases with rate 1: together they are one Gaussian release with this μ²."""
    return sum((group.count / group.sigma**2 for group in groups if group.rate == 1), Fraction(0))


def sampled_part(groups: Iterable[SampledGaussian]) -> tuple[SampledGaussian, ...]:
    """The groups with a rate below 1."""
    return tuple(group for group in groups if group.rate < 1)
