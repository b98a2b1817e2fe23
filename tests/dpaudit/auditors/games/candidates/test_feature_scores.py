"""Scores of features: each sees what it is for, and missing values harm none."""

from __future__ import annotations

import numpy as np
import pytest

from dpaudit.auditors.games.candidates.feature_scores import CodeTable, RawOn, RidgeOn, feature_learners

RNG = np.random.default_rng(1)
COINS = RNG.random(4000) < 0.5


def separation(scores: np.ndarray) -> float:
    """How often a run with coin 1 has the larger score of a pair, beyond one half."""
    ranks = np.argsort(np.argsort(scores + 1e-9 * RNG.random(len(scores))))
    return float(ranks[COINS].mean() - ranks[~COINS].mean()) / len(scores)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_column_by_itself_points_either_way_and_folds(sign: int) -> None:
    shift, wide = RNG.normal(size=4000) + sign * COINS, RNG.normal(size=4000) * np.where(COINS, 1 + sign * 0.5, 1)
    table = np.stack([shift, wide], axis=1)
    assert separation(RawOn(0, False, sign)(table, COINS)(table)) > 0.2
    assert separation(RawOn(1, True, sign)(table, COINS)(table)) > 0.1


def test_tails_are_not_clipped() -> None:
    table = RNG.normal(size=(4000, 1))
    scorer = RawOn(0, False, 1)(table, COINS)
    assert scorer(np.array([[1e3]])) > 2 * scorer(np.array([[4e2]]))


def test_codes_and_missing_values_are_learned() -> None:
    codes = np.where(RNG.random(4000) < 0.7, COINS, ~COINS) * 1.0
    values = np.where(RNG.random(4000) < 0.3 + 0.4 * COINS, np.nan, RNG.normal(size=4000))
    table = np.stack([codes, codes, values], axis=1)
    assert separation(CodeTable((0, 1))(table, COINS)(table)) > 0.15
    assert separation(RidgeOn(())(table[:, 2:], COINS)(table[:, 2:])) > 0.1
    assert separation(RidgeOn((0, 1))(table, COINS)(table)) > 0.2


def test_every_candidate_scores_rows_with_nothing_in_them() -> None:
    table = np.stack([RNG.normal(size=4000), np.full(4000, np.nan), np.round(RNG.normal(size=4000)), COINS * 1.0], axis=1)
    learners = feature_learners(table, COINS, np.array([2, 3]), trees=True)
    assert len(learners) > 10
    for learn in learners:
        assert np.isfinite(learn(table, COINS)(np.full((3, 4), np.nan))).all()
    assert feature_learners(np.zeros((10, 0)), COINS[:10], np.zeros(0, int), trees=True) == []
