"""What bounded-range releases cost together: published figures, random mechanisms, mixtures, and what is refused."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.accountants.least_epsilon import least
from dpaudit.accountants.losses.laws.range_loss import log_range_moment
from dpaudit.accountants.losses.parts import AnyPart, Known, Part
from dpaudit.accountants.losses.renyi import renyi_epsilon
from dpaudit.accountants.selection.composition import RangeComposition
from dpaudit.claims.balls import precision
from dpaudit.noise import Exponential, NoisyMax, PermuteAndFlip, SparseVector

DELTA = Fraction(1, 10**6)


def exponentials(epsilon: str, count: int) -> Part:
    return Part(Exponential(1 / Fraction(epsilon), 1, True), 1, count)


@pytest.mark.parametrize(
    ("count", "epsilon", "renyi"), [(10, "1/2", 3.632), (50, "1/5", 3.482), (100, "1/10", 2.400), (1000, "1/10", 8.836)]
)
def test_moments_at_the_best_order_give_the_published_figures(count: int, epsilon: str, renyi: float) -> None:
    assert float(renyi_epsilon([exponentials(epsilon, count)], DELTA).upper) == pytest.approx(renyi, abs=6e-4)


def test_the_moment_is_the_largest_over_all_intervals() -> None:
    epsilon, t = 0.7, np.linspace(0, 0.7, 7001)
    share = (math.exp(epsilon) - np.exp(t)) / math.expm1(epsilon)
    for c in (0.3, 2.0, 11.0):
        searched = float(np.log(share * np.exp(c * t) + (1 - share) * np.exp(c * (t - epsilon))).max())
        with precision(128):
            exact = log_range_moment(Fraction("0.7"), Fraction(c))
        assert searched <= float(exact) + 1e-12
        assert float(exact) == pytest.approx(searched, rel=1e-6)


def test_random_exponential_mechanisms_never_exceed_the_bound() -> None:
    """2,000 pairs of scores, 2 to 6 candidates: exact δ(s) of each against the one pair that dominates all."""
    rng = np.random.default_rng(11)
    epsilon = 0.8
    closest = 0.0
    for _ in range(2000):
        size = int(rng.integers(2, 7))
        scores = rng.normal(0, 3, size)
        moved = scores + rng.choice([-1.0, 1.0, rng.uniform(-1, 1)], size)
        one, other = (np.exp(u * epsilon / 2) / np.exp(u * epsilon / 2).sum() for u in (scores, moved))
        for s in (-0.5, 0.0, 0.3, 0.7):
            exact = np.maximum(one - math.exp(s) * other, 0).sum()
            bound = (math.exp(epsilon / 2) - math.exp(s / 2)) ** 2 / math.expm1(epsilon)
            assert exact <= bound + 1e-12
            closest = max(closest, exact / bound)
    assert closest > 0.9


def test_equal_ones_take_the_adaptive_optimum_and_many_their_moments() -> None:
    few, many = (RangeComposition().bound((exponentials("1/2", count),), DELTA) for count in (10, 1000))
    assert few is not None
    assert many is not None
    assert "optimum" in few.method
    assert "Rényi" in many.method
    mixed = RangeComposition().bound((exponentials("1/2", 5), exponentials("1/4", 5)), DELTA)
    assert mixed is not None
    assert "Rényi" in mixed.method  # the optimum is about equal ones


def test_beside_other_noise_the_least_bound_counts() -> None:
    laplace, range_ = Part(dp.Laplace(scale=20), 2**20, 20), exponentials("1/10", 50)
    together = RangeComposition().bound((laplace, range_), DELTA)
    assert together is not None
    alone = [least([Counter([one])], DELTA, fixed=True).epsilon for one in (laplace, range_)]
    assert max(alone) < together.epsilon < 6


@pytest.mark.parametrize("noise", [PermuteAndFlip(1, 1), NoisyMax(1, 1), SparseVector(1, 1, 1)], ids=lambda noise: noise.name)
def test_what_is_only_pure_is_composed_as_such(noise: PermuteAndFlip) -> None:
    assert RangeComposition().bound((Part(noise, 1, 5),), DELTA) is None
    alike: list[AnyPart] = [Part(noise, 1, 5), Known(Fraction(2), count=5)]
    pure, response = (least([Counter([part])], DELTA, fixed=True).epsilon for part in alike)
    assert pure == response


def test_samples_count_by_the_pure_epsilon_alone() -> None:
    sampled = Part(Exponential(2, 1, True), 1, 3, sampling=Fraction(1, 10))
    assert sampled.range() is None
    assert RangeComposition().bound((sampled,), DELTA) is None


def test_bounds_grow_with_count_and_epsilon_and_shrink_with_delta() -> None:
    figures = [float(renyi_epsilon([exponentials(e, k)], d).upper) for e, k, d in
               (("1/10", 100, DELTA), ("1/10", 200, DELTA), ("1/5", 200, DELTA), ("1/5", 200, DELTA / 1000))]  # fmt: skip
    assert figures == sorted(figures)


def test_hand_written_exponential_releases_are_accounted(tmp_path: Path) -> None:
    file = tmp_path / "releases.jsonl"
    file.write_text('{"mechanism": "exponential", "epsilon": "0.1", "count": "1000"}\n')
    assert dp.account(file).epsilon == 100
    assert float(dp.account(file, delta="1e-6", fixed=True).epsilon) == pytest.approx(8.836, abs=5e-4)
    assert dp.account(file, delta="1e-6").epsilon == dp.account(file, delta="1e-6", fixed=True).epsilon  # one entry, one plan
    file.write_text('{"mechanism": "exponential", "epsilon": "0.1", "count": "500"}\n' * 2)
    adaptive = dp.account(file, delta="1e-6").epsilon  # Σ ε²/8
    assert 8.836 < float(adaptive) < 9.6
