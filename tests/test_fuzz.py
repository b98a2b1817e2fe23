"""Any file and any command line is answered or refused in dpaudit's own words. A few hundred here, 20,000 in ``make soak``."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

pytestmark = pytest.mark.slow


def _load(name: str) -> ModuleType:
    """From its file, as other projects install a package called ``benchmarks``."""
    spec = importlib.util.spec_from_file_location(f"dpaudit_{name}", Path(__file__).parents[1] / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


files, commands = _load("fuzzed_files"), _load("fuzzed_commands")
few = settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that commands are run in."""
    made, before = tmp_path_factory.mktemp("fuzz"), Path.cwd()
    os.chdir(made)
    yield made
    os.chdir(before)


@pytest.fixture(scope="module")
def good(folder: Path) -> dict[str, bytes]:
    """One good file of each kind, in the folder."""
    found: dict[str, bytes] = files.prepare(folder)
    return found


@pytest.fixture(scope="module")
def mark(good: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(good["mark.json"])
    return found


@pytest.mark.parametrize("name", files.READERS)
def test_a_good_file_is_read(name: str, good: dict[str, bytes], folder: Path, mark: dict[str, Any]) -> None:
    assert files.read_fuzzed(name, good[name], folder, mark)


@pytest.mark.parametrize("name", files.READERS)
def test_a_file_with_edited_bytes_is_read_or_refused(
    name: str, good: dict[str, bytes], folder: Path, mark: dict[str, Any]
) -> None:
    outcomes = []

    @few
    @given(files.edited(good[name]))
    def read(data: bytes) -> None:
        outcomes.append(files.read_fuzzed(name, data, folder, mark))

    read()
    assert len(outcomes) >= 100


@pytest.mark.parametrize("name", files.DOCUMENTS)
def test_a_file_with_values_in_the_wrong_place_is_read_or_refused(
    name: str, good: dict[str, bytes], folder: Path, mark: dict[str, Any]
) -> None:
    outcomes = set()

    @few
    @given(files.other_leaves(files.documents(good, name)))
    def read(lines: list[Any]) -> None:
        outcomes.add(files.read_documents(name, lines, folder, mark))

    read()
    assert outcomes == {True, False}


def test_any_bytes_are_json_or_refused() -> None:
    outcomes = set()

    @few
    @given(files.json_texts)
    def read(data: bytes) -> None:
        accepted = files.read_json(data)
        outcomes.add(accepted)
        if accepted:
            json.loads(data)

    read()
    assert outcomes == {True, False}


def test_any_command_line_ends_with_a_documented_code_and_no_traceback(good: dict[str, bytes], folder: Path) -> None:
    codes = set()

    @settings(few, max_examples=300)
    @given(commands.command_lines())
    def run(words: list[str]) -> None:
        code, problem = commands.run_command_line(words)
        assert problem == ""
        codes.add(code)

    run()
    assert codes >= {0, 1, 2, 3}


@pytest.mark.parametrize(
    "words",
    [
        ["account", "releases.jsonl", "--delta", "1e-4000"],
        ["amplify", "--epsilon0", "0.5", "--n", "1e4000", "--delta", "0.01"],
        ["amplify", "--epsilon0", "0.5", "--n", "1e100", "--delta", "0.01", "--method", "closed"],
        ["run", "central", "--epsilon", "1/3", "--horizon", "3", "--actions", "1e999"],
        ["run", "central", "--epsilon", "1/3", "--horizon", "3", "--actions", "4", "--dim", "1e18"],
        ["invert", "--epsilon", "0.5", "--n", "1e300", "--delta", "0.01", "--method", "laplace"],
    ],
)
def test_extremes_that_once_ended_in_an_internal_error_are_refused(
    words: list[str], good: dict[str, bytes], folder: Path
) -> None:
    assert commands.run_command_line(words) == (2, "")


def test_two_gaussian_releases_at_a_tiny_delta_once_took_for_ever(good: dict[str, bytes], folder: Path) -> None:
    (folder / "two.jsonl").write_bytes(b'{"mechanism": "gaussian", "sigma": 5, "sensitivity": 1}\n' * 2)
    assert commands.run_command_line(["account", "two.jsonl", "--delta", "1e-30"]) == (0, "")


@pytest.mark.parametrize("raised", [ZeroDivisionError("x"), KeyError("y"), IndexError("z")])
def test_the_same_check_finds_an_error_that_is_not_dpaudit_s(raised: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise raised

    monkeypatch.delenv("DPAUDIT_TRACEBACK", raising=False)
    monkeypatch.setattr(commands.cli, "build_parser", fails)
    assert "internal error" in commands.run_command_line(["account", "a.ledger"])[1]


@pytest.mark.parametrize(("code", "problem"), [(77, "exit code 77"), (2, "nothing was said about the error"), (0, "")])
def test_the_same_check_finds_a_code_of_its_own_and_a_silent_failure(
    code: int, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands.cli, "main", lambda words: code)
    assert commands.run_command_line([])[1] == problem


def test_the_same_check_finds_a_reader_that_fails_in_its_own_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(files.READERS, "mark.json", lambda path, marked: {}["missing"])
    with pytest.raises(KeyError):
        files.read_fuzzed("mark.json", b"{}", folder, {})
