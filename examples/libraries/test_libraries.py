"""Functions of other libraries: the cases are sound, and what attacks them finds what it should. No library is installed here."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # the repository, for the environments of peers

from attack import attack_all
from libraries import HERE, LIBRARIES
from page import page
from worker import load

from benchmarks.peers.environments import Environment, version_of
from dpaudit.report.formats.html import render

OWN = """
import random
from case import Case

def honest(value):
    return value + random.choice([-1, 1]) * int(random.expovariate(0.5))

CASES = [
    Case("honest", honest, (0, 1), "1.2"),
    Case("careless", lambda value: [value], (0, 1)),
    Case("broken", lambda value: 1 / value, (0, 1)),
]
"""


def test_sixty_functions_have_a_claim_and_neighbours_that_differ() -> None:
    cases = [case for name in LIBRARIES for case in load(HERE / "cases" / f"{name.replace('-', '_')}.py").values()]
    assert len(cases) >= 60
    for case in cases:
        assert case.pair[0] != case.pair[1], case.name
        assert Fraction(case.epsilon) > 0, case.name
        assert 0 <= Fraction(case.delta) < 1, case.name
        assert case.neighbours, case.name


def test_every_library_has_a_lock_with_its_version() -> None:
    assert all(version_of(name, lock)[0].isdigit() for name, lock in LIBRARIES.items())


def test_a_function_that_leaks_is_refuted_and_one_that_does_not_run_is_named(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    results = attack_all("own", Environment("own", "1.0", Path(sys.executable)), file, 1000)
    assert [result.verdict for result in results] == ["not refuted", "refuted", "not run"]
    assert "ZeroDivisionError" in results[2].detail
    assert "tried" in results[0].detail
    shown = render(page(results))
    assert "1 of 3 refuted" in shown
    assert shown.index("careless") < shown.index("honest")  # what is refuted comes first
    assert "certified" not in shown.replace("Certified by nothing", "").replace("certifies none", "")


@pytest.mark.parametrize("failure", ["does not install: no such version"])
def test_a_library_that_cannot_be_installed_says_so_for_each_of_its_functions(tmp_path: Path, failure: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    results = attack_all("own", Environment("own", "1.0", None, failure), file, 1000)
    assert {(result.verdict, result.detail) for result in results} == {("not run", failure)}
