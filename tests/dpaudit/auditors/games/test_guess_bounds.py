"""Bounds from counts: exact coverage by enumeration, high precision, published expected counts, and no collapse without noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpaudit.auditors.games.guess_bounds import (
    DISCOUNTED,
    DISCOUNTED_EVENLY,
    PURE,
    TWO,
    Form,
    Guesses,
    bound,
    bounds,
    discount,
    forms,
)


def tail(right: int, n: int, p: float) -> float:
    """P(Bin(n, p) ≥ right), summed term by term."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(right, n + 1))


@pytest.mark.parametrize("alpha", [0.05, 1e-3])
def test_the_pure_bound_is_the_epsilon_whose_tail_is_alpha(alpha: float) -> None:
    """Clopper–Pearson by its definition: the least ε at which so many right guesses have probability α."""
    for n in range(1, 13):
        for right in range(n + 1):
            epsilon = bound(Guesses(right, n - right, 50, 2), alpha, 0.0, PURE)
            probability = tail(right, n, 1 / (1 + math.exp(-epsilon)))
            assert epsilon == 0 or alpha * (1 - 1e-6) <= probability <= alpha
            if epsilon == 0:
                assert tail(right, n, 0.5) >= alpha * (1 - 1e-6)


@pytest.mark.parametrize(("delta", "n", "sides", "beta"), [(0.1, 50, 2, 5e-3), (0.01, 400, 1, 1e-4), (0.3, 9, 2, 0.02)])
def test_the_discount_is_the_least_count_of_bad_runs_that_is_exceeded_rarely_enough(
    delta: float, n: int, sides: int, beta: float
) -> None:
    least = discount(n, sides, delta, beta)
    assert tail(least + 1, n, delta * sides / 2) <= beta < tail(least, n, delta * sides / 2)
    assert discount(n, sides, 0.0, 0.0) == 0


COUNTS = [(1600, 0, 1600), (48_000, 1, 160_000), (30, 5, 1000), (900, 600, 4000), (10**6, 3, 10**7), (1799, 200, 160_000)]


@pytest.mark.parametrize(("right", "wrong", "n"), COUNTS)
@pytest.mark.parametrize("alpha", [0.05, 1e-6 / 3])
def test_bounds_are_rounded_down_and_by_no_more_than_a_billionth(right: int, wrong: int, n: int, alpha: float) -> None:
    """Against 60 digits: at the bound the tail is at most α, and a billionth above it, more than α."""
    for delta in (0.0, 1e-5):
        g = Guesses(right, wrong, n, 2)
        epsilon = bound(g, alpha, delta, DISCOUNTED)
        beta = 0.1 * alpha if delta else 0.0
        good = right - discount(n, 2, delta, beta)
        with mpmath.workdps(60):
            level = mpmath.mpf(alpha) - mpmath.mpf(beta)
            below, above = (
                mpmath.betainc(good, wrong + 1, 0, 1 / (1 + mpmath.exp(-mpmath.mpf(e))), regularized=True)
                for e in (epsilon, epsilon + max(1.0, epsilon) * 1e-9)
            )
        assert level < above
        assert epsilon == 0 or below <= level


def wrong_probability(form: Callable[[Guesses], float], epsilon: float, delta: float, sides: int, wrong: float, n: int) -> float:
    """P(bound > ε) for a mechanism exactly on the boundary, over all outcomes of n runs."""
    right = math.exp(epsilon) * wrong + delta * sides / 2
    none = 1 - right - wrong
    assert none >= 0
    total = 0.0
    for r, w in product(range(n + 1), repeat=2):
        if r + w <= n and form(Guesses(r, w, n, sides)) > epsilon:
            ways = math.comb(n, r) * math.comb(n - r, w)
            total += ways * right**r * wrong**w * none ** (n - r - w)
    return total


BOUNDARIES = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.3), (0.5, 0.2), (1.0, 0.1), (0.2, 0.05), (1.0, 1e-3)]


@pytest.mark.parametrize(("epsilon", "delta"), BOUNDARIES)
@pytest.mark.parametrize("form", [DISCOUNTED, DISCOUNTED_EVENLY, TWO])
def test_a_mechanism_on_the_boundary_is_bounded_above_it_with_probability_alpha_at_most(
    epsilon: float, delta: float, form: Form
) -> None:
    """Exact enumeration, no sampling. The twin takes the plain estimate for a bound and must fail."""
    alpha, n = 0.1, 14
    for sides, wrong in product((1, 2), (0.02, 0.1, 0.2)):
        if math.exp(epsilon) * wrong + wrong + delta * sides / 2 > 1:
            continue
        assert wrong_probability(lambda g: bound(g, alpha, delta, form), epsilon, delta, sides, wrong, n) <= alpha

    def estimate(g: Guesses) -> float:
        surplus = g.right / g.n - delta * g.sides / 2
        return 0.0 if surplus <= 0 else math.log(surplus / max(g.wrong / g.n, 1e-9))

    assert wrong_probability(estimate, epsilon, delta, 2, 0.1, n) > alpha


