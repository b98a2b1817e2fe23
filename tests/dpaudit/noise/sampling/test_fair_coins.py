"""The number of heads among many coins has its law, whether they are thrown or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, chisquare

import dpaudit as dp
from dpaudit.noise import ReplaySource
from dpaudit.noise.sampling import fair_coins


@pytest.mark.parametrize("coins", [10, 6000, 10**12])
def test_draws_have_the_law_of_the_coins(coins: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # chi-square at 10^-6 over deciles, fixed seed; the twin, draws of 2 % more spread, must fail where there is a choice
    monkeypatch.setattr(fair_coins, "_FEW", 0)  # by rejection, however few
    drawn = dp.Binomial(coins).draw(np.zeros(4000, np.int64), ReplaySource(7)) + coins // 2
    ends = np.unique(binom.ppf(np.arange(1, 10) / 10, coins, 0.5))
    expected = np.diff(np.concatenate([[0], binom.cdf(ends, coins, 0.5), [1]])) * len(drawn)
    assert chisquare(_counts(drawn, ends), expected).pvalue > 1e-6
    twin = np.rint((drawn - coins / 2) * 1.4 + coins / 2)
    assert chisquare(_counts(twin, ends), expected).pvalue < 1e-6


def _counts(drawn: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.bincount(np.searchsorted(ends, drawn, side="left"), minlength=len(ends) + 1)
