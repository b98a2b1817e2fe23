"""What would leave by another way than a subject's code: noise with another sampler, releases that a released value decides."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue
from dpaudit.ledger import MemoryLedger

pytestmark = pytest.mark.slow

TEN = dp.replace_one(n=10, low=0, high=1)


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
