"""The chart of canary scores: both sides, in words too, whatever the scores are."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.report.charts.canary_histogram import canary_histogram
from dpaudit.report.document import plain_text
from dpaudit.training.canary_scores import CanaryScores

COINS = np.arange(200) % 2 == 1


def test_bars_are_shares_and_the_distance_of_the_means_is_told() -> None:
    scores = np.where(COINS, 2.0, 0.0) + np.random.default_rng(1).normal(size=200)
    figure = canary_histogram([CanaryScores(COINS, scores)])
    told = plain_text(figure.caption)
    apart = (scores[COINS].mean() - scores[~COINS].mean()) / np.sqrt((scores[COINS].var() + scores[~COINS].var()) / 2)
    assert f"{apart:.2f} deviations apart" in told
    assert "in: 100 canaries" in str(figure.drawing)
    shares = [float(str(row[1]).rstrip("%")) for row in figure.words[0].rows]  # type: ignore[union-attr]
    assert sum(shares) == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize("scores", [np.zeros(200), np.full(200, np.inf), np.array([np.inf, -np.inf] * 100)])
def test_scores_without_a_spread_are_drawn_too(scores: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        assert "nan" not in str(canary_histogram([CanaryScores(COINS, scores)]).drawing)
