"""Subjects of the family: their notes say which claims they rest on, and every row has a factory of its name."""

from __future__ import annotations

import numpy as np
import pytest

import algorithms
from algorithms.elimination.bandit_subject import action_array, make_setting
from algorithms.registry import ALGORITHMS, pieces
from dpaudit.claims import InvalidValue


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_row_has_a_factory_that_makes_it(name: str) -> None:
    subject = getattr(algorithms, name)(epsilon="1", horizon=100)
    assert subject.name == f"{name} (tight)"
    assert subject.claim.observer == ALGORITHMS[name].observer
    assert subject.notes.get("claims") == ALGORITHMS[name].claims.get("tight")
    assert ("privacy" in subject.notes) == (not ALGORITHMS[name].claims)


def test_a_model_that_needs_delta_says_so_in_both_faces() -> None:
    open_choices = {"actions": None, "calibration": "tight", "low": -1, "high": 1, "design": "frank-wolfe", "maximum": "active"}
    with pytest.raises(InvalidValue, match="greater than 0 for the shuffled model"):
        algorithms.shuffled(epsilon="1", delta=0, horizon=100)
    with pytest.raises(InvalidValue, match="greater than 0 for the shuffled model"):
        pieces("shuffled", epsilon="1", delta=0, horizon=100, **open_choices)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="one of central, local, shuffled"):
        pieces("nonprivate", epsilon="1", delta=0, horizon=100, **open_choices)  # type: ignore[arg-type]


def test_in_one_dimension_there_are_two_unit_actions_and_a_notice() -> None:
    points, notice = action_array((5, 1), 100)
    assert np.array_equal(points, [[1.0], [-1.0]])
    assert "two unit actions" in notice
    assert action_array((2, 1), 100)[1] == ""


@pytest.mark.parametrize(("horizon", "calibration", "name"), [(2**32 + 1, "tight", "horizon"), (100, "loose", "calibration")])
def test_settings_out_of_range_are_refused_by_name(horizon: int, calibration: str, name: str) -> None:
    with pytest.raises(InvalidValue, match=name):
        make_setting(horizon, None, calibration, -1, 1)
