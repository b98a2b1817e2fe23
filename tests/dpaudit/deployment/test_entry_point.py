"""Deployments of subjects: registered algorithms, data of other forms than arrays, and what a run leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from algorithms.rewards import Sequence
from dpaudit.claims import InvalidValue, Leak
from dpaudit.deployment.entry_point import Deployment, deploy
from dpaudit.ledger import MemoryLedger
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import make_algorithm

TEN = dp.replace_one(n=10, low=0, high=1)


def declare(function: Any, epsilon: str = "1", delta: str = "0", neighbours: Any = TEN) -> Subject:
    return dp.subject(claim=dp.Claim(epsilon, delta), neighbours=neighbours)(function)


def noisy_sum(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1)


@pytest.mark.parametrize("model", ["central", "local", "shuffled"])
def test_a_registered_algorithm_is_deployed_within_its_claim(model: str) -> None:
    delta = "1e-6" if model == "shuffled" else "0"
    subject = make_algorithm(model, {"epsilon": "1", "delta": delta, "horizon": 300, "calibration": "tight"})
    ledger = MemoryLedger(kind="deployment")
    deploy(subject, ledger)(Sequence(np.random.default_rng(1).uniform(-1, 1, 300)))
    assert 0 < ledger.spent()[0] <= 1
    assert ledger.proven


def test_rewards_of_a_bandit_are_private_though_no_array_of_them_is_sealed() -> None:
    subject = make_algorithm("central", {"epsilon": "1", "horizon": 300, "calibration": "tight"})
    for way in (lambda data: [data], lambda data: {"raw": data.rewards}):
        leaking = declare(lambda data, channel, way=way: way(data), neighbours=subject.neighbours)
        with pytest.raises(Leak):
            leaking.deploy(MemoryLedger(kind="deployment"))(Sequence(np.zeros(300)))


def test_a_deployment_may_be_bound_before_there_is_a_ledger(tmp_path: Path) -> None:
    deployed = declare(noisy_sum).deploy(str(tmp_path / "later.ledger"))
    assert isinstance(deployed, Deployment)
    assert not (tmp_path / "later.ledger").exists()
    deployed(np.zeros(10))
    with dp.open_ledger(tmp_path / "later.ledger", readonly=True) as ledger:
        assert "subject" in ledger.sources  # the code that released


def test_data_is_sealed_by_the_deployment_alone() -> None:
    """Who seals with other bounds than the declared ones would be charged for less than is true."""
    with pytest.raises(InvalidValue, match="plain data"):
        declare(noisy_sum).deploy(MemoryLedger(kind="deployment"))(dp.seal(np.zeros(10), 0, "0.001"))


def test_a_simulated_ledger_is_no_deployment() -> None:
    with pytest.raises(dp.DpauditError):
        declare(noisy_sum).deploy(MemoryLedger(kind="simulated"))(np.zeros(10))


@pytest.mark.parametrize("ledger", [None, 3, ["a"]])
def test_what_is_no_ledger_is_refused_before_any_data_is_shown(ledger: Any) -> None:
    with pytest.raises(InvalidValue, match="ledger"):
        declare(noisy_sum).deploy(ledger)


def test_another_door_takes_nothing_of_a_deployment() -> None:
    other = MemoryLedger(kind="deployment")

    def smuggler(data: Any, channel: Any) -> Any:
        with dp.live(other) as second:
            return second.release("again", data.sum(), dp.Laplace(scale=1), sensitivity=1)

    with pytest.raises(Leak, match="another door"):
        declare(smuggler).deploy(MemoryLedger(kind="deployment"))(np.zeros(10))
    assert not list(other.releases())


def test_a_call_that_fails_on_some_data_is_refused_on_all(tmp_path: Path) -> None:
    """Whether an inverse exists would tell; so nothing is handed back on data for which it does."""
    square = dp.replace_one(n=2, low=[0, 0], high=[1, 1])

    def solver(data: Any, channel: Any) -> Any:
        total = channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)
        np.linalg.inv(data)
        return total

    with pytest.raises(dp.DpauditError):
        declare(solver, neighbours=square).deploy(tmp_path / "today.ledger")(np.eye(2))


def test_the_filter_is_chosen_on_data_that_was_made_up() -> None:
    seen: list[str] = []

    def gradients(data: Any, channel: Any) -> Any:
        seen.append(type(data).__name__)
        return [channel.release(f"{k}", data.sum(), dp.Gaussian(sigma=20), sensitivity=1) for k in range(20)]

    ledger = MemoryLedger(kind="deployment")
    declare(gradients, "2", "1e-5").deploy(ledger)(np.zeros(10))
    assert ledger.filter_name.startswith("zcdp")
    assert set(seen) == {"Sealed"}


def test_an_error_of_the_subject_is_its_own_and_what_it_released_stays_charged() -> None:
    def broken(data: Any, channel: Any) -> Any:
        noisy_sum(data, channel)
        raise RuntimeError("broken")

    ledger = MemoryLedger(kind="deployment")
    with pytest.raises(RuntimeError, match="broken"):
        declare(broken).deploy(ledger)(np.zeros(10))
    assert ledger.spent()[0] == 1
