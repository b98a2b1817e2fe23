"""What the statistical tests of the noise share: bins from the exact law and Pearson's test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dpaudit.noise import Noise

Fit = Callable[[NDArray[np.int64], Noise, Sequence[int]], float]


@pytest.fixture
def fit() -> Fit:
    """The p-value of "these draws follow this law", by Pearson's chi-square on cells from the exact tails.

    Cells are (−∞, e1), [e1, e2), …, [en, ∞). Their probabilities come from ``tail``, which has its own tests.
    """

    def p_value(draws: NDArray[np.int64], noise: Noise, edges: Sequence[int]) -> float:
        above = [Fraction(1), *(noise.tail(edge)[0] for edge in edges), Fraction(0)]
        expected = np.array([float(a - b) for a, b in pairwise(above)]) * draws.size
        assert expected.min() > 5, "a cell is too small for Pearson's test"
        cells = np.searchsorted(np.asarray(edges), draws.ravel(), side="right")
        observed = np.bincount(cells, minlength=len(expected))
        return float(stats.chisquare(observed, expected * (draws.size / expected.sum())).pvalue)

    return p_value


@pytest.fixture
def two_sample() -> Callable[[NDArray[np.int64], NDArray[np.int64], Sequence[int]], float]:
    """The p-value of "both samples follow one law", by the chi-square test of homogeneity."""

    def p_value(one: NDArray[np.int64], other: NDArray[np.int64], edges: Sequence[int]) -> float:
        counts = [np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1) for x in (one, other)]
        return float(stats.chi2_contingency(np.array(counts)).pvalue)

    return p_value
