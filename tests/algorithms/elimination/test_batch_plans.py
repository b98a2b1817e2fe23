"""Plans of batches: pulls, estimators, and the store that runs of one setting share."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from algorithms.elimination.batch_plans import Plan, Plans, make_plan
from algorithms.elimination.central import Central
from algorithms.elimination.setting import Design, Setting

ACTIONS = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [-0.6, 0.8]])
SETTING, STEP, LIMIT = Setting(ACTIONS, 10**4), Central(Fraction(1)), 6


def plan_of(active: np.ndarray) -> Plan:
    return make_plan(SETTING, STEP, 3, LIMIT, active, ACTIONS)


@pytest.mark.parametrize("design", ["frank-wolfe", "minimal", "all"])
def test_sums_of_exact_means_are_turned_into_these_means(design: Design) -> None:
    active = np.array([[True] * 4, [True, True, False, False]])
    plan = make_plan(Setting(ACTIONS, 10**4, design=design), STEP, 3, LIMIT, active, ACTIONS)
    means = ACTIONS @ [0.3, -0.5]
    assert np.einsum("gk,gka->ga", plan.counts * means[plan.support], plan.coefficients) == pytest.approx(np.array([means] * 2))
    assert (plan.total == plan.counts.sum(axis=1)).all()
    assert (plan.total >= SETTING.growth**3).all()
    assert active[np.arange(2)[:, None], plan.support][plan.counts > 0].all()


def test_a_stored_plan_is_the_one_that_is_made_alone_also_beside_wider_ones() -> None:
    narrow, wide = np.array([[True, True, False, False]]), np.array([[True] * 4])
    plans, calls = Plans(), []

    def make(active: np.ndarray) -> Plan:
        calls.append(len(active))
        return make_plan(Setting(ACTIONS, 10**4, design="minimal"), STEP, 3, LIMIT, active, ACTIONS)

    plans.get(3, narrow, make)
    plans.get(3, wide, make)
    both = plans.get(3, np.concatenate([wide, narrow]), make)
    assert calls == [1, 1]
    for place, active in enumerate((wide, narrow)):
        alone = make(active)
        used, padding = both.counts[place, : alone.counts.shape[1]], both.counts[place, alone.counts.shape[1] :]
        assert used.tolist() == alone.counts[0].tolist()
        assert not padding.any()
        assert both.total[place] == alone.total[0]
        assert both.width[place].tolist() == alone.width[0].tolist()
        assert both.scale[place] == alone.scale[0] == Fraction(2)


def test_another_batch_has_plans_of_its_own() -> None:
    plans, active = Plans(), np.array([[True] * 4])
    first = plans.get(2, active, lambda rows: make_plan(SETTING, STEP, 2, LIMIT, rows, ACTIONS))
    second = plans.get(3, active, plan_of)
    assert first.total[0] < second.total[0]
