"""Scores at the door: what is declared, what sealed ones prove, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel.selection.scores import NotOneWay, noisy_max_of, score_units, selecting_noise
from dpaudit.claims import InvalidValue, SensitivityError
from dpaudit.noise import GRID
from dpaudit.sealed.array import seal


def sealed(removal: bool = False) -> Any:
    return seal(np.array([0.0, 1.0, 2.0, 2.0]), 0, 2, removal=removal)


def counts(x: Any) -> Any:
    """One record is in one group of three."""
    return (x[:, None] == np.arange(3)).sum(axis=0)


def cumulative(x: Any) -> Any:
    """One record is in up to three groups."""
    return (x[:, None] <= np.arange(3)).sum(axis=0)


def paid(scores: Any, **more: Any) -> Fraction:
    ledger = dp.MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel:
        channel.select("best", scores, **{"epsilon": "1", "sensitivity": 1, **more})
    return Fraction(dp.account(ledger).epsilon)


@pytest.mark.parametrize("sensitivity", [1, "1/3", "0.01", 2.5])
@pytest.mark.parametrize("monotone", [False, True])
def test_a_selection_costs_exactly_its_epsilon_on_any_grid(sensitivity: Any, monotone: bool) -> None:
    assert paid([1.0, 2.0], epsilon="0.3", sensitivity=sensitivity, monotone=monotone) == Fraction(3, 10)


@pytest.mark.parametrize("scores", [counts, cumulative])
def test_counts_move_one_way_where_a_record_is_removed(scores: Any) -> None:
    assert paid(scores(sealed(removal=True)), monotone=True) == 1
    with pytest.raises(NotOneWay, match=r"DPA005.*monotone"):
        paid(scores(sealed()), monotone=True)
    assert paid(scores(sealed())) == 1


@pytest.mark.parametrize(
    "scores",
    [lambda x: np.stack([(x <= 1).sum(), -(x <= 0).sum()]), lambda x: 3 - cumulative(x), lambda x: abs(cumulative(x) - 2)],
)
def test_one_way_is_not_believed_of_what_was_turned_round(scores: Any) -> None:
    """Turned round, some of them still move one way; that is not known, so that twice as much is charged."""
    with pytest.raises(NotOneWay):
        paid(scores(sealed(removal=True)), monotone=True)
    ledger = dp.MemoryLedger(kind="deployment")
    with dp.live(ledger, strict=False) as channel:
        channel.select("best", scores(sealed(removal=True)), epsilon="1", sensitivity=1, monotone=True)
        assert [finding.rule for finding in channel.findings] == ["DPA005"]
    assert dp.account(ledger).epsilon == 2


def test_a_smaller_sensitivity_than_the_trace_proves_is_refused() -> None:
    with pytest.raises(SensitivityError, match="DPA003"):
        paid(2 * counts(sealed()))
    assert paid(2 * counts(sealed()), sensitivity=2) == 1


@pytest.mark.parametrize(("removal", "epsilon"), [(False, 1), (True, Fraction(1, 2))])
def test_noisy_max_is_charged_for_how_far_differences_of_scores_move(removal: bool, epsilon: Fraction) -> None:
    ledger = dp.MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel:
        channel.noisy_max("best", counts(sealed(removal)), dp.Laplace(scale=2), sensitivity=1)
    assert dp.account(ledger).epsilon == epsilon


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"monotone": 1}, "monotone"),
        ({"method": "best"}, "method"),
        ({"scores": 3.0}, "scores"),
        ({"scores": []}, "scores"),
        ({"scores": [[1.0, 2.0]]}, "scores"),
        ({"to": "shuffled"}, "to"),
        ({"name": 7}, "name"),
    ],
)
def test_wrong_calls_are_refused_and_charge_nothing(change: dict[str, Any], problem: str) -> None:
    ledger = dp.MemoryLedger(kind="deployment")
    call = {"name": "best", "scores": [1.0, 2.0], "epsilon": "1", "sensitivity": 1, **change}
    with dp.live(ledger) as channel, pytest.raises(InvalidValue, match=problem):
        channel.select(call.pop("name"), call.pop("scores"), **call)
    assert not list(ledger.releases())


def test_a_message_never_shows_scores() -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue) as refused:
        channel.select("best", [[86753.5]], epsilon="1", sensitivity=1)
    assert "86753" not in str(refused.value)


def test_the_mechanism_is_the_one_that_was_asked_for() -> None:
    assert selecting_noise("exponential", "1/2", 1, False) == dp.Exponential(4)
    assert selecting_noise("permute-and-flip", "1/2", 1, True) == dp.PermuteAndFlip(2, monotone=True)
    assert noisy_max_of(dp.Laplace(3)) == noisy_max_of(dp.NoisyMax(3)) == dp.NoisyMax(3)
    for noise in (dp.Gaussian(3), dp.RandomizedResponse("1"), dp.Laplace(np.array([1.0, 2.0])), 3):
        with pytest.raises(InvalidValue, match=r"dp\.Laplace"):
            noisy_max_of(noise)
    assert score_units([1.0, 2.0], GRID, 3).shape == (3, 2)


def test_a_key_hands_the_same_index_back_at_no_cost() -> None:
    ledger = dp.MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=dp.Claim(epsilon="1")) as channel:
        first = channel.select("best", [0.0] * 50, epsilon="1", sensitivity=1, key="today")
        assert channel.select("best", [0.0] * 50, epsilon="1", sensitivity=1, key="today") == first
    assert len(list(ledger.releases())) == 1
