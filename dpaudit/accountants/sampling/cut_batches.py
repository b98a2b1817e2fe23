"""Poisson samples that are cut to at most B records at random: δ(ε) from above, for adding or removing one record.

Let M be how many of the N − 1 other records were drawn; it has the same law with and without the target, so let it be told
whether M ≥ B, which has probability τ. If not, nothing is cut: Gaussian noise on a Poisson sample of rate q. If so, without the
target a uniform set S of B others is kept; with it the target is in the batch with probability q' = E[qB/(M+1) | M ≥ B]
= P(Bin(N, q) > B)·B/(Nτ), and then stands for one of a uniform S: the sum moves by at most twice the sensitivity. Tell S, and
that is noise of half the deviation at rate q'. So δ(ε) ≤ (1−τ)δ_{q,σ}(ε) + τδ_{q',σ/2}(ε), and in a composition every release has
its own coin. The Poisson figure alone is too low; the length of the batch stays secret, N is public.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dpaudit.accountants.sampling.accountant import sampled_delta
from dpaudit.accountants.sampling.groups import SampledGaussian
from dpaudit.claims import InvalidValue, Number, exact_delta, exact_epsilon, positive

MOST_RECORDS = 5000  # N: tails are summed exactly
MOST_TERMS = 1000  # compositions of plain and cut releases that are looked at
_RARE = Fraction(1, 10**40)  # ways to be cut that are less likely count as failures


@dataclass(frozen=True)
class CutBatches:
    """``count`` releases from samples of ``records`` that are cut to ``size``; ``sigma`` is relative to the sensitivity.

    Raises ``InvalidValue``.
    """

    rate: Fraction
    sigma: Fraction
    records: int
    size: int
    count: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise InvalidValue("sampling", self.rate, "a probability above 0 and below 1")
        if not 1 <= self.size <= self.records <= MOST_RECORDS:
            raise InvalidValue("size", self.size, f"from 1 to the number of records, and those at most {MOST_RECORDS}")

    @cached_property
    def cut(self) -> Fraction:
        """τ, the probability that others fill the batch."""
        return _above(self.records - 1, self.size - 1, self.rate)

    @cached_property
    def groups(self) -> tuple[tuple[Fraction, SampledGaussian], ...]:
        """(probability, release): not cut, and cut."""
        plain = (1 - self.cut, SampledGaussian(self.rate, self.sigma))
        if not self.cut:
            return (plain,)
        rate = _above(self.records, self.size, self.rate) * self.size / (self.records * self.cut)
        return plain, (self.cut, SampledGaussian(rate, self.sigma / 2))


def cut_delta(releases: Sequence[CutBatches], epsilon: Number) -> Fraction:
    """An upper bound on δ(ε) of all of them together, fixed in advance. Raises ``InvalidValue`` where that takes too long."""
    level, total = exact_epsilon(epsilon), Fraction(0)
    choices = [_choices(each) for each in releases]
    if math.prod(map(len, choices)) > MOST_TERMS:
        raise InvalidValue("count", sum(each.count for each in releases), "smaller: too many ways in which batches are cut")
    for chosen in itertools.product(*choices):
        weight = math.prod((probability for probability, _ in chosen), start=Fraction(1))
        total += weight * sampled_delta([group for _, groups in chosen for group in groups], level).upper
    left_out = 1 - math.prod((sum(probability for probability, _ in each) for each in choices), start=Fraction(1))
    return min(Fraction(1), total + left_out)


def cut_epsilon(releases: Sequence[CutBatches], delta: Number) -> Fraction:
    """An ε with δ(ε) ≤ δ > 0, at most a millionth above the least that ``cut_delta`` proves."""
    failure, low, high = positive(exact_delta(delta), "delta"), Fraction(0), Fraction(1)
    while cut_delta(releases, high) > failure:
        low, high = high, 2 * high
    while high - low > high / 2**20:
        middle = (low + high) / 2
        low, high = (low, middle) if cut_delta(releases, middle) <= failure else (middle, high)
    return high


def _choices(batches: CutBatches) -> list[tuple[Fraction, tuple[SampledGaussian, ...]]]:
    """How many of the releases are cut, with its probability."""
    (_, plain), *others = batches.groups
    found = []
    for cut in range(batches.count + 1 if others else 1):
        probability = math.comb(batches.count, cut) * batches.cut**cut * (1 - batches.cut) ** (batches.count - cut)
        if probability > _RARE:
            sizes = [(plain, batches.count - cut), *((group, cut) for _, group in others)]
            found.append((probability, tuple(SampledGaussian(each.rate, each.sigma, size) for each, size in sizes)))
    return found


def _above(n: int, at_most: int, rate: Fraction) -> Fraction:
    """P(Bin(n, rate) > at_most), exactly."""
    top, bottom = rate.numerator, rate.denominator
    missed = bottom - top
    return Fraction(sum(math.comb(n, k) * top**k * missed ** (n - k) for k in range(at_most + 1, n + 1)), bottom**n)
