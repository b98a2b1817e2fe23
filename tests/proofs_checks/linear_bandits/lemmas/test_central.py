"""The central concentration lemma: event, width and noise, each with a planted variant."""

from __future__ import annotations

import math
from fractions import Fraction

from proofs_checks.linear_bandits.lemmas.central import concentration, crowded, noise_tail, quantifier


def test_all_errors_large_is_not_the_complement_of_the_good_event():
    found = quantifier(True)
    assert found.verdict == "refuted"
    assert found.evidence["counterexample"]["P(event that is bounded)"] == Fraction(1, 125)
    assert found.evidence["counterexample"]["P(the good event fails)"] == Fraction(61, 125)


def test_some_error_large_is_the_complement():
    assert quantifier(True, bounded=any).verdict == "verified"


def test_the_printed_width_holds_for_the_printed_noise():
    found = concentration(True)
    assert found.verdict == "verified"
    assert 0 < found.evidence["largest bound"]["P·T ≤"] <= 1


def test_the_printed_width_fails_for_the_noise_that_privacy_needs():
    assert concentration(True, scale=2).verdict == "refuted"


def test_a_width_without_its_logarithm_fails():
    assert concentration(True, width=lambda n, level: n).verdict == "refuted"


def test_the_noise_alone_exceeds_its_printed_part_too_often():
    found = noise_tail(True)
    assert found.verdict == "refuted"
    assert "|C| = 5" in found.evidence["summary"]


def test_the_corrected_part_of_the_noise_is_not_exceeded():
    assert noise_tail(True, width=lambda n, level: level + 2 * math.sqrt(n * level)).verdict == "verified"


def test_the_crowded_core_set_is_one_of_lemma_2():
    _, power, leverage, least = crowded(10**6, 12)
    assert leverage <= 2
    assert 0 < least * float(power) <= 2  # |l| ≤ 2d/q^i
