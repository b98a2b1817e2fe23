"""Deployments of subjects: registered algorithms, data of other forms than arrays, and what a run leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from algorithms.rewards import Sequence
from dpaudit.channel import NotPlanned
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


def steps_of_gradient(data: Any, channel: Any) -> Any:
    return [channel.release("step", data.sum(), dp.Gaussian(sigma=10), sensitivity=1) for _ in range(4)]


def planned(function: Any, count: int = 4) -> Subject:
    """Four steps of μ = 1/10 are 0.2-GDP: (0.75, 1e-5) by exact composition, and above 0.8 by ρ = 4/200 (Bun & Steinke 2016)."""
    plan = [dp.Planned("step", dp.Gaussian(sigma=10), 1, count=count)]
    return dp.subject(claim=dp.Claim("0.75", "1e-5"), neighbours=TEN, plan=plan)(function)


def test_a_plan_that_fits_only_as_a_whole_is_charged_once_at_its_composed_cost() -> None:
    ledger = MemoryLedger(kind="deployment")
    deployed = planned(steps_of_gradient).deploy(ledger)
    assert len(deployed(np.zeros(10))) == 4
    epsilon, delta = ledger.spent()
    assert 0.7 < epsilon <= 0.75
    assert delta == dp.Claim("1", "1e-5").delta
    assert dp.account(ledger).epsilon == epsilon
    with pytest.raises(dp.BudgetExceeded):  # each deployment is charged anew
        deployed(np.zeros(10))
    assert ledger.spent() == (epsilon, delta)
    larger = MemoryLedger(kind="deployment")
    twice = planned(steps_of_gradient).deploy(larger, budget=("1.5", "2e-5"))
    assert len([twice(np.zeros(10)), twice(np.zeros(10))]) == 2
    assert larger.spent()[0] <= 1.5


def test_a_plan_that_does_not_fit_as_a_whole_is_refused_at_the_budget_and_charges_no_more() -> None:
    ledger = MemoryLedger(kind="deployment")
    many = planned(lambda data, channel: steps_of_gradient(data, channel) + steps_of_gradient(data, channel), 8)
    with pytest.raises(dp.BudgetExceeded):
        many.deploy(ledger)(np.zeros(10))
    assert ledger.spent()[0] <= dp.Claim("0.75").epsilon


@pytest.mark.parametrize(
    "outside",
    [
        lambda data, channel: channel.release("more", data.sum(), dp.Gaussian(sigma=10), sensitivity=1),
        lambda data, channel: channel.release("step", data.sum(), dp.Gaussian(sigma=5), sensitivity=1),
        lambda data, channel: [steps_of_gradient(data, channel), steps_of_gradient(data, channel)],
    ],
)
def test_nothing_outside_the_plan_passes_its_door(outside: Any) -> None:
    ledger = MemoryLedger(kind="deployment")
    with pytest.raises(NotPlanned):
        planned(outside).deploy(ledger)(np.zeros(10))


@pytest.mark.parametrize(
    ("neighbours", "data", "told"),
    [
        (TEN, np.zeros(9), "data must be of shape (10,), as noisy_sum declares with its neighbours, not 'of shape (9,)'"),
        (TEN, np.zeros((10, 2)), "not 'of shape (10, 2)'"),
        (TEN, 0.5, "not 'of shape ()'"),
        (dp.replace_one(n=3, low=[0, 0], high=[1, 1]), np.zeros((3, 3)), "of shape (3, 2)"),
        (dp.replace_one(n=3, values=["a", "b"]), ["a", "b"], "of shape (3,)"),
        (dp.add_remove(n=3, low=[0, 0], high=[1, 1]), np.zeros((17, 3)), "one row of 2 numbers per record"),
        (dp.add_remove(n=3, low=0, high=1), np.zeros((17, 3)), "one value per record"),
    ],
)
def test_data_of_another_shape_is_refused_by_its_shape_alone(neighbours: Any, data: Any, told: str) -> None:
    ledger = MemoryLedger(kind="deployment")
    with pytest.raises(InvalidValue) as refused:
        declare(noisy_sum, neighbours=neighbours).deploy(ledger)(data)
    assert told in str(refused.value)
    assert "17" not in str(refused.value)  # a private number of records
    assert ledger.spent()[0] == 0


def test_any_number_of_records_is_taken_where_it_is_private() -> None:
    deployed = declare(noisy_sum, "3", neighbours=dp.add_remove(n=10, low=0, high=1)).deploy(MemoryLedger(kind="deployment"))
    assert len([deployed(np.zeros(length)) for length in (9, 10, 25)]) == 3


def test_odd_records_are_brought_into_the_bounds_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    def exact(data: Any, channel: Any) -> Any:
        return channel.release("sum", data.sum(), dp.Laplace(scale="1e-5"), sensitivity=1)

    data = np.array([np.nan, np.inf, -np.inf, 7, -7, 0.5, 0, 0, 0, 0])
    total = declare(exact, "100000").deploy(MemoryLedger(kind="deployment"))(data)
    assert total == pytest.approx(2.5, abs=0.01)  # NaN and below: 0; infinity and above: 1. Wrong with probability e^-1000
    assert not recwarn.list
