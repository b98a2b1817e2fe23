"""Products of features: one column that says how much another tells."""

from __future__ import annotations

import numpy as np

from dpaudit.auditors.games.candidates.product_scores import FEATURES, ProductsOf, multiplied

RNG = np.random.default_rng(1)
COINS = RNG.random(6000) < 0.5


def test_a_column_that_tells_only_where_another_is_large_is_read_so() -> None:
    """Right in 75 % of the runs on a half that it was not learned from; a single column is right in half of them."""
    first, size = RNG.normal(size=6000), np.abs(RNG.normal(size=6000))
    table = np.stack([first, np.where(COINS, 1, -1) * np.sign(first) * size], axis=1)
    for columns, least, most in (((0, 1), 0.75, 1.0), ((0,), 0.45, 0.55), ((1,), 0.45, 0.55)):
        scores = ProductsOf(columns)(table[:3000], COINS[:3000])(table[3000:])
        assert least <= ((scores > 0) == COINS[3000:]).mean() <= most


def test_missing_and_huge_values_are_scored() -> None:
    table = np.stack([RNG.normal(size=6000), np.where(COINS, RNG.normal(size=6000), np.nan), np.full(6000, np.nan)], axis=1)
    scorer = ProductsOf((0, 1, 2))(table, COINS)
    assert np.isfinite(scorer(np.array([[np.nan, np.nan, np.nan], [1e300, -1e300, 0.0]]))).all()
    assert ((scorer(table) > 0) == COINS).mean() > 0.95  # what is missing tells


def test_codes_rare_columns_and_doubles_are_left_out() -> None:
    x, rare = RNG.normal(size=(6000, 8)), np.where(RNG.random(6000) < 0.3, 1.0, np.nan)
    table = np.concatenate([x[:, :2], -2 * x[:, :1] + 1, rare[:, None], x[:, 2:]], axis=1)
    assert multiplied(table, np.array([1]), [0, 1, 2, 3, 4]) == (0, 4)
    assert len(multiplied(table, np.zeros(0, int), list(range(table.shape[1])))) == FEATURES
