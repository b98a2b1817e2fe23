"""What ``account`` says beside ε, and that no accounting command lets a library's warning out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dpaudit.cli import main

GAUSSIAN = {"mechanism": "gaussian", "sigma": "4", "sensitivity": "1", "count": 4}
SCHEMA = Path(__file__).parents[4] / "dpaudit" / "schemas" / "account.json"


@pytest.fixture
def releases(tmp_path: Path) -> str:
    path = tmp_path / "releases.jsonl"
    path.write_text(json.dumps(GAUSSIAN) + "\n")
    return str(path)


def test_everything_asked_for_is_in_the_json_and_nothing_else(releases: str, capsys: Any) -> None:
    asked = ["--epsilon", "3", "--trade-off", "--renyi", "--group", "3"]
    assert main(["account", releases, "--delta", "1e-6", "--fixed", "--format", "json", *asked]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert document["delta_at_epsilon"]["epsilon"] == "3"
    assert 3e-10 < float(document["delta_at_epsilon"]["delta"]) < 4e-10
    assert document["group"]["size"] == 3
    assert float(document["gaussian_dp"]["mu"]) == pytest.approx(0.5)
    assert {"order": "8", "epsilon": "1", "delta": "0"} in document["renyi"]
    rates = [float(each["true_positive_rate"]) for each in document["trade_off"]]
    assert rates == sorted(rates)
    assert main(["account", releases, "--delta", "1e-6", "--format", "json"]) == 0
    assert not {"delta_at_epsilon", "trade_off", "renyi", "gaussian_dp", "group"} & set(json.loads(capsys.readouterr().out))


def test_the_text_names_them(releases: str, capsys: Any) -> None:
    assert main(["account", releases, "--delta", "1e-6", "--epsilon", "3", "--renyi", "--group", "2"]) == 0
    text = capsys.readouterr().out
    assert "at ε = 3: δ ≤" in text
    assert "any 2 records" in text
    assert "of Gaussian DP" in text
    assert "order α" in text


@pytest.mark.parametrize("size", ["0", "many", "1.5"])
def test_a_group_that_is_none_is_refused(releases: str, size: str, capsys: Any) -> None:
    assert main(["account", releases, "--group", size]) == 2
    assert "group" in capsys.readouterr().err


COMMANDS = [
    ("account", "{}", "--fixed", "--delta", "1e-6", "--odometer"),
    ("calibrate", "--mechanism", "gaussian", "--epsilon", "4", "--delta", "1e-5", "--grid", "1", "--count", "3"),
    ("calibrate", "--mechanism", "gaussian", "--epsilon", "16", "--delta", "1e-5", "--grid", "1", "--sensitivity", "2"),
    ("amplify", "--epsilon0", "1", "--n", "1000", "--delta", "1e-6"),
    ("compare", "{}", "{}", "--delta", "1e-6"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:3]))
def test_no_warning_of_a_library_reaches_the_terminal(command: tuple[str, ...], releases: str, capsys: Any) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert main([word.format(releases) for word in command]) == 0
    assert not [str(each.message) for each in seen]
    assert not capsys.readouterr().err
