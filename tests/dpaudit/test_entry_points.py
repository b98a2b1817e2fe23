"""Packages that ship with dpaudit and a user's of the same names, in one process: each finds its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpaudit import entry_points
from dpaudit.papers.decisions import digests
from dpaudit.papers.installed_papers import find_checks
from dpaudit.subjects.targets import make_algorithm, subjects_of

SUBJECT = """
import dpaudit as dp
from algorithms import SCALE

@dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=2, low=0, high=1))
def mine(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(SCALE), sensitivity=1)
"""
CENTRAL = {"epsilon": "1", "delta": "0", "horizon": 100, "actions": 2, "calibration": "tight"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's folder with a package ``algorithms``; the modules are as they were afterwards."""
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "algorithms" / "__init__.py").write_text("SCALE = 1\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(SUBJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in entry_points.shipped()}
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in entry_points.shipped()]:
        del sys.modules[name]
    sys.modules.update(before)


def test_what_ships_is_what_our_entry_points_name() -> None:
    assert entry_points.shipped() == {"algorithms", "proofs_checks"}


def test_both_are_used_in_turn_and_stay_themselves(folder: Path) -> None:
    first = make_algorithm("central", CENTRAL)
    assert subjects_of("mine.py")[0].name == "mine"
    assert sys.modules["algorithms"].__file__ == str(folder / "algorithms" / "__init__.py")
    again = make_algorithm("central", CENTRAL)
    assert type(first.neighbours) is type(again.neighbours)  # our modules were set aside, not loaded a second time
    assert sys.modules["algorithms"].__file__ == str(folder / "algorithms" / "__init__.py")


def test_digests_are_of_our_code_while_a_users_package_has_the_name(folder: Path) -> None:
    check = find_checks()["thm1.sensitivity"]
    before = digests(check)
    subjects_of("mine.py")
    assert digests(check) == before


def test_the_way_of_finding_is_as_before_afterwards(folder: Path) -> None:
    before = list(sys.meta_path)
    subjects_of("mine.py")
    make_algorithm("central", CENTRAL)
    assert sys.meta_path == before


def test_a_plain_folder_of_that_name_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "mine.py").write_text(SUBJECT.replace("SCALE\n", "central\nSCALE = 1\n"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert subjects_of("mine.py")[0].name == "mine"
