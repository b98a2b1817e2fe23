"""``compare``, ``peers`` and ``calibrate`` as a user calls them: what they print, their JSON, their exit codes."""

from __future__ import annotations

import importlib.resources
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpaudit.cli import main

Call = Callable[..., str]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command that must exit 0; gives what it printed."""

    def run(*arguments: object) -> str:
        code = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        assert (code, shown.err) == (0, "")
        return shown.out

    return run


def valid(text: str, name: str) -> Any:
    document = json.loads(text, parse_constant=lambda what: pytest.fail(what))
    schema = json.loads((importlib.resources.files("dpaudit") / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
    return document


def releases(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def laplace(scale: str, **more: Any) -> dict[str, Any]:
    return {"name": "counts", "mechanism": "laplace", "scale": scale, "sensitivity": "1", **more}


@pytest.fixture
def ledgers(tmp_path: Path) -> list[Path]:
    return [
        releases(tmp_path / "before.jsonl", laplace("2", cohort=[[0, 10]])),
        releases(tmp_path / "after.jsonl", laplace("2", cohort=[[0, 10]]), laplace("4", cohort=[[5, 20]])),
    ]


def test_two_ledgers_side_by_side_with_what_changed(ledgers: list[Path], call: Call) -> None:
    document = valid(call("compare", *ledgers, "--format", "json"), "compare")
    assert [ledger["epsilon"] for ledger in document["ledgers"]] == ["0.5", "0.75"]
    assert document["change"]["observers"]["server"] == {"epsilon": "0.25", "delta": "0"}
    assert [ledger["worst_client"]["client"] for ledger in document["ledgers"]] == [0, 5]
    text = call("compare", *ledgers)
    assert "ε 0.5 → 0.75 (+50%)" in text
    assert "before.jsonl" in text.splitlines()[0]
    assert "client 5, 2 releases" in text


def test_the_same_ledger_twice_has_not_changed(ledgers: list[Path], call: Call) -> None:
    assert "same ε" in call("compare", ledgers[0], ledgers[0])


def test_figures_at_different_deltas_are_pointed_out(ledgers: list[Path], tmp_path: Path, call: Call) -> None:
    gaussian = releases(tmp_path / "g.jsonl", {"name": "m", "mechanism": "gaussian", "sigma": "10", "sensitivity": "1"})
    assert "different δ" in call("compare", ledgers[0], gaussian)


def test_the_calibrations_of_an_algorithm_in_one_table(call: Call) -> None:
    setting = ("--calibrations", "central", "--epsilon", "1", "--horizon", "500", "--instances", "20")
    document = valid(call("compare", *setting, "--format", "json"), "compare")
    rows = {row["calibration"]: row for row in document["calibrations"]}
    assert [rows[name]["upper"] for name in ("printed", "corrected", "tight")] == ["2", "1", "1"]
    assert rows["printed"]["noise"] == {"least": "1", "most": "1"}
    assert rows["corrected"]["noise"] == {"least": "2", "most": "2"}
    assert rows["printed"]["findings"][0]["rule"] == "DPA003"
    text = call("compare", *setting)
    assert text == call("compare", *setting)
    assert "mean of 20 random instances" in text


def test_peers_json_follows_its_schema_and_marks_a_peer_that_is_too_low(call: Call) -> None:
    asked = ("peers", "--mechanism", "randomized-response", "--epsilon", "1", "--count", "3")
    document = valid(call(*asked, "--format", "json"), "peers")
    assert {figure["peer"] for figure in document["peers"]} == {"opacus", "dp-accounting"}
    assert 2.99 < float(document["epsilon"]["lower"]) <= float(document["epsilon"]["upper"]) <= 3
    for figure in document["peers"]:
        low = figure["epsilon"] is not None and figure["epsilon"] < 2.99
        assert figure["agrees"] is (None if figure["epsilon"] is None else not low)
        assert low == any(figure["method"] in finding["where"] for finding in document["findings"])
    assert "randomised response" in document["cannot"]["opacus"]


def test_without_the_peers_the_command_completes_and_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, ledgers: list[Path], call: Call
) -> None:
    for module in ("opacus", "dp_accounting"):
        monkeypatch.setitem(sys.modules, module, None)  # Python's own way to make an import fail
    with ledgers[1].open("a", encoding="utf-8") as file:
        file.write(json.dumps(laplace("9", cohort=[[0, 5]])) + "\n")
    text = call("peers", ledgers[1], "--delta", "1e-6")
    assert text.count("not installed: pip install 'dpaudit[peers]'") == 5
    assert "of client 5, who pays most" in text


def test_calibrate_says_the_parameter_what_it_gives_and_why(call: Call) -> None:
    asked = ("calibrate", "--mechanism", "laplace", "--epsilon", "1/2", "--sensitivity", "2", "--count", "3")
    document = valid(call(*asked, "--format", "json"), "calibrate")
    assert (document["value"], document["python"]) == ("12", 'dp.Laplace(scale="12")')
    assert document["epsilon"] == {"lower": "0.5", "upper": "0.5"}
    text = call(*asked)
    assert "Laplace noise of scale 12, 3 times: keeps ε = 0.5" in text
    assert "Dwork" in text
    gaussian = call("calibrate", "--mechanism", "gaussian", "--epsilon", "1", "--delta", "1e-6")
    assert 'dp.Gaussian(sigma="4.2246788' in gaussian


def test_calibrate_serves_shuffled_bits(call: Call) -> None:
    asked = ("calibrate", "--shuffled", "--mechanism", "randomized-response", "--n", "10000", "--epsilon", "1", "--delta", "1e-6")
    document = valid(call(*asked, "--format", "json"), "calibrate")
    assert (document["method"], document["n"]) == ("krr", 10000)
    assert document["value"].startswith("5.470")
    assert "10000 shuffled reports" in call(*asked)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("compare", "two ledgers"),
        ("compare nowhere.ledger also.ledger", "nowhere.ledger"),
        ("compare a b --horizon 3", "--horizon"),
        ("compare a --calibrations central", "not both"),
        ("compare --calibrations central --epsilon 1", "horizon"),
        ("peers", "--mechanism"),
        ("peers a --mechanism laplace", "one of the two"),
        ("peers a --scale 1", "--scale"),
        ("peers --mechanism laplace --sigma 1", "--scale"),
        ("peers --mechanism laplace --scale 1 --epsilon 1", "not --epsilon"),
        ("peers --mechanism laplace --scale -1", "scale"),
        ("peers --mechanism gaussian --sigma 1 --delta 0", "delta"),
        ("calibrate --epsilon 1", "--mechanism"),
        ("calibrate --mechanism laplace", "epsilon"),
        ("calibrate --mechanism laplace --epsilon 1 --n 5", "--shuffled"),
        ("calibrate --mechanism randomized-response --epsilon 1 --sensitivity 5", "--sensitivity"),
        ("calibrate --shuffled --epsilon 1 --delta 1e-6", "--n"),
        ("calibrate --shuffled --epsilon 1 --delta 1e-6 --n 10 --count 2", "--count"),
        ("calibrate --mechanism laplace --epsilon zero", "epsilon"),
    ],
)
def test_wrong_use_exits_2_and_names_it(arguments: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert named in shown.err
    assert "internal" not in shown.err
