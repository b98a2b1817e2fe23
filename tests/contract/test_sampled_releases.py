"""Releases from Poisson samples, as the design has them: hand-written, calibrated, beside peers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OPACUS = {"mechanism": "gaussian", "sigma": "1.5", "sensitivity": "1", "sampling": "0.04", "count": "2250"}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    def write(*releases: dict[str, Any]) -> str:
        path = tmp_path / "sampled.jsonl"
        path.write_text("".join(json.dumps(release) + "\n" for release in releases))
        return str(path)

    return write


def test_account_reads_sampling_and_count(dpaudit_cli: Any, written: Any) -> None:
    done = dpaudit_cli("account", written(OPACUS), "--delta", "1e-5", "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert 6.76878 < float(document["epsilon"]) < 6.76879
    assert "Poisson" in document["releases"][0]["theorem"]
    assert "secret coin" in document["releases"][0]["preconditions"]


def test_sampled_releases_compose_with_others(dpaudit_cli: Any, written: Any) -> None:
    path = written(OPACUS, {"mechanism": "laplace", "scale": "10", "sensitivity": "1", "count": 20})
    done = dpaudit_cli("account", path, "--delta", "1e-5", "--fixed", "--format", "json")
    together = float(json.loads(done.stdout)["epsilon"])
    assert 6.76879 < together < 6.76878 + 20 * 0.1


def test_several_plain_releases_in_one_line_add_up(dpaudit_cli: Any, written: Any) -> None:
    done = dpaudit_cli(
        "account", written({"mechanism": "laplace", "scale": "2", "sensitivity": "1", "count": 3}), "--format", "json"
    )
    assert json.loads(done.stdout)["epsilon"] == "1.5"


def test_exponential_mechanisms_compose_as_bounded_range(dpaudit_cli: Any, written: Any) -> None:
    path = written({"mechanism": "exponential", "epsilon": "0.1", "count": 1000})
    plain, fixed = (dpaudit_cli("account", path, *more, "--format", "json") for more in ((), ("--delta", "1e-6", "--fixed")))
    assert json.loads(plain.stdout)["epsilon"] == "100"
    assert 8.835 < float(json.loads(fixed.stdout)["epsilon"]) < 8.837


@pytest.mark.parametrize(
    ("field", "value"), [("sampling", "1.5"), ("sampling", "0"), ("sampling", "often"), ("count", "0"), ("count", "1.5")]
)
def test_a_rate_or_count_that_is_none_is_refused(dpaudit_cli: Any, written: Any, field: str, value: str) -> None:
    done = dpaudit_cli("account", written({**OPACUS, field: value}), "--delta", "1e-5")
    assert done.returncode == 2
    assert field in done.stderr


def test_calibrate_takes_a_rate(dpaudit_cli: Any) -> None:
    given = ("--mechanism", "gaussian", "--epsilon", "3", "--delta", "1e-5", "--sampling", "0.01", "--count", "1000")
    done = dpaudit_cli("calibrate", *given, "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert 0.81358 < float(document["value"]) < 0.81359
    assert document["sampling"] == "0.01"