@pytest.mark.parametrize("delta", [1e-6, 1e-5, 0.01, 0.1])
@pytest.mark.parametrize("n", [10**3, 10**5, 10**6])
def test_simulated_counts_on_the_boundary_are_bounded_above_it_no_more_often_than_alpha(delta: float, n: int) -> None:
    """ε, sides, masses and forms: 48 cells of 20,000 outcomes; one count too many in a cell has probability 10^-6 at most, the
    worst cell of all 12 tests together 10^-3. The twin forgets to discount what δ gives away and errs far more often."""
    cells, limit, forgetful = 20_000, stats.binom.isf(1e-6, 20_000, 0.05), 0
    rng = np.random.default_rng([round(1 / delta), n])
    for epsilon, sides, mass in product((0.1, 1.0, 3.0), (1, 2), (1e-3, 0.01, 0.1, 0.9)):
        leak = delta * sides / 2
        wrong = mass * (1 - leak) / (1 + math.exp(epsilon))
        right = math.exp(epsilon) * wrong + leak
        v, w = rng.multinomial(n, [right, wrong, 1 - right - wrong], size=cells)[:, :2].T
        for form in (DISCOUNTED, DISCOUNTED_EVENLY):
            assert np.count_nonzero(bounds(v, w, n, sides, 0.05, delta, form) > epsilon) <= limit
        forgetful = max(forgetful, np.count_nonzero(bounds(v, w, n, sides, 0.05, 0.0, PURE) > epsilon))
    assert delta * n < 100 or forgetful > limit


def gaussian(sigma: float, n: int, delta: float) -> tuple[float, float]:
    """Expected counts of a shift by 1, rounded, at the best of many thresholds: the best bounds by discounting, and by two."""
    highs = np.linspace(0.5 - sigma, 0.5 + 8 * sigma, 2000)
    best = [0.0, 0.0]
    for sides in (1, 2):
        right, wrong = (np.round(n / 2 * sides * stats.norm.sf((highs - mean) / sigma)) for mean in (1, 0))
        for place, form in enumerate((DISCOUNTED, TWO)):
            used = right + wrong <= n
            best[place] = max(best[place], float(bounds(right[used], wrong[used], n, sides, 0.05, delta, form).max()))
    return best[0], best[1]


EXPECTED = {
    1e-5: [(2, 1.281, 1.385), (1, 2.813, 2.958), (0.5, 5.571, 5.720), (0.25, 9.109, 9.291), (0.05, 10.208, 10.381)],
    0.01: [(2, 0.847, 0.858), (1, 2.159, 2.181), (0.5, 5.180, 5.266), (0.25, 9.079, 9.259), (0.05, 10.198, 10.370)],
    0.1: [(2, 0.264, 0.262), (1, 1.116, 1.117), (0.5, 3.642, 3.658), (0.25, 8.753, 8.928), (0.05, 10.102, 10.273)],
}


@pytest.mark.parametrize("delta", EXPECTED)
def test_expected_counts_of_gaussian_noise_give_the_figures_of_the_prototype(delta: float) -> None:
    """n = 10^5, α = .05; to within .01, as the prototype's thresholds are not known."""
    for sigma, two, one in EXPECTED[delta]:
        assert gaussian(sigma, 10**5, delta) == pytest.approx((one, two), abs=0.01)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-5, 1e-3, 0.01, 0.1])
@pytest.mark.parametrize("n", [10**3, 10**4, 10**5, 10**6])
def test_less_noise_never_shows_less(delta: float, n: int) -> None:
    """By expected counts; and without any noise the bound is about log((n − discount)/ln(1/α))."""
    shown = [gaussian(sigma, n, delta)[0] for sigma in (5, 2, 1.5, 1, 0.7, 0.5, 0.35, 0.25, 0.1, 0.05)]
    assert all(before <= after for before, after in pairwise(shown))
    no_noise = bound(Guesses(n, 0, n, 2), 0.05, delta, forms(delta, fixed=False)[0])
    assert no_noise >= shown[-1]
    assert no_noise == pytest.approx(math.log((n - discount(n, 2, delta, 0.005)) / math.log(1 / 0.045)), abs=0.2)


@pytest.mark.parametrize("form", [DISCOUNTED, DISCOUNTED_EVENLY, TWO])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.01])
def test_a_bound_grows_with_right_guesses_and_falls_with_wrong_ones(form: Form, delta: float) -> None:
    if form == TWO and delta == 0:
        return
    rights = bounds(np.arange(0, 900), 20, 1000, 2, 0.05, delta, form)
    wrongs = bounds(500, np.arange(0, 500), 1000, 2, 0.05, delta, form)
    assert rights[0] == 0
    assert rights[-1] > 1
    assert (np.diff(rights) >= 0).all()
    assert (np.diff(wrongs) <= 0).all()


def test_where_right_guesses_are_few_beside_delta_another_share_of_the_error_is_better() -> None:
    """The case of the method's notes: v = 1799 with nδ/2 = 800."""
    few = Guesses(1799, 400, 160_000, 1)
    assert bound(few, 0.05, 0.01, DISCOUNTED) != bound(few, 0.05, 0.01, DISCOUNTED_EVENLY)
    assert {form.share for form in forms(0.01, fixed=False)} == {0.1, 0.5}


def test_two_intervals_are_for_thresholds_that_were_fixed_before() -> None:
    assert TWO in forms(1e-5, fixed=True)
    assert TWO not in forms(1e-5, fixed=False)
    assert forms(0.0, fixed=True) == (PURE,)
