"""The noisy threshold at the door: its state, its cost, what is proven of what is asked, replay and trials."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import PathChanged
from dpaudit.channel.selection.threshold import Exhausted
from dpaudit.claims import InvalidValue, Leak, SensitivityError
from dpaudit.sealed.array import seal


def deployment() -> Any:
    return dp.MemoryLedger(kind="deployment")


def opened(channel: Any, **more: Any) -> Any:
    return channel.above("gate", **{"epsilon": "1", "sensitivity": 1, "threshold": 0, **more})


def test_all_answers_are_charged_once_before_any_is_given() -> None:
    ledger = deployment()
    with dp.live(ledger, budget=dp.Claim(epsilon="1")) as channel:
        gate = opened(channel, positives=3)
        (record,) = ledger.releases()
        assert (record.epsilon, record.mechanism, record.extra["threshold"]) == (1, "sparse-vector", "0")
        assert not np.asarray(record.values).size  # the noise of the threshold is nobody's to see
        for _ in range(30):
            gate.ask(-1000.0)
        with pytest.raises(dp.BudgetExceeded):
            opened(channel, epsilon="1/100")
    assert dp.account(ledger).epsilon == 1


def test_it_refuses_after_the_last_positive() -> None:
    with dp.simulate(4) as channel:
        gate = opened(channel, positives=2)
        assert [gate.ask(1e6), gate.positives_left, gate.ask(-1e6), gate.ask(1e6), gate.positives_left] == [
            True,
            1,
            False,
            True,
            0,
        ]
        with pytest.raises(Exhausted, match=r"twice|2 times"):
            gate.ask(1e6)


def test_trials_that_are_done_are_not_asked() -> None:
    with dp.simulate(4, trials=3) as channel:
        gate = opened(channel, threshold=np.array([0.0, 0.0, 1e7]))
        assert gate.ask(1e6).tolist() == [True, True, False]
        assert gate.ask(np.array([1e6, 1e6, 1e9])).tolist() == [False, False, True]
        assert channel.events[0].output.tolist() == [[1, -1], [1, -1], [0, 1]]
        with pytest.raises(Exhausted):
            gate.ask(0.0)


def test_live_and_simulated_answers_have_the_law() -> None:
    """A number at the threshold is above it as often as not, but for a tie: 5.5 deviations, 4e-8. The twin, a number one scale of
    noise higher, must not agree."""
    ledger = deployment()
    with dp.live(ledger) as channel:
        live = sum(opened(channel).ask(0.0) for _ in range(500))
    with dp.simulate(5, trials=2000) as channel:
        same, higher = opened(channel).ask(0.0).sum(), opened(channel).ask(4.0).sum()
    assert abs(live - 250) <= 5.5 * np.sqrt(125)
    assert abs(same - 1000) <= 5.5 * np.sqrt(500) < abs(higher - 1000)


def test_sealed_numbers_prove_what_they_move_by() -> None:
    x = seal(np.array([0.0, 1.0, 2.0]), 0, 2)
    with dp.live(deployment(), strict=False) as channel:
        gate = opened(channel, threshold=1e6)
        gate.ask((x > 1).sum())
        with pytest.raises(SensitivityError, match="DPA003"):
            gate.ask(x.sum())
    with dp.simulate(1) as channel:
        gate = opened(channel, threshold=1e6)
        gate.ask((x > 1).sum())
        assert channel.events[0].derived == 1
        gate.ask(x.sum())
        assert channel.events[0].derived == 2
        assert dp.account([channel.events[0].record]).epsilon == 2
        assert [finding.rule for finding in channel.findings] == ["DPA003"]
        gate.ask(1.0)
        assert channel.events[0].derived is None  # a plain number proves nothing


def test_a_door_for_proven_releases_takes_no_plain_number() -> None:
    ledger = deployment()
    with dp.live(ledger, budget=dp.Claim(epsilon="1"), proven=True) as channel:
        gate = opened(channel, threshold=1e6)
        gate.ask((seal(np.array([0.0, 1.0]), 0, 2) > 1).sum())
        with pytest.raises(dp.DpauditError, match="not sealed"):
            gate.ask(1.0)
    assert [release.derived for release in ledger.releases()] == [1]


def test_a_replay_gives_the_same_answers_and_notices_another_path() -> None:
    def ask(values: list[float], channel: Any) -> list[bool]:
        gate = opened(channel, threshold=5)
        return [gate.ask(value) for value in values]

    with dp.simulate(2) as channel:
        answers = ask([1.0, 2.0, -3.0], channel)
    with dp.replay(channel) as again:
        assert ask([9.0, 9.0, 9.0], again) == answers
        assert again.events[0].query.tolist() == [4 * 2**20] * 3
    with dp.replay(channel) as longer, pytest.raises(PathChanged):
        ask([1.0] * 4, longer)


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"epsilon": 0}, "epsilon"), ({"positives": 0}, "positives"), ({"threshold": "high"}, "threshold"),
     ({"threshold": np.zeros(3)}, "threshold"), ({"sensitivity": -1}, "sensitivity")],
)  # fmt: skip
def test_wrong_openings_are_refused_and_charge_nothing(change: dict[str, Any], problem: str) -> None:
    ledger = deployment()
    with dp.live(ledger) as channel, pytest.raises(InvalidValue, match=problem):
        opened(channel, **change)
    assert not list(ledger.releases())


def test_a_private_threshold_is_a_leak_and_a_vector_no_number() -> None:
    with dp.simulate(1) as channel:
        with pytest.raises(Leak, match="DPA002"):
            opened(channel, threshold=seal(np.array([0.0, 1.0]), 0, 2).sum())
        with pytest.raises(InvalidValue, match="one number"):
            opened(channel).ask(np.zeros(2))


def test_its_cost_grows_with_what_is_declared_to_the_grid() -> None:
    ledger = deployment()
    with dp.live(ledger) as channel:
        opened(channel, sensitivity="1/3", epsilon="0.7")
    assert dp.account(ledger).epsilon == Fraction(7, 10)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_has_no_answers_of_its_own(copied: Any) -> None:
    """Else every copy would answer “above” again, and one charge would pay for all of them."""
    with dp.simulate(1) as channel:
        gate = opened(channel, threshold=-1000)
        assert copied(gate).ask(0)
        with pytest.raises(Exhausted):
            copied(gate).ask(0)
