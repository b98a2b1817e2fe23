"""Targets: what a name on the command line stands for, and what it says when it stands for nothing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.ledger.records.source_digests import sources
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import NothingToCheck, TargetError, code_of, make_algorithm, registered, subjects_of

FILE = """
import dpaudit as dp

@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=2, low=0, high=1))
def first(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)

second = dp.subject(claim=dp.Claim("2"), neighbours=dp.replace_one(n=2, low=0, high=1))(lambda data, channel: 0)
alias = first
other = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "mechanisms.py").write_text(FILE, encoding="utf-8")
    (tmp_path / "a_module_of_subjects.py").write_text(FILE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_file_stands_for_all_its_subjects_each_once(folder: Path) -> None:
    assert [s.name for s in subjects_of("mechanisms.py")] == ["first", "<lambda>"]


@pytest.mark.parametrize("target", ["mechanisms.py:first", "a_module_of_subjects:first"])
def test_a_name_stands_for_one_subject(folder: Path, target: str) -> None:
    assert [s.name for s in subjects_of(target)] == ["first"]


def test_a_file_may_import_its_neighbours_and_leaves_the_path_as_it_was(folder: Path) -> None:
    sub = folder / "sub"
    sub.mkdir()
    (sub / "beside.py").write_text("claim = 3\n", encoding="utf-8")
    (sub / "imports.py").write_text(f"from beside import claim\n{FILE}", encoding="utf-8")
    before = list(sys.path)
    assert len(subjects_of("sub/imports.py")) == 2
    assert sys.path == before


PACKAGED = """
import dpaudit as dp
IMPORT

@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=2, low=-1, high=1))
def rank(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(SCALE), sensitivity=2)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package and a plain folder, in a project that is not on the path; a console script does not put it there either."""
    for folder in ("a_package", "a_package/inner", "a_folder"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "conf.py").write_text("SCALE = 2\n", encoding="utf-8")
        if folder != "a_folder":
            (tmp_path / folder / "__init__.py").write_text("", encoding="utf-8")
        dotted = folder.replace("/", ".")
        for name, line in (("relative", "from .conf import SCALE"), ("absolute", f"from {dotted}.conf import SCALE")):
            text = PACKAGED.replace("IMPORT", line)
            (tmp_path / folder / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place not in ("", str(tmp_path))])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("folder", ["a_package", "a_package/inner", "a_folder"])
@pytest.mark.parametrize("name", ["relative", "absolute"])
def test_files_of_a_package_may_import_each_other(folder: str, name: str, project: Path) -> None:
    path = list(sys.path)
    (as_file,) = subjects_of(f"{folder}/{name}.py:rank")
    (as_module,) = subjects_of(f"{folder.replace('/', '.')}.{name}:rank")
    assert as_file is as_module
    assert sys.path == path


def test_a_file_of_a_package_is_found_from_inside_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "a_package" / "inner")
    (found,) = subjects_of("relative.py:rank")
    assert found.function.__module__ == "a_package.inner.relative"


def test_a_folder_that_is_hidden_by_another_module_is_read_as_files(project: Path) -> None:
    """``code`` is a module of Python's own. The twin: a relative import cannot work there, and says so."""
    (project / "code").mkdir()
    for name, line in (("plain", "SCALE = 2"), ("relative", "from .conf import SCALE")):
        (project / "code" / f"{name}.py").write_text(PACKAGED.replace("IMPORT", line), encoding="utf-8")
    assert [found.name for found in subjects_of("code/plain.py")] == ["rank"]
    with pytest.raises(TargetError, match="relative import"):
        subjects_of("code/relative.py")


def test_code_is_the_same_however_it_was_loaded(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package as a whole; a file that lies in none, alone. A change beside it counts in the first only."""
    monkeypatch.syspath_prepend(str(project))
    for target, code in (("a_package/inner/relative.py", "a_package"), ("a_folder/relative.py", "a_folder/relative.py")):
        (loaded,) = subjects_of(f"{target}:rank")
        imported = importlib.import_module(target.removesuffix(".py").replace("/", ".")).rank
        assert code_of(loaded) == code_of(imported) == (project / code).resolve()
        before = sources(code_of(loaded))
        (project / target).with_name("conf.py").write_text("SCALE = 3\n", encoding="utf-8")
        assert (sources(code_of(loaded)) != before) is (code == "a_package")


def test_what_is_no_python_function_has_no_code(folder: Path) -> None:
    (first,) = subjects_of("mechanisms.py:first")
    assert code_of(replace(first, function=[].append)) is None
    assert code_of(first) == folder / "mechanisms.py"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("absent.py", "no such file"),
        ("mechanisms.py:third", "first"),
        ("mechanisms.py:other", "no subject called 'other'"),
        ("no_such_module:x", "cannot be imported"),
        ("no_such_algorithm", "central"),
        (":x", "cannot be imported"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(folder: Path, target: str, says: str) -> None:
    with pytest.raises(TargetError, match=says) as error:
        subjects_of(target)
    assert error.value.target == target


@pytest.mark.parametrize("text", ["raise RuntimeError('broken')", "def (:", "import absent_package", "raise SystemExit(0)"])
def test_files_and_modules_that_cannot_be_loaded_say_why(folder: Path, text: str) -> None:
    (folder / "broken_subjects.py").write_text(text, encoding="utf-8")
    for target in ("broken_subjects.py", "broken_subjects:x"):
        with pytest.raises(TargetError, match="cannot be"):
            subjects_of(target)


def test_a_file_without_subjects_is_nothing_to_check(folder: Path) -> None:
    (folder / "empty.py").write_text("", encoding="utf-8")
    with pytest.raises(NothingToCheck):
        subjects_of("empty.py")


def test_the_papers_algorithms_are_registered() -> None:
    assert {"central", "local", "shuffled", "nonprivate"} <= set(registered())


def test_an_algorithm_is_made_with_the_parameters_that_are_given() -> None:
    made = make_algorithm("central", {"epsilon": "1/2", "horizon": 1000, "delta": None, "calibration": "corrected"})
    assert isinstance(made, Subject)
    assert made.claim == dp.Claim("1/2")
    with pytest.raises(TargetError, match="registered are"):
        make_algorithm("nobody", {})
