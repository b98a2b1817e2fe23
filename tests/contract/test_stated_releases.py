"""Releases that are known by a guarantee, as the design has them: ``known``, ``zcdp``, ``rdp`` and ``discrete-loss``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpaudit as dp

KNOWN = {"mechanism": "known", "epsilon": "1", "delta": "1e-6"}
RECORD = {"name": "a", "mechanism": "laplace", "parameters": {"scale": "2"}, "sensitivity": "1"}
ZCDP = {"mechanism": "zcdp", "rho": "0.1"}
RDP = {"mechanism": "rdp", "curve": [["2", "0.2"], ["8", "0.8"], ["32", "3.2"]]}
LOSSES = {"mechanism": "discrete-loss", "losses": [["1", "0.75"], ["-1/2", "0.25"]]}
ALL = [KNOWN, ZCDP, RDP, LOSSES]


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    def write(*releases: Any) -> str:
        path = tmp_path / "stated.jsonl"
        texts = [release if isinstance(release, str) else json.dumps(release) for release in releases]
        path.write_text("".join(text + "\n" for text in texts))
        return str(path)

    return write


def test_account_composes_all_of_them_with_noise(dpaudit_cli: Any, written: Any) -> None:
    laplace = {"mechanism": "laplace", "scale": "10", "sensitivity": "1", "count": 5}
    done = dpaudit_cli("account", written(*ALL, laplace), "--delta", "1e-5", "--fixed", "--format", "json")
    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["schema"] == "dpaudit.account/1"
    assert len(document["releases"]) == 5
    alone = [float(line["epsilon"]) for line in document["releases"]]
    assert max(alone) < float(document["epsilon"]) < sum(alone)


def test_a_known_guarantee_alone_is_itself(dpaudit_cli: Any, written: Any) -> None:
    document = json.loads(dpaudit_cli("account", written(KNOWN), "--format", "json").stdout)
    assert (document["epsilon"], document["delta"]) == ("1", "1e-6")


def test_every_form_takes_count_cohort_name_and_n(dpaudit_cli: Any, written: Any) -> None:
    rows = [{**form, "count": 2, "cohort": [[k, k + 1]], "name": f"part {k}", "n": 3} for k, form in enumerate(ALL)]
    done = dpaudit_cli("account", written(*rows), "--delta", "1e-5", "--fixed", "--format", "json")
    lines = json.loads(done.stdout)["releases"]
    assert [line["batch"] for line in lines] == [f"part {k}" for k in range(4)]
    assert float(json.loads(done.stdout)["epsilon"]) == pytest.approx(max(float(line["epsilon"]) for line in lines))  # parallel


def test_python_takes_what_people_write() -> None:
    bound = dp.account([ZCDP, ZCDP], delta="1e-6", fixed=True)
    # ρ = 0.2: min over α of αρ + ln(1 − 1/α) − ln(αδ)/(α − 1), Canonne, Kamath, Steinke 2020, Prop. 12
    best = min(a * 0.2 + math.log1p(-1 / a) - math.log(a * 1e-6) / (a - 1) for a in [1 + 0.001 * k for k in range(1, 30_000)])
    assert float(bound.epsilon) == pytest.approx(best, abs=1e-5)


ODD: list[tuple[str, Any]] = [
    ("epsilon", {**KNOWN, "epsilon": "-1"}),
    ("delta", {**KNOWN, "delta": "1.5"}),
    ("delta", {**KNOWN, "delta": "-1e-9"}),
    ("epsilon", {"mechanism": "known", "delta": "1e-6"}),
    ("rho", {"mechanism": "zcdp", "rho": "0"}),
    ("rho", {"mechanism": "zcdp", "rho": "much"}),
    ("rho", {"mechanism": "zcdp"}),
    ("NaN", '{"mechanism": "zcdp", "rho": NaN}'),
    ("curve", {"mechanism": "rdp", "curve": []}),
    ("curve", {"mechanism": "rdp", "curve": "2: 0.1"}),
    ("curve", {"mechanism": "rdp", "curve": [[2]]}),
    ("order", {"mechanism": "rdp", "curve": [["1", "0.1"]]}),
    ("order", {"mechanism": "rdp", "curve": [["0.5", "0.1"]]}),
    ("curve", {"mechanism": "rdp", "curve": [["2", "-0.1"]]}),
    ("curve", {"mechanism": "rdp", "curve": [["2", "nan"]]}),
    ("order", {"mechanism": "rdp", "curve": [["2", "0.1"], ["2", "0.2"]]}),
    ("losses", {"mechanism": "discrete-loss", "losses": []}),
    ("probabilit", {"mechanism": "discrete-loss", "losses": [["1", "1.2"], ["0", "-0.2"]]}),
    ("add up to 1", {"mechanism": "discrete-loss", "losses": [["1", "0.5"], ["-1", "0.4"]]}),
    ("add up to 1", {"mechanism": "discrete-loss", "losses": [["1", "0.75"], ["-1", "0.35"]]}),
    ("losses", {"mechanism": "discrete-loss", "losses": [["1", "a half"], ["-1", "0.5"]]}),
    ("losses", {"mechanism": "discrete-loss", "losses": [["-inf", "1"]]}),
    ("at most 1", {"mechanism": "discrete-loss", "losses": [["-1", "1"]]}),
    ("count", {**ZCDP, "count": "0"}),
    ("sampling", {**ZCDP, "sampling": "0.1"}),
    ("sampling", {**RDP, "sampling": "0.1"}),
    ("sampling", {**LOSSES, "sampling": "0.1"}),
    ("to", {**KNOWN, "to": "shuffled", "n": 100}),
    ("sigma", {**KNOWN, "sigma": "1"}),
    ("sensitivity", {**ZCDP, "sensitivity": "1"}),
]


@pytest.mark.parametrize(("word", "release"), ODD, ids=range(len(ODD)))
def test_odd_input_is_refused_with_its_line(word: str, release: Any, written: Any, shared_main: Any) -> None:
    code, error = shared_main("account", written(LOSSES, release), "--delta", "1e-5")
    assert code == 2
    assert word in error
    assert "line 2" in error
    assert "Traceback" not in error


@pytest.fixture
def shared_main(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command in this process: so many cases would take long otherwise."""
    from dpaudit.cli import main

    def run(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        return code, capsys.readouterr().err

    return run


def test_mass_at_infinity_is_written_as_such(written: Any, dpaudit_cli: Any) -> None:
    row = {"mechanism": "discrete-loss", "losses": [["infinity", "1e-6"], ["1", "0.749999"], ["-1/2", "0.25"]]}
    document = json.loads(dpaudit_cli("account", written(row), "--format", "json").stdout)
    assert (document["epsilon"], document["delta"]) == ("1", "1e-6")


def test_sampling_is_proven_for_known_guarantees_alone(written: Any, dpaudit_cli: Any) -> None:
    done = dpaudit_cli("account", written({**KNOWN, "sampling": "0.1"}), "--delta", "1e-7", "--format", "json")
    found = json.loads(done.stdout)
    assert float(found["epsilon"]) == pytest.approx(math.log1p(0.1 * math.expm1(1)))
    assert float(found["epsilon"]) >= math.log1p(0.1 * math.expm1(1)) * (1 - 1e-15)
    assert found["delta"] == "1e-7"


def test_a_delta_below_what_is_stated_is_told(written: Any, dpaudit_cli: Any) -> None:
    done = dpaudit_cli("account", written(KNOWN), "--delta", "1e-9", "--epsilon", "1")
    assert done.returncode == 1  # 1e-6 is over the budget's δ
    assert "no finite ε" in done.stdout


@pytest.mark.parametrize(
    ("releases", "options", "told"),
    [
        ([{"mechanism": "discrete-loss", "losses": [["infinity", "1"]]}], [], "surely reveals all"),
        ([ZCDP, KNOWN], ["--delta", "1e-6"], "that much is the stated δ of the others"),
        ([{**KNOWN, "to": "nobody"}], [], "to must be left out, which is the server, or one of"),
        ([{"mechanism": "laplace", "scale": "1", "sensitivity": "1", "to": "nobody"}], [], "to must be left out"),
        ([{**RECORD, "to": "nobody"}], [], "to must be left out, which is the server, or one of"),
        (
            [{"mechanism": "discrete-loss", "losses": [["Infinity", "1e-6"], ["0", "0.999999"]]}],
            [],
            '"infinity", written like this',
        ),
        (
            [{"mechanism": "known", "epsilon": "1", "delta": "0.3"}] * 10,
            [],
            "add up to 3: a bound with δ of 1 or more says nothing",
        ),
        ([{"mechanism": "laplace", "scale": "1e400", "sensitivity": "1"}], [], "not 'about 1.00e+400'"),
    ],
)
def test_what_cannot_be_accounted_for_is_refused_with_its_reason(
    dpaudit_cli: Any, written: Any, releases: Any, options: list[str], told: str
) -> None:
    done = dpaudit_cli("account", written(*releases), *options)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_curve_of_zeros_costs_nothing_but_was_released(written: Any) -> None:
    bound = dp.account(written({"mechanism": "rdp", "curve": [["2", "0"]]}))
    assert (bound.epsilon, bound.delta) == (0, 0)
    assert "nothing released" not in bound.method
    assert "nothing released" in dp.account([]).method


@pytest.mark.parametrize("size", ["1", "0.1", "1/3", "0.002", "1e-6", "1e-9", "1e30"])
def test_noise_as_large_as_its_sensitivity_costs_the_same_whatever_the_unit(size: str) -> None:
    """A mean of a million records is as private as a sum: no grid is written, so none may round its sensitivity up."""
    assert dp.account([{"mechanism": "laplace", "scale": size, "sensitivity": size}]).epsilon == 1
    gaussian = dp.account([{"mechanism": "gaussian", "sigma": size, "sensitivity": size}], delta="1e-6").epsilon
    assert float(gaussian) == pytest.approx(4.886554119416912, rel=1e-9)


def test_wide_noise_without_a_grid_is_accounted_for() -> None:
    assert dp.account([{"mechanism": "laplace", "scale": "1e9", "sensitivity": "0.1"}]).epsilon == Fraction(1, 10**10)


def test_a_grid_that_is_written_rounds_the_sensitivity_up() -> None:
    assert dp.account([{"mechanism": "laplace", "scale": "0.1", "sensitivity": "0.1", "grid": "0.25"}]).epsilon == Fraction(5, 2)


def test_a_cohort_may_be_a_list_of_names() -> None:
    release = {"mechanism": "laplace", "scale": "1", "sensitivity": "1"}
    assert dp.account([{**release, "cohort": ["ann", "bob"]}, {**release, "cohort": ["eve"]}]).epsilon == 1
    assert dp.account([{**release, "cohort": ["ann", "bob"]}, {**release, "cohort": ["bob"]}]).epsilon == 2
