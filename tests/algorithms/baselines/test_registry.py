"""The registered baselines: their claims, one calibration, and the calibration and table marks that commands read."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.baselines import registry
from algorithms.baselines.registry import SYSTEMS, make_baseline
from dpaudit.claims import InvalidValue
from dpaudit.subjects.targets import calibrations_of, make_algorithm, table_rows


@pytest.mark.parametrize("name", SYSTEMS)
def test_each_is_registered_with_its_claim_and_marked_where_something_was_not_confirmed(name):
    subject = make_algorithm(name, {"epsilon": "1", "horizon": 2000})
    row = SYSTEMS[name]
    assert subject.claim.observer == row.observer
    assert (subject.claim.delta > 0) == row.approximate
    assert ("privacy" in subject.notes) == (row.model == "nonprivate")
    assert subject.notes.get("unconfirmed", "") == row.unconfirmed == table_rows()[name].unconfirmed
    assert calibrations_of(name) == ("printed",)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("calibration", ["tight", "corrected", "optimistic"])
def test_there_is_no_other_calibration(name, calibration):
    with pytest.raises(InvalidValue, match="calibration"):
        make_baseline(name, 1, None, 2000, None, calibration)


@pytest.mark.parametrize("wrong", [{"delta": 0}, {"epsilon": 0}, {"horizon": 2}, {"actions": np.array([[2.0, 0.0]])}], ids=str)
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(InvalidValue):
        registry.zheng(**{"epsilon": 1, "horizon": 2000, **wrong})


def test_models_stand_in_order_in_the_table_and_the_optimistic_ones_are_in_it():
    models = [row.model for row in table_rows().values()]
    assert models == sorted(models, key=("nonprivate", "central", "shuffled", "local").index)
    assert {"optimistic", "optimistic-local", "optimistic-shuffled", *SYSTEMS} <= set(table_rows())
