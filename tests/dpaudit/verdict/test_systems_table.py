"""The table of systems: its figures come from the subjects that it is given."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.ledger import MemoryLedger
from dpaudit.verdict import systems_table as module
from dpaudit.verdict.systems_table import fitted_slope, horizons, systems_table


def test_horizons_are_the_last_one_and_its_tenths():
    assert horizons(10**6) == [10**3, 10**4, 10**5, 10**6]
    assert horizons(5000) == [5000]


@pytest.mark.parametrize("exponent", [0.5, 0.75])
def test_the_slope_of_a_power_is_its_exponent(exponent):
    curve = [(t, 7 * t**exponent) for t in (10**3, 10**4, 10**5, 10**6)]
    slope, error = fitted_slope(curve)
    assert slope == pytest.approx(exponent, abs=1e-3)
    assert error == pytest.approx(0, abs=1e-3)
    assert fitted_slope(curve[:1]) == (None, None)


def test_the_slope_is_that_of_the_last_horizons_alone():
    assert fitted_slope([(10, 1e9), (10**4, 10.0), (10**5, 100.0), (10**6, 1000.0)])[0] == pytest.approx(1)


def test_a_row_has_the_certified_figure_and_how_far_the_noise_could_shrink(monkeypatch: pytest.MonkeyPatch):
    """A server whose noise is three times what ε = 1 needs."""
    printed = module.Printed("nobody 2026", "central", "1/2", "all of it")
    monkeypatch.setattr(module, "table_rows", lambda: {"wide": printed})

    def make(name: str, parameters: Any) -> Any:
        @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=50, low=-1, high=1))
        def wide(rewards, channel):
            return channel.release("sum", rewards.sum(), dp.Laplace(scale=6), sensitivity=2)

        def evaluate(channel: Any, rng: Any) -> dict[str, float]:
            channel.release("sum", 0.0, dp.Laplace(scale=6), sensitivity=2)
            return {"regret": math.sqrt(parameters["horizon"]), "error": 1.0}

        object.__setattr__(wide, "evaluate", evaluate)
        return wide

    (row,) = systems_table({"epsilon": 1, "horizon": 10**5}, instances=3, seed=1, samples=200, make=make)
    assert (row["verdict"], row["shrink"]) == ("certified", 3.0)
    assert row["certified"] == "1/3"
    assert row["lower"] <= 1 / 3 + 1e-9
    assert [point["horizon"] for point in row["regret"]] == [10**3, 10**4, 10**5]
    assert row["slope"] == pytest.approx(0.5, abs=0.01)
    assert row["unconfirmed"] == "all of it"


def test_the_noise_of_a_stream_can_shrink_by_what_all_of_its_sums_together_leave():
    """Four steps: a record is in three sums, which cost 3·2/18 = 1/3 together."""
    subject = dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=4, low=-1, high=1))(lambda data, channel: 0)
    ledger = MemoryLedger(kind="simulated")
    with dp.simulate(1, ledger=ledger) as channel:
        channel.tree("stream", steps=4, noise=dp.Laplace(scale=18), sensitivity=2)
    assert module._shrink(ledger, subject) == 3.0
