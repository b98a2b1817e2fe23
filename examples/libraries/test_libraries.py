"""Functions of other libraries: the cases are sound, and what attacks them finds what it should. No library is installed here."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # the repository, for the environments of peers

from attack import Effort, Process, attack
from libraries import LIBRARIES, Library, attack_all
from page import Row, page
from results import Results
from worker import load

from benchmarks.peers.environments import Environment
from dpaudit.report.formats.html import render

EFFORT = Effort(1000, 2)
OWN = """
import os
import random
from case import Case

def honest(value):
    return value + random.choice([-1, 1]) * int(random.expovariate(0.5))

CASES = [
    Case("honest", honest, (0, 1), "1.2"),
    Case("careless", lambda value: [value], (0, 1)),
    Case("broken", lambda value: 1 / value, (0, 1)),
    Case("dying", lambda value: os._exit(3), (0, 1)),
    Case("many at once", lambda value: [honest(value) for _ in range(50)], (0, 1), "1.2", batch=50),
]
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library of five functions, which is this Python itself."""
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "own.txt").write_text("own==1.0\n", encoding="utf-8")
    monkeypatch.setattr(Library, "cases", tmp_path / "own.py")
    return Library("own", tmp_path / "own.txt")


def here(name: str, lock: Path) -> Environment:
    return Environment(name, "1.0", Path(sys.executable))


def test_a_hundred_functions_of_five_libraries_have_a_claim_and_neighbours_that_differ() -> None:
    cases = [case for library in LIBRARIES.values() for case in load(library.cases).values()]
    assert len(LIBRARIES) == 5
    assert len(cases) >= 100
    for case in cases:
        assert case.pair[0] != case.pair[1], case.name
        assert Fraction(case.epsilon) > 0, case.name
        assert 0 <= Fraction(case.delta) < 1, case.name
        assert case.neighbours, case.name


def test_every_library_has_a_lock_with_its_version_and_its_cases_have_names_of_their_own() -> None:
    for library in LIBRARIES.values():
        assert library.version[0].isdigit()
        listed = library.cases.read_text(encoding="utf-8")
        assert listed.count("CASES = [") == 1
        assert load(library.cases)


def test_a_function_that_leaks_is_refuted_and_what_does_not_run_is_named_and_stops_no_other(own: Library, tmp_path: Path) -> None:
    found = {
        case.name: result for case, result in attack_all(own, load(own.cases), EFFORT, Results(tmp_path / "kept"), place=here)
    }
    assert [result.verdict for result in found.values()] == ["not refuted", "refuted", "not run", "not run", "not refuted"]
    assert "ZeroDivisionError" in found["broken"].detail
    assert "ended" in found["dying"].detail
    assert "runs on each side" in found["honest"].detail
    shown = render(page([Row("own 1.0", case, found[case.name]) for case in load(own.cases).values()]))
    assert "1 of 5 refuted" in shown
    assert shown.index("own: careless") < shown.index("own: honest")  # what is refuted comes first
    assert shown.index("own: honest") < shown.index("own: broken")


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(own: Library, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    first = attack_all(own, load(own.cases), EFFORT, Results(file), place=here)
    known = [next(first), next(first)]
    first.close()
    file.write_text(file.read_text() + '\n{"key": "own bro', encoding="utf-8")  # killed in the middle of a line

    def nowhere(name: str, lock: Path) -> Environment:
        return Environment(name, "1.0", None, "does not install: no such version")

    again = list(attack_all(own, load(own.cases), EFFORT, Results(file), place=nowhere))
    assert [result for _, result in again[:2]] == [result for _, result in known]
    assert {(result.verdict, result.detail) for _, result in again[2:]} == {("not run", "does not install: no such version")}
    own.lock.write_text("own==1.1\n", encoding="utf-8")  # another version is another result
    assert {result.verdict for _, result in attack_all(own, load(own.cases), EFFORT, Results(file), place=nowhere)} == {"not run"}


def test_a_slow_function_gets_fewer_runs_than_were_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    slow = "def slow(value):\n    time.sleep(0.005)\n    return value + random.choice([-1, 1]) * int(random.expovariate(0.5))\n"
    file.write_text(f"import random\nimport time\nfrom case import Case\n\n{slow}\nCASES = [Case('slow', slow, (0, 1), '2')]\n")
    process = Process(Path(sys.executable), file)
    try:
        result = attack(process, load(file)["slow"], Effort(100_000, 1))
    finally:
        process.close()
    assert result.verdict == "not refuted"
    assert "100 runs on each side" in result.detail
