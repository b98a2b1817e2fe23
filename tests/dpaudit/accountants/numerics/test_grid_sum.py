"""E[S_+] on a grid: the Fourier transform against plain convolution, and the direction of its rounding."""

import math

import numpy as np
import pytest

from dpaudit.accountants.numerics.grid_sum import Summand, log_lower, log_upper, mean_square


def convolved(knots, step, weights, total, n):
    """log E[S_+]/n by convolving n times."""
    law = {0: 1 - total}
    for k, w in zip(knots.tolist(), weights.tolist(), strict=True):
        law[k] = law.get(k, 0.0) + w
    low, high = min(law), max(law)
    single = np.array([law.get(k, 0.0) for k in range(low, high + 1)])
    whole = np.ones(1)
    for _ in range(n):
        whole = np.convolve(whole, single)
    sums = (np.arange(len(whole)) + n * low) * step
    return math.log(float(whole @ np.maximum(sums, 0.0)) / n)


@pytest.mark.parametrize(("n", "c"), [(1, 1.0), (2, 0.7), (20, 0.3), (200, 0.1)])
@pytest.mark.parametrize("total", [0.3, 1.0])
def test_both_ends_enclose_the_convolved_value_closely(n, c, total):
    generator = np.random.default_rng(5)
    knots = np.arange(-9, 8)
    weights = generator.dirichlet(np.ones(len(knots))) * total
    law = Summand(knots, 0.5, weights, total)
    exact = convolved(knots, 0.5, weights, total, n)
    nodes = 2 ** math.ceil(math.log2(60 * math.sqrt(n) + 60))
    low, high = log_lower(law, n, c, nodes), log_upper(law, n, c, nodes)
    assert low <= exact + 1e-12
    assert high >= exact - 1e-12
    assert high - low < 1e-6


@pytest.mark.parametrize("nodes", [16, 32, 64])
def test_too_few_nodes_only_raise_the_upper_end_and_lower_the_lower_one(nodes):
    knots, n = np.arange(-4, 4), 60
    weights = np.full(8, 0.1)
    exact = convolved(knots, 1.0, weights, 0.8, n)
    law = Summand(knots, 1.0, weights, 0.8)
    assert log_upper(law, n, 0.05, nodes) >= exact
    assert log_lower(law, n, 0.05, nodes) <= exact


def test_more_weight_is_not_less():
    """The twin of the direction: 1 % more weight everywhere lies above, 1 % less below."""
    knots, n = np.arange(-4, 4), 30
    weights = np.full(8, 0.1)
    exact = convolved(knots, 1.0, weights, 0.8, n)
    assert log_lower(Summand(knots, 1.0, weights * 1.01, 0.8), n, 0.2, 1024) > exact
    assert log_upper(Summand(knots, 1.0, weights * 0.99, 0.8), n, 0.2, 1024) < exact


def test_a_law_without_weight_says_nothing():
    assert log_lower(Summand(np.arange(3), 1.0, np.zeros(3), 0.5), 10, 1.0, 64) == -math.inf


@pytest.mark.parametrize(("a", "nodes"), [(0.3, 8), (0.02, 64), (1e-3, 4096), (2.0, 16)])
def test_the_mean_square_of_the_kernel_is_that_of_the_nodes(a, nodes):
    angles = 2 * math.pi / nodes * np.arange(nodes)
    direct = float(((2 * math.cosh(a) - 2 * np.cos(angles)) ** -2.0).mean())
    assert mean_square(a, nodes) == pytest.approx(direct, rel=1e-9)
    assert mean_square(1.01 * a, nodes) != pytest.approx(direct, rel=1e-3)
