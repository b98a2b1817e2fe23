"""The demo: its rows come from the algorithms that it is given, so a changed noise constant changes a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.subjects import Subject
from dpaudit.subjects.targets import make_algorithm
from dpaudit.verdict.demo import demo, mean_regret

HORIZON = 3000


def table(make: Any = make_algorithm) -> dict[tuple[str, str], dict[str, Any]]:
    rows = demo(seed=1, horizon=HORIZON, instances=20, make=make)["rows"]
    return {(row["model"], row["calibration"]): row for row in rows}


@pytest.fixture(scope="module")
def honest() -> dict[tuple[str, str], dict[str, Any]]:
    return table()


def test_there_is_one_row_per_model_and_calibration(honest: dict[tuple[str, str], dict[str, Any]]) -> None:
    calibrations = ("printed", "corrected", "tight", "optimistic")
    assert list(honest) == [(model, calibration) for model in ("central", "local", "shuffled") for calibration in calibrations]
    assert all(row["why"] and row["regret"] > 0 for row in honest.values())


def test_the_central_and_local_algorithm_are_refuted_as_printed_and_certified_otherwise(
    honest: dict[tuple[str, str], dict[str, Any]],
) -> None:
    for model in ("central", "local"):
        assert honest[model, "printed"]["verdict"] == "refuted"
        assert honest[model, "printed"]["lower"] == 2
        for calibration in ("corrected", "tight", "optimistic"):
            row = honest[model, calibration]
            assert (row["verdict"], row["upper"]) == ("certified", "1")
            assert row["lower"] <= 1


def test_the_shuffled_algorithm_is_certified_where_it_is_corrected(honest: dict[tuple[str, str], dict[str, Any]]) -> None:
    for calibration in ("corrected", "tight", "optimistic"):
        row = honest["shuffled", calibration]
        assert row["verdict"] == "certified"
        assert row["lower"] <= float(Fraction(row["upper"])) <= 1


@pytest.mark.parametrize("changed", ["central", "local"])
def test_half_the_noise_of_one_model_changes_its_verdict_and_no_other(
    honest: dict[tuple[str, str], dict[str, Any]], changed: str
) -> None:
    """Twice the ε inside, the same claim outside: half the noise constant."""

    def make(model: str, parameters: Mapping[str, Any]) -> Subject:
        if (model, parameters["calibration"]) != (changed, "tight"):
            return make_algorithm(model, parameters)
        louder = make_algorithm(model, {**parameters, "epsilon": "2"})
        return replace(louder, claim=dp.Claim(parameters["epsilon"], louder.claim.delta, louder.claim.observer))

    rows = table(make)
    assert rows[changed, "tight"]["verdict"] == "refuted"
    assert rows[changed, "tight"]["lower"] > 1
    assert rows[changed, "tight"]["regret"] < honest[changed, "tight"]["regret"]
    others = [key for key in rows if key != (changed, "tight")]
    assert [rows[key]["verdict"] for key in others] == [honest[key]["verdict"] for key in others]


def test_a_subject_without_an_environment_has_no_regret() -> None:
    silent = dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=2, low=0, high=1))(lambda data, channel: 0)
    with pytest.raises(TypeError, match="environment"):
        mean_regret(silent, 5, 1)
