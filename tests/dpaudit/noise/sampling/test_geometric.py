"""The exact two-sided geometric sampler: digits, ties, the part above the digits, the words a draw takes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpaudit.noise import Laplace, ReplaySource
from dpaudit.noise.sampling import geometric
from dpaudit.noise.sampling.bernoulli import logistic
from dpaudit.noise.sampling.geometric import add_two_sided

ZEROS = np.zeros(200_000, dtype=np.int64)


class Counting(ReplaySource):
    """Counts the words that are drawn."""

    drawn = 0

    def words(self, count: int, bits: int = 64) -> np.ndarray:
        self.drawn += count
        return super().words(count, bits)


class AllTied(ReplaySource):
    """Every 32-bit word is the threshold of its digit; the words that break the ties are given."""

    def __init__(self, thresholds: np.ndarray, breakers: list[int]) -> None:
        super().__init__(0)
        self.thresholds, self.breakers = thresholds, breakers

    def words(self, count: int, bits: int = 64) -> np.ndarray:
        if bits == 32:
            return np.repeat(self.thresholds, count // len(self.thresholds))
        return np.array([self.breakers.pop(0) for _ in range(count)], dtype=np.uint64)


@pytest.fixture
def crowded_tail(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the part above the digits begin at e^-1/2 or less instead of e^-40, so that it happens often."""
    monkeypatch.setattr(geometric, "_RARE", Fraction(1, 2))
    geometric._digits.cache_clear()
    yield
    geometric._digits.cache_clear()


def test_what_lies_above_the_digits_follows_the_law(fit, crowded_tail) -> None:
    # 40,000 draws, about every second one with a tail: the true scale fails for one seed in 1,000
    draws = add_two_sided(ZEROS[:40_000], Fraction(1, 4), ReplaySource(21))
    p_values = {f: fit(draws, Laplace(4 * Fraction(f), grid=1), range(-18, 19, 4)) for f in ("0.95", "1", "1.05")}
    assert p_values["1"] > 1e-3
    assert max(p_values["0.95"], p_values["1.05"]) < 1e-9


def one_by_one(count: int, rate: Fraction, source: ReplaySource) -> np.ndarray:
    return np.concatenate([add_two_sided(ZEROS[:1], rate, source) for _ in range(count)])


@pytest.mark.parametrize("tail", [False, True])
def test_draws_one_by_one_follow_the_law(fit, tail: bool, request: pytest.FixtureRequest) -> None:
    # 20,000 draws, each by itself, once with a part above the digits in every second one: the true scale fails for one seed in
    # 1,000
    if tail:
        request.getfixturevalue("crowded_tail")
    draws = one_by_one(20_000, Fraction(1, 4), ReplaySource(22))
    p_values = {f: fit(draws, Laplace(4 * Fraction(f), grid=1), range(-18, 19, 4)) for f in ("0.92", "1", "1.08")}
    assert p_values["1"] > 1e-3
    assert max(p_values["0.92"], p_values["1.08"]) < 1e-9


@pytest.mark.parametrize(("x", "fits"), [("2", True), ("2.1", False)])
def test_the_variables_that_reach_the_tail_are_independent_and_equally_likely(x: str, fits: bool) -> None:
    # 20,000 sets of 8: how many of 8 hit is binomial; one seed in 1,000 fails
    source = ReplaySource(22)
    hits = [geometric._hits(Fraction(2), 0, 8, source) for _ in range(20_000)]
    p = float(np.exp(-float(Fraction(x))))
    expected = stats.binom.pmf(np.arange(5), 8, p) * 20_000
    observed = np.bincount([min(len(h), 4) for h in hits], minlength=5)
    expected[4] = 20_000 - expected[:4].sum()
    by_size = stats.chisquare(observed, expected).pvalue
    assert (by_size > 1e-3) if fits else (by_size < 1e-4)
    if fits:
        places = np.bincount([place for h in hits for place in h], minlength=8)
        assert stats.chisquare(places).pvalue > 1e-3


def test_ties_are_refined_digit_by_digit() -> None:
    rate = Fraction(3)
    digits = geometric._digits(rate)
    count = len(digits.probabilities)
    # After a tie, 0 is below the next digits of the probability and 2^64−1 above: all of G set, none of G'.
    never = 2**64 - 1
    source = AllTied(digits.thresholds[:, 0], [0] * count + [never] * count + [never])
    assert add_two_sided(np.zeros(1, dtype=np.int64), rate, source).tolist() == [2**count - 1]
    assert source.breakers == []


def test_thresholds_are_the_digits_of_the_probabilities() -> None:
    digits = geometric._digits(Fraction(1, 2**21))
    for j, word in enumerate(digits.thresholds[: len(digits.probabilities), 0]):
        assert word == logistic(Fraction(2**j, 2**21)).prefix(32)
    assert digits.above >= 40  # what is above has probability e^-40 at most


def test_every_draw_takes_the_same_number_of_words_whatever_its_value() -> None:
    source, spent, sizes = Counting(23), set(), set()
    for _ in range(300):
        before = source.drawn
        sizes.add(abs(int(add_two_sided(ZEROS[:1], Fraction(1, 2**21), source)[0])).bit_length())
        spent.add(source.drawn - before)
    assert len(spent) == 1
    assert len(sizes) > 5


def test_blocks_join_without_a_seam(fit) -> None:
    draws = add_two_sided(ZEROS[:10_000], Fraction(1, 2), ReplaySource(24))
    assert draws.shape == (10_000,)
    seam = np.concatenate([draws[i : i + 200] for i in (0, 4096 - 100, 8192 - 100)])
    assert fit(seam, Laplace(2, grid=1), range(-4, 5)) > 1e-3  # one seed in 1,000


def test_low_digits_are_all_reached_evenly() -> None:
    # on a fine grid K mod 256 is uniform to 10^-9; one seed in 1,000 fails
    draws = add_two_sided(ZEROS, Fraction(1, 2**21), ReplaySource(25))
    assert stats.chisquare(np.bincount(draws % 256, minlength=256)).pvalue > 1e-3
    coarse = (draws // 8) * 8  # porous noise: must fail
    assert stats.chisquare(np.bincount(coarse % 256, minlength=256)).pvalue < 1e-9


@pytest.mark.parametrize("side", [1, -1])
def test_values_beyond_int64_are_clipped_not_wrapped(side: int) -> None:
    rate, yes, no = Fraction(1, 2**50), 0, 2**64 - 1

    class Extreme(ReplaySource):
        # No digit is set; one of the two variables reaches the tail and goes 200 steps up in it. A step has a
        # probability below 2^-64: two words of zeros say yes.
        answers = [yes, yes] + ([yes, no] if side == 1 else [no]) + [yes, yes] * 200 + [no]

        def words(self, count: int, bits: int = 64) -> np.ndarray:
            if bits == 32:
                return np.full(count, 2**32 - 1, dtype=np.uint32)
            return np.array([self.answers.pop(0) for _ in range(count)], dtype=np.uint64)

    source = Extreme(0)
    assert add_two_sided(ZEROS[:1], rate, source).tolist() == [side * (2**63 - 1)]
    assert source.answers == []
