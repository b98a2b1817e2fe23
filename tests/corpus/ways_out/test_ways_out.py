"""Private data that leaves by another way than the door is never certified, and its twin is.

Each file holds subjects whose names begin with ``bug`` or ``repaired``, and in ``EXPECTED`` what an audit must say of each: the
verdict, and the rule that must be among its findings (for a twin: no finding at all). Seeds are fixed; nothing here is decided by
statistics.
"""

from __future__ import annotations

import copy
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.ledger import MemoryLedger

pytestmark = pytest.mark.slow

FILES = sorted(Path(__file__).parent.glob("bug_*.py"))
SEED = 1
TEN = dp.replace_one(n=10, low=0, high=1)


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"ways_out_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SUBJECTS = [(file.stem, name) for file in FILES for name in load(file).EXPECTED]


def test_every_bug_has_its_twin() -> None:
    assert len(FILES) == 4
    for file in FILES:
        module = load(file)
        assert {"bug", "repaired"} <= {n for n in vars(module) if n.startswith(("bug", "repaired"))} == set(module.EXPECTED)
        assert module.__doc__


@pytest.mark.parametrize(("file", "name"), SUBJECTS)
def test_an_audit_stops_the_bug_and_certifies_its_twin(file: str, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    module = load(Path(__file__).with_name(f"{file}.py"))
    verdict = dp.audit(getattr(module, name), seed=SEED, samples=200)
    expected, rule = module.EXPECTED[name]
    rules = {finding.rule for finding in verdict.findings}
    assert verdict.verdict == expected, verdict.reason
    assert rule in rules if rule else not rules
    if expected != "certified":
        assert verdict.upper is None or verdict.upper.sensitivity != "proven"
    assert capfd.readouterr().out == ""


def test_noise_with_another_sampler_passes_no_door() -> None:
    """A subclass that truncates its noise cannot be made, and what only looks like one is refused."""
    with pytest.raises(TypeError, match="cannot be subclassed"):

        class Bounded(dp.Laplace):
            def simulate(self, units: Any, rng: Any) -> Any:
                return np.clip(super().simulate(units, rng), -1, 1)

    class Lookalike:
        """Answers as the noise behind it, but for what is drawn."""

        def __init__(self, noise: Any) -> None:
            self.noise = noise

        def __getattr__(self, name: str) -> Any:
            return getattr(self.noise, name)

        def simulate(self, units: Any, rng: Any) -> Any:
            return units

    @dp.subject(claim=dp.Claim("1"), neighbours=TEN)
    def bug(records: Any, channel: Any) -> Any:
        return channel.release("sum", records.sum(), Lookalike(dp.Laplace(scale=1)), sensitivity=1)

    with pytest.raises(InvalidValue):
        dp.audit(bug, seed=1)
    with pytest.raises(InvalidValue):
        bug.deploy(MemoryLedger(kind="deployment"))(np.zeros(10))

    @dp.subject(claim=dp.Claim("1"), neighbours=TEN)
    def repaired(records: Any, channel: Any) -> Any:
        return np.clip(channel.release("sum", records.sum(), dp.Laplace(scale=1), sensitivity=1), 0, 10)

    assert dp.audit(repaired, seed=1).verdict == "certified"


def more(records: Any, channel: Any) -> Any:
    return [channel.release(f"more {k}", records.sum(), dp.Laplace(scale=2), sensitivity=1) for k in range(10)]


def after_a_copy(records: Any, channel: Any) -> Any:
    first = channel.release("first", records.sum(), dp.Laplace(scale=2), sensitivity=1)
    return more(records, channel) if float(copy.deepcopy(first)) > 5 else first


def of_plain_numbers(records: Any, channel: Any) -> Any:
    first = channel.release("first", records.sum(), dp.Laplace(scale=2), sensitivity=1)
    return more(records, channel) if isinstance(first, float) and first > 5 else first


@pytest.mark.parametrize("adaptive", [after_a_copy, of_plain_numbers])
def test_releases_that_a_released_value_decides_are_held_by_the_budget(adaptive: Any) -> None:
    """Half of the runs want eleven releases of ½; the claim, 1, pays for two on every path. All of 40 runs take one path with
    probability 2^-39."""
    subject = dp.subject(claim=dp.Claim("1"), neighbours=TEN)(adaptive)
    refused = 0
    for _ in range(40):
        ledger = MemoryLedger(kind="deployment")
        try:
            subject.deploy(ledger)(np.full(10, 0.5))
        except dp.BudgetExceeded:
            refused += 1
        assert ledger.spent()[0] <= 1
    assert 0 < refused < 40
