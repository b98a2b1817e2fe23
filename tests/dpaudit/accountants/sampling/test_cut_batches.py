"""Samples cut to a size: the bound holds for the mechanism itself, whose outputs are enumerated; the Poisson figure does not."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpaudit.accountants.sampling import SampledGaussian, sampled_delta
from dpaudit.accountants.sampling.cut_batches import CutBatches, cut_delta, cut_epsilon
from dpaudit.claims import InvalidValue

HALF, SIGMA = Fraction(1, 2), Fraction(1)
LINE = np.linspace(-14, 14, 28_001)


def sums(records: list[int], rate: float, size: int) -> Counter[int]:
    """The law of the batch's sum, from every sample and every way to cut it."""
    law: Counter[int] = Counter()
    for drawn in itertools.product((False, True), repeat=len(records)):
        chance = math.prod(rate if each else 1 - rate for each in drawn)
        batch = [value for value, each in zip(records, drawn, strict=True) if each]
        ways = list(itertools.combinations(batch, min(size, len(batch))))
        for kept in ways:
            law[sum(kept)] += chance / len(ways)  # type: ignore[assignment]
    return law


def true_delta(others: list[int], rate: float, size: int, epsilon: float, *, add: bool) -> float:
    """Of one release, the target holding 1, by quadrature: its error is far below 1e-6."""
    densities = [
        sum(chance * norm.pdf(LINE, at, float(SIGMA)) for at, chance in sums(records, rate, size).items())
        for records in ([1, *others], others)
    ]
    first, second = densities[::-1] if add else densities
    return float(np.trapezoid(np.maximum(first - math.exp(epsilon) * second, 0), LINE))


@pytest.mark.parametrize(("records", "size", "rate"), [(3, 2, 0.5), (4, 2, 0.5), (4, 1, 0.3), (5, 3, 0.7)])
def test_the_bound_holds_for_every_record_and_direction(records: int, size: int, rate: float) -> None:
    batches = CutBatches(Fraction(str(rate)), SIGMA, records, size)
    for epsilon in (0.0, 0.5, 1.5):
        bound = float(cut_delta([batches], Fraction(epsilon)))
        for others in itertools.combinations_with_replacement((-1, 0, 1), records - 1):
            for add in (False, True):
                assert true_delta(list(others), rate, size, epsilon, add=add) <= bound + 1e-6


def test_the_figure_of_plain_samples_is_too_low_for_cut_ones() -> None:
    plain = float(sampled_delta([SampledGaussian(HALF, SIGMA)], 3).upper)
    assert true_delta([-1, -1], 0.5, 1, 3.0, add=False) > 1.5 * plain


def test_batches_that_are_never_cut_cost_what_plain_ones_do() -> None:
    whole = CutBatches(Fraction(1, 10), SIGMA, 5, 5, 3)
    assert whole.cut == 0
    assert cut_delta([whole], 1) == sampled_delta([SampledGaussian(Fraction(1, 10), SIGMA, 3)], 1).upper


def test_a_composition_is_the_mean_over_who_was_cut() -> None:
    """Two releases, against the four compositions of plain and cut ones."""
    batches = CutBatches(HALF, SIGMA, 4, 2, 2)
    (keep, _), (cut, twice) = batches.groups
    assert keep + cut == 1
    assert cut == HALF  # two or three of three fair coins
    assert twice.rate == Fraction(5, 16)  # P(Bin(4, 1/2) > 2) · 2/4 / τ
    expected = sum(
        first[0] * second[0] * sampled_delta([first[1], second[1]], 2).upper
        for first, second in itertools.product(batches.groups, repeat=2)
    )
    assert float(cut_delta([batches], 2)) == pytest.approx(float(expected), rel=1e-6)


def test_too_much_is_refused() -> None:
    with pytest.raises(InvalidValue, match="too many ways"):
        cut_delta([each := CutBatches(HALF, SIGMA, 4, 2, 40), each, each], 1)
    for wrong in ((HALF, SIGMA, 3, 4), (HALF, SIGMA, 10**4, 4), (Fraction(1), SIGMA, 4, 2)):
        with pytest.raises(InvalidValue):
            CutBatches(*wrong)


def test_epsilon_and_delta_are_inverse() -> None:
    batches = CutBatches(HALF, SIGMA, 3, 2)
    epsilon = cut_epsilon([batches], "1e-4")
    assert cut_delta([batches], epsilon) <= Fraction(1, 10**4) < cut_delta([batches], epsilon * (1 - Fraction(1, 10**5)))
