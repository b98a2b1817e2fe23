"""Any file and any command line is answered or refused in dpaudit's own words. A few hundred here, 20,000 in ``make soak``."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings


def _fuzzing(name: str) -> ModuleType:
    """From its file, as other projects install a package called ``benchmarks``."""
    spec = importlib.util.spec_from_file_location(f"dpaudit_{name}", Path(__file__).parents[1] / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


fuzzing = SimpleNamespace(**{**vars(_fuzzing("fuzzed_files")), **vars(_fuzzing("fuzzed_commands"))})
few = settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with one good file of each kind, which commands are run in."""
    made, before = tmp_path_factory.mktemp("fuzz"), Path.cwd()
    (made / "empty").write_bytes(b"")
    os.chdir(made)
    yield made
    os.chdir(before)


@pytest.fixture(scope="module")
def good(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = fuzzing.prepare(folder)
    assert fuzzing.cli.main(["keygen", "-o", "key", "--output", "said"]) == 0
    return files


@pytest.fixture(scope="module")
def mark(good: dict[str, bytes]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(good["mark.json"])
    return found


@pytest.mark.parametrize("name", fuzzing.READERS)
def test_a_good_file_is_read(name: str, good: dict[str, bytes], folder: Path, mark: dict[str, Any]) -> None:
    assert fuzzing.read_fuzzed(name, good[name], folder, mark)


@pytest.mark.parametrize("name", fuzzing.READERS)
def test_a_file_with_edited_bytes_is_read_or_refused(
    name: str, good: dict[str, bytes], folder: Path, mark: dict[str, Any]
) -> None:
    outcomes = []

    @few
    @given(fuzzing.edited(good[name]))
    def read(data: bytes) -> None:
        outcomes.append(fuzzing.read_fuzzed(name, data, folder, mark))

    read()
    assert len(outcomes) >= 100


@few
@given(fuzzing.json_texts)
def test_any_bytes_are_json_or_refused(data: bytes) -> None:
    if fuzzing.read_json(data):
        json.loads(data)


@settings(few, max_examples=300)
@given(words=fuzzing.command_lines())
def test_any_command_line_ends_with_a_documented_code_and_no_traceback(
    words: list[str], good: dict[str, bytes], folder: Path
) -> None:
    code, problem = fuzzing.run_command_line(words)
    assert problem == ""
    assert code in (0, 1, 2, 3, 5)


@pytest.mark.parametrize("raised", [ZeroDivisionError("x"), KeyError("y"), IndexError("z")])
def test_the_same_check_finds_an_error_that_is_not_dpaudit_s(raised: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise raised

    monkeypatch.setattr(fuzzing.cli, "build_parser", fails)
    assert "internal error" in fuzzing.run_command_line(["account", "a.ledger"])[1]


@pytest.mark.parametrize(("code", "problem"), [(77, "exit code 77"), (2, "nothing was said about the error"), (0, "")])
def test_the_same_check_finds_a_code_of_its_own_and_a_silent_failure(
    code: int, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzing.cli, "main", lambda words: code)
    assert fuzzing.run_command_line([])[1] == problem


def test_the_same_check_finds_a_reader_that_fails_in_its_own_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(fuzzing.READERS, "mark.json", lambda path, marked: {}["missing"])
    with pytest.raises(KeyError):
        fuzzing.read_fuzzed("mark.json", b"{}", folder, {})
