"""Every bug of the corpus is refuted or stopped by the right rule; no repaired twin is.

Each file holds subjects whose names begin with ``bug`` or ``repaired``, and in ``EXPECTED`` what an audit must say of each: the
verdict, and the rule that must be among its findings (for a twin: no finding at all). Seeds are fixed. Where the verdict comes
from statistics, a refutation is wrong with probability 10^-6, so that a twin would fail in one of a million seeds.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import dpaudit as dp

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
KINDS = ("bug", "trace", "verdict", "ways_out/bug", "bandit")
BUGS, TRACES, VERDICTS, WAYS_OUT, BANDITS = (sorted(HERE.glob(f"{kind}_*.py")) for kind in KINDS)
# Known bugs of published libraries; mistakes beside what traces prove; honest ones; data that leaves otherwise than by the door;
# bugs of public private bandits.
FILES = [*BUGS, *TRACES, *VERDICTS, *WAYS_OUT, *BANDITS]
SEED = 1
FEW = 200  # samples, where nothing is decided by statistics


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"corpus_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUBJECTS = [(file.relative_to(HERE).as_posix(), name) for file in FILES for name in load(file).EXPECTED]


def test_there_are_twenty_bugs_each_with_its_twin() -> None:
    assert [int(file.stem.split("_")[1]) for file in BUGS] == list(range(1, 21))
    assert len(WAYS_OUT) == 4
    for file in FILES:
        module = load(file)
        named = {name for name in vars(module) if name.startswith(("bug", "repaired"))}
        assert {"bug", "repaired"} <= named == set(module.EXPECTED)
        assert module.__doc__


@pytest.mark.parametrize(("file", "name"), SUBJECTS)
def test_an_audit_stops_the_bug_and_not_its_twin(file: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    module = load(HERE / file)
    leaves = HERE / file in WAYS_OUT
    verdict = dp.audit(getattr(module, name), seed=SEED, **({"samples": FEW} if leaves else {}))
    expected, rule = module.EXPECTED[name]
    rules = {finding.rule for finding in verdict.findings}
    assert verdict.verdict == expected, verdict.reason
    assert rule in rules if rule else not rules
    assert (verdict.witness is not None) == (expected == "refuted")
    if leaves:
        assert expected == "certified" or verdict.upper is None or verdict.upper.sensitivity != "proven"
        assert capfd.readouterr().out == ""
