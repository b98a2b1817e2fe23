"""How many reports pass a threshold: exact binomial probabilities, against enumeration and against what is proven."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit.auditors.events.report_counts import ReportBatch, certified, count_event

STEP = 2**20


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_counts_of_randomised_responses_have_the_probabilities_that_enumeration_gives(n: int, epsilon: str) -> None:
    batch = ReportBatch(dp.RandomizedResponse(epsilon), n, crowd=0, first=1, second=0)
    flip = 1 / (1 + math.exp(float(Fraction(epsilon))))
    for count, many in product(range(1, n + 1), (True, False)):
        laws = []
        for bits in ([1] + [0] * (n - 1), [0] * n):
            chance = 0.0
            for reports in product((0, 1), repeat=n):
                if (sum(reports) >= count) == many:
                    chance += math.prod(1 - flip if r == b else flip for r, b in zip(reports, bits, strict=True))
            laws.append(chance)
        found = certified(batch, 1, count, many, many, Fraction(0))
        p, q = laws if many else laws[::-1]
        assert found is not None
        assert [float(found.p), float(found.p_other)] == pytest.approx([p, q], rel=1e-12)
        assert float(found.epsilon) == pytest.approx(math.log(p / q), rel=1e-9)


@pytest.mark.parametrize("noise", [dp.Laplace(1), dp.Gaussian(1)])
@pytest.mark.parametrize("n", [40, 3000])
def test_counts_of_noisy_reports_are_a_binomial_and_one_more(noise: Any, n: int) -> None:
    batch = ReportBatch(noise, n, crowd=0, first=STEP, second=-STEP)
    threshold = STEP // 2
    crowd, first, second = (float(noise.within(threshold, None, x)[0]) for x in (0, STEP, -STEP))
    for count in (int(n * crowd + away * math.sqrt(n)) for away in (-0.5, 0, 1)):
        found = certified(batch, threshold, count, True, True, Fraction(0))
        expected = [binom.sf(count - 1, n - 1, crowd) + p * binom.pmf(count - 1, n - 1, crowd) for p in (first, second)]
        assert found is not None
        assert [float(found.p), float(found.p_other)] == pytest.approx(expected, rel=1e-6)
        assert found.p <= Fraction(expected[0]) * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize(("n", "delta"), [(20, "1e-6"), (200, "1e-3"), (5000, "1e-6")])
@pytest.mark.parametrize("epsilon", ["1/2", "1", "3"])
def test_the_best_count_never_beats_what_is_proven_and_reaches_the_best_threshold(n: int, delta: str, epsilon: str) -> None:
    """For randomised response the count is all there is: no other count does better, in floats, and the clone bound is above."""
    batch = ReportBatch(dp.RandomizedResponse(epsilon), n, crowd=0, first=1, second=0)
    found = count_event(batch, Fraction(delta))
    assert found is not None
    assert found.epsilon <= dp.amplify(epsilon, n, delta).upper
    flip = 1 / (1 + math.exp(float(Fraction(epsilon))))
    counts = np.arange(1, n + 1)
    tail, point = binom.sf(counts - 1, n - 1, flip), binom.pmf(counts - 1, n - 1, flip)
    events = [(tail + (1 - flip) * point, tail + flip * point)]
    events += [(binom.cdf(counts - 1, n - 1, flip) - (1 - flip) * point, binom.cdf(counts - 1, n - 1, flip) - flip * point)]
    with np.errstate(all="ignore"):
        shown = [np.log((a - float(Fraction(delta))) / b) for one, other in events for a, b in ((one, other), (other, one))]
    best = max(float(np.nanmax(np.where(np.isfinite(one), one, -1.0))) for one in shown)
    assert float(found.epsilon) == pytest.approx(best, rel=0.01)


def test_an_event_says_what_it_counts() -> None:
    batch = ReportBatch(dp.RandomizedResponse(2), 10, crowd=0, first=1, second=0)
    found = count_event(batch, Fraction(1, 1000))
    assert found is not None
    assert found.text(batch).endswith("of the 10 reports are at or above 1")
    assert count_event(ReportBatch(dp.Laplace(1), 10, 0, 5, 5), Fraction(0)) is None
