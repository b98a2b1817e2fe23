"""Exact Bernoulli draws: certified digits, and what happens on a tie."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpaudit.noise import ReplaySource
from dpaudit.noise.sampling.bernoulli import (
    Probability,
    any_of,
    any_of_part,
    bernoulli,
    bernoulli_words,
    decay,
    decide,
    logistic,
)


class Crafted:
    """A source whose words are given; it fails when more are asked for."""

    simulated = True

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int, bits: int = 64) -> np.ndarray:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count, "more words were asked for than expected"
        return np.array(taken, dtype=np.uint64)

    def permutation(self, n: int) -> np.ndarray:
        raise NotImplementedError


def high_precision(formula: str, x: Fraction, bits: int) -> int:
    """floor(p 2^bits) by mpmath, with 200 digits to spare."""
    with mpmath.workprec(bits + 700):
        e = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
        p = {"logistic": 1 / (1 + e), "decay": 1 / e}[formula]
        return int(mpmath.floor(p * mpmath.mpf(2) ** bits))


@given(
    x=st.fractions(min_value=Fraction(1, 10**15), max_value=200, max_denominator=10**15),
    bits=st.sampled_from([1, 8, 32, 64, 257]),
)
def test_digits_agree_with_high_precision(x: Fraction, bits: int) -> None:
    assert logistic(x).prefix(bits) == high_precision("logistic", x, bits)
    assert decay(x).prefix(bits) == high_precision("decay", x, bits)


def test_at_least_one_of_many_agrees_with_the_complement_of_none() -> None:
    with mpmath.workprec(900):
        for x, count in [(Fraction(40), 8192), (Fraction(1, 3), 5), (Fraction(100), 1)]:
            none = (1 - mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)) ** count
            assert any_of(x, count).prefix(200) == int(mpmath.floor((1 - none) * mpmath.mpf(2) ** 200))


def test_part_of_many_is_a_conditional_probability() -> None:
    x = Fraction(1, 2)
    part, both = any_of(x, 3).prefix(300), any_of(x, 8).prefix(300)
    assert any_of_part(x, 3, 8).prefix(60) == Fraction(part, both) * 2**60 // 1


def test_a_word_that_differs_decides_at_once() -> None:
    p = logistic(Fraction(1))
    digits = p.prefix(64)
    assert bernoulli(p, Crafted(digits - 1)) is True
    assert bernoulli(p, Crafted(digits + 1)) is False


def test_a_tie_is_settled_by_the_next_digits() -> None:
    p = logistic(Fraction(1))
    first, second = p.prefix(64), p.prefix(128) % 2**64
    assert bernoulli(p, Crafted(first, second - 1)) is True
    assert bernoulli(p, Crafted(first, second + 1)) is False


def test_two_ties_in_a_row_take_a_third_word() -> None:
    p = logistic(Fraction(1))
    words = [p.prefix(64), p.prefix(128) % 2**64, p.prefix(192) % 2**64]
    assert bernoulli(p, Crafted(*words[:2], words[2] - 1)) is True
    assert bernoulli(p, Crafted(*words[:2], words[2] + 1)) is False


def test_ties_of_a_short_word_continue_where_it_ended() -> None:
    p = logistic(Fraction(1, 7))
    rest = p.prefix(32 + 64) % 2**64
    assert decide(p, p.prefix(32), 32, Crafted(rest - 1)) is True
    assert decide(p, p.prefix(32), 32, Crafted(rest + 1)) is False


def test_ties_in_a_batch_are_settled_one_by_one() -> None:
    p = logistic(Fraction(1))
    first, second = p.prefix(64), p.prefix(128) % 2**64
    drawn = bernoulli_words(p, 4, Crafted(first, 0, first, 2**64 - 1, second - 1, second + 1))
    assert drawn.tolist() == [True, True, False, False]


def test_digits_are_refined_until_they_are_certain() -> None:
    # (1 − e^-10000)/4 is below 1/4 by 2^-14429; a fixed working precision could not tell
    close = Probability(lambda: (decay(Fraction(0)).enclosure() - decay(Fraction(10_000)).enclosure()) / 4)
    assert close.prefix(64) == 2**62 - 1


@pytest.mark.parametrize(("x", "fits"), [("1", True), ("1.05", False)])
def test_frequency_follows_the_probability(x: str, fits: bool) -> None:
    # 400,000 draws: a true probability fails for one seed in 1,000; a rate 5 % higher is 13 deviations away
    drawn = int(bernoulli_words(logistic(Fraction(x)), 400_000, ReplaySource(17)).sum())
    p_value = stats.binomtest(drawn, 400_000, 1 / (1 + np.e)).pvalue
    assert (p_value > 1e-3) if fits else (p_value < 1e-9)
