"""Targets: what a name on the command line stands for, and what it says when it stands for nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpaudit as dp
from dpaudit.subject import Subject
from dpaudit.targets import NothingToCheck, TargetError, make_algorithm, registered, subjects_of

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
