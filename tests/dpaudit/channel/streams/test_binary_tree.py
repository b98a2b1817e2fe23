"""Streams of running sums at the door: what is proven of them, what is refused, and what they cost."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import NotPlanned
from dpaudit.claims import DpauditError, InvalidValue, SensitivityError
from dpaudit.ledger import MemoryLedger
from dpaudit.sealed.array import seal

EIGHT = dp.replace_one(n=8, low=0, high=1)
DATA = np.array([0, 1, 0, 0, 1, 1, 0, 1.0])


def stream(channel: Any, data: Any, noise: Any = None, sensitivity: Any = 1, name: str = "count") -> list[Any]:
    tree = channel.tree(name, steps=8, noise=noise or dp.Laplace(scale=4), sensitivity=sensitivity)
    return [tree.add(data[k]) for k in range(8)]


def planned(*plan: Any, claim: Any = ("1", "0"), **more: Any) -> Any:
    def subject(data: Any, channel: Any) -> Any:
        return stream(channel, data, **more)

    return dp.subject(claim=dp.Claim(*claim), neighbours=EIGHT, plan=list(plan))(subject)


def test_a_live_door_for_proven_releases_takes_a_stream_of_sealed_values() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget="1", proven=True) as channel:
        stream(channel, seal(DATA, 0, 1))
    (release,) = ledger.releases()
    assert (release.leaves, release.count) == (8, 4)
    assert release.epsilon == release.derived == 1


def test_a_live_door_refuses_a_record_in_two_values() -> None:
    with dp.live(MemoryLedger(kind="deployment")) as channel:
        data = seal(DATA, 0, 1)
        tree = channel.tree("count", steps=8, noise=dp.Laplace(scale=4), sensitivity=1)
        tree.add(data[0])
        with pytest.raises(SensitivityError, match="all values"):
            tree.add(data[0] + data[1])
        tree.add(data[1])  # the refused one did not enter


def test_a_record_in_two_values_is_taken_where_it_is_declared() -> None:
    with dp.live(MemoryLedger(kind="deployment")) as channel:
        data = seal(DATA, 0, 1)
        tree = channel.tree("count", steps=8, noise=dp.Laplace(scale=4), sensitivity=2)
        tree.add(data[0])
        tree.add(data[0])
        with pytest.raises(SensitivityError):
            tree.add(data[0])


def test_removal_is_proven_only_for_what_all_values_move_together() -> None:
    """Which record is where is private then."""
    with dp.live(MemoryLedger(kind="deployment")) as channel:
        data = seal(DATA, 0, 1, removal=True)
        tree = channel.tree("count", steps=8, noise=dp.Laplace(scale=4), sensitivity=1)
        tree.add(data.sum())
        with pytest.raises(SensitivityError):
            tree.add(data.sum())


def test_a_value_of_records_outside_the_cohort_is_refused() -> None:
    with dp.live(MemoryLedger(kind="deployment")) as channel:
        data = seal(DATA, 0, 1)
        tree = channel.tree("count", steps=8, noise=dp.Laplace(scale=4), sensitivity=1, cohort=range(4))
        tree.add(data[3])
        with pytest.raises(InvalidValue, match="all the records"):
            tree.add(data[4])


def test_answers_are_no_noise_for_sums() -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue, match="added"):
        channel.tree("count", steps=8, noise=dp.RandomizedResponse("1"), sensitivity=1)


@pytest.mark.parametrize("steps", [0, -1, 2.5, "many", True])
def test_steps_are_a_whole_number(steps: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue, match="steps"):
        channel.tree("count", steps=steps, noise=dp.Laplace(scale=4), sensitivity=1)


def test_values_keep_one_shape() -> None:
    with dp.simulate(1) as channel:
        tree = channel.tree("sum", steps=8, noise=dp.Gaussian(sigma=4), sensitivity=1)
        tree.add([0.5, 0.5, 1])
        with pytest.raises(InvalidValue, match="as those before"):
            tree.add(np.zeros(2))


@pytest.mark.parametrize("noise", [dp.Laplace(scale=4), dp.Gaussian(sigma=4)])
def test_floats_in_an_array_move_no_further_than_is_charged(noise: Any) -> None:
    """Rounded each for itself they would; the twin shows it."""
    rng = np.random.default_rng(1)

    def furthest(shrunk: bool) -> float:
        most = 0.0
        for _ in range(50):
            away = rng.normal(size=30)
            away /= np.linalg.norm(away, ord=noise.norm)
            start = rng.normal(size=30) * 1000
            units = []
            for value in (start, start + away):
                with dp.simulate(1) as channel:
                    channel.tree("sum", steps=1, noise=noise, sensitivity=1).add(value)
                units.append(channel.events[0].query if shrunk else np.floor(value * 2**20 + 0.5))
            most = max(most, float(np.linalg.norm(np.asarray(units[0] - units[1], float), ord=noise.norm)))
        return most

    assert furthest(shrunk=True) <= 2**20 < furthest(shrunk=False)


def test_an_array_of_floats_needs_a_fine_grid_and_whole_numbers_do_not() -> None:
    with dp.simulate(1) as channel:
        tree = channel.tree("sum", steps=8, noise=dp.Laplace(scale=4, grid=1), sensitivity=1)
        with pytest.raises(InvalidValue, match="finer grid"):
            tree.add(np.zeros(2))
        assert tree.add(np.zeros(2, dtype=int)).shape == (2,)


def test_the_noise_of_a_running_sum_is_that_of_its_bits() -> None:
    """Var of t = 7 is three sums' 2b², to 5 % with probability above 1 − 10^-6 (4·10^4 trials); of t = 8 it is one's."""
    with dp.simulate(1, trials=40_000) as channel:
        sums = stream(channel, np.zeros(8), dp.Laplace(scale=3))
    assert np.var(sums[6]) == pytest.approx(3 * 18, rel=0.05)
    assert np.var(sums[7]) == pytest.approx(18, rel=0.05)
    assert np.var(sums[7]) != pytest.approx(2 * 18, rel=0.05)


def test_a_stream_costs_what_its_levels_cost_by_enumeration() -> None:
    """Steps 1 to 3 on whole numbers: the first value is in two sums. δ(ε) of both, summed over all pairs of outputs."""
    with dp.simulate(1) as channel:
        channel.tree("count", steps=3, noise=dp.Laplace(scale=2, grid=1), sensitivity=1).add(0)
    (record,) = (event.record for event in channel.events if event.record is not None)
    epsilon = float(dp.account([record], delta="0.05", fixed=True).epsilon)
    rate = 0.5
    outputs = np.arange(-60, 61)
    p = math.tanh(rate / 2) * np.exp(-rate * np.abs(outputs))
    q = math.tanh(rate / 2) * np.exp(-rate * np.abs(outputs - 1))

    def delta(at: float) -> float:
        return float(np.maximum(np.multiply.outer(p, p) - math.exp(at) * np.multiply.outer(q, q), 0).sum())

    assert delta(epsilon) <= 0.05 + 1e-9
    assert delta(epsilon * 0.999) > 0.05
    assert epsilon < 1  # the pure cost


def test_a_gaussian_stream_costs_what_one_release_of_a_longer_move_does() -> None:
    """√L·Δ/σ: 4 levels of sensitivity 1 are one release of sensitivity 2."""
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=("2", "1e-6")) as channel:
        channel.tree("count", steps=8, noise=dp.Gaussian(sigma=12), sensitivity=1)
    twin = MemoryLedger(kind="deployment")
    with dp.live(twin, budget=("2", "1e-6")) as channel:
        channel.release("count", 0, dp.Gaussian(sigma=12), sensitivity=2)
    assert float(ledger.spent()[0]) == pytest.approx(float(twin.spent()[0]), rel=1e-8)
    assert float(dp.account(ledger, fixed=True).epsilon) == pytest.approx(float(twin.spent()[0]), rel=1e-8)


def test_a_zcdp_budget_adds_up_the_levels() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=("2", "1e-6"), filter="zcdp") as channel:
        channel.tree("count", steps=8, noise=dp.Gaussian(sigma=12), sensitivity=1)
    twin = MemoryLedger(kind="deployment")
    with dp.live(twin, budget=("2", "1e-6"), filter="zcdp") as channel:
        for _ in range(4):
            channel.release("count", 0, dp.Gaussian(sigma=12), sensitivity=1)
    assert ledger.spent() == twin.spent()


def test_a_ledger_with_a_stream_is_read_again(tmp_path: Path) -> None:
    with dp.open_ledger(tmp_path / "a.ledger") as ledger, dp.live(ledger, budget="1") as channel:
        stream(channel, DATA)
    with dp.open_ledger(tmp_path / "a.ledger") as ledger:
        bound = dp.account(ledger)
    assert bound.epsilon == 1
    assert "8 running sums" in bound.lines[0].preconditions


def test_a_plan_names_a_stream_and_its_steps() -> None:
    tree = dp.Planned("count", dp.Laplace(scale=4), 1, kind="tree", count=8)
    with dp.simulate(1) as channel:
        planned(tree).run(DATA, channel)
    with dp.simulate(1) as channel, pytest.raises(NotPlanned, match="8 running sums"):
        planned(dp.Planned("count", dp.Laplace(scale=4), 1, kind="tree", count=9)).run(DATA, channel)
    with dp.simulate(1) as channel, pytest.raises(NotPlanned):
        planned(tree, name="other").run(DATA, channel)
    assert 'kind="tree", count=8' in tree.python_code()


def test_a_planned_stream_is_one_release_of_the_plan() -> None:
    tree = dp.Planned("count", dp.Gaussian(sigma=12), 1, kind="tree", count=8)

    @dp.subject(claim=dp.Claim("1", "1e-6"), neighbours=EIGHT, plan=[tree, ("sum", dp.Gaussian(sigma=12), 1)])
    def two(data: Any, channel: Any) -> Any:
        channel.tree("count", steps=8, noise=dp.Gaussian(sigma=12), sensitivity=1)
        return channel.release("sum", data.sum(), dp.Gaussian(sigma=12), sensitivity=1)

    with dp.simulate(1) as channel:
        two.run(DATA, channel)
    assert two.plan is not None
    assert len(two.plan) == 2


@pytest.mark.slow
def test_a_stream_is_certified_and_its_twin_is_not() -> None:
    plan = dp.Planned("count", dp.Gaussian(sigma=12), 1, kind="tree", count=8)
    verdict = dp.audit(planned(plan, claim=("0.7", "1e-6"), noise=dp.Gaussian(sigma=12)), seed=1, samples=2000)
    assert verdict.upper is not None
    assert (verdict.verdict, verdict.upper.path) == ("certified", "single")
    assert 0.6857 < float(verdict.upper.epsilon) < 0.6858
    twin = dp.audit(planned(plan, claim=("0.68", "1e-6"), noise=dp.Gaussian(sigma=12)), seed=1, samples=2000)
    assert twin.verdict == "refuted"  # by the exact law of the sum of a record's four nodes


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_no_steps_of_its_own(copied: Any) -> None:
    with dp.simulate(1) as channel:
        tree = channel.tree("count", steps=1, noise=dp.Laplace(scale=4), sensitivity=1)
        copied(tree).add(1)
        with pytest.raises(DpauditError, match="is over"):
            copied(tree).add(1)
