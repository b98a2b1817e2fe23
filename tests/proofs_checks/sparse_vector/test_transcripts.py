"""Probabilities of transcripts against simulation and against sums to one; twins at other scales must fail."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from proofs_checks.sparse_vector.transcripts import TooFewDigits, Variant, loss, probability, search, stops

VARIANTS = [
    Variant(Fraction(2), Fraction(4), None),
    Variant(Fraction(1), Fraction(3), 2, refresh=True),
    Variant(Fraction(3, 2), Fraction(0), None),
]


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_answers_together_have_probability_one(variant):
    total = sum(probability(variant, answers, (0, 2, -1)) for answers in itertools.product((False, True), repeat=3))
    assert float(total) == pytest.approx(1, abs=1e-30)


def simulated(variant: Variant, answers: tuple[bool, ...], queries: tuple[int, ...], draws: int = 200_000) -> float:
    """How often the mechanism itself gives these answers; seed 5."""
    rng = np.random.default_rng(5)
    threshold = rng.laplace(0, float(variant.threshold), draws)
    agree = np.ones(draws, bool)
    for answer, query in zip(answers, queries, strict=True):
        noise = rng.laplace(0, float(variant.query), draws) if variant.query else 0.0
        agree &= (query + noise >= threshold) == answer
        if variant.refresh and answer:
            threshold = rng.laplace(0, float(variant.threshold), draws)
    return float(agree.mean())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("answers", "queries"), [((False, True), (0, 1)), ((True, False, True), (1, 0, 2))])
def test_probabilities_agree_with_runs_and_not_with_other_noise(variant, answers, queries):
    """Six standard deviations: two-sided error 2e-9 for each of the six."""
    exact = float(probability(variant, answers, queries))
    deviation = math.sqrt(exact * (1 - exact) / 200_000)
    assert abs(simulated(variant, answers, queries) - exact) < 6 * deviation
    other = Variant(variant.threshold * 3, variant.query, variant.cutoff, variant.refresh)
    assert abs(simulated(other, answers, queries) - exact) > 6 * deviation


def test_what_cannot_happen_loses_everything_and_what_is_too_rare_is_refused():
    assert loss(VARIANTS[2], (False, True), (0, 1), (1, 0)) == math.inf
    assert loss(VARIANTS[2], (False, True), (1, 0), (0, 1)) == -math.inf
    with pytest.raises(ArithmeticError):
        loss(Variant(Fraction(1), Fraction(1, 50), None), (True, False) * 2, (-9, 9) * 2, (0, 0) * 2)


def test_a_transcript_ends_with_the_last_answer_that_is_allowed():
    once = Variant(Fraction(1), Fraction(1), 1)
    assert stops(once, (False, True))
    assert stops(once, (False, False))
    assert not stops(once, (True, False))


def test_a_search_passes_over_what_is_too_rare_and_keeps_what_it_found():
    endless, many = Variant(Fraction(2), Fraction(2), None), 60
    with pytest.raises(TooFewDigits):
        loss(endless, (False,) * many + (True,) * many, (1,) * many + (0,) * many, (0,) * many + (1,) * many)
    assert search(endless, 1, (1, many)).loss > 0.5
