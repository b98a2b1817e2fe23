"""Plans as values: what may stand in one, how it is written, and what it is accounted by."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.accountants import account_releases
from dpaudit.channel import Plan
from dpaudit.claims import InvalidValue


@pytest.mark.parametrize(
    "entry",
    [
        dp.Planned("v", dp.Laplace(scale="1/3"), "0.1"),
        dp.Planned("v", dp.Gaussian(sigma=4), 2, count=20),
        dp.Planned('a "quoted" \\ name', dp.Laplace(scale=2, grid=1), 1, cohort=range(3, 9)),
        dp.Planned("v", dp.Laplace(scale=2), 1, cohort=[1, 2, 5, "ann"], to="actions"),
        dp.Planned("v", dp.RandomizedResponse(epsilon=1), 1, kind="reports"),
        dp.Planned("v", dp.KaryResponse(epsilon=1, k=4), 1, kind="shuffled", cohort=range(100)),
        dp.Planned("v", dp.Laplace(scale=2), 1, sampling="1/10", count=3),
        dp.Planned("v", dp.ThresholdedLaplace(scale=2, delta="1e-6"), 2, count=2),
        dp.Planned("v", dp.UnaryResponse(epsilon=1, k=4), 1, kind="shuffled", cohort=range(100)),
    ],
)
def test_a_plan_is_written_as_python_that_gives_it_back(entry: dp.Planned) -> None:
    plan = Plan.of([entry, ("next", dp.Laplace(scale=1), 1)])
    again = Plan.of(eval(f"dict({plan.python_code()})", {"dp": dp, "range": range})["plan"])
    assert again == plan


@pytest.mark.parametrize(
    ("given", "about"),
    [
        ("sum", "plan"),
        (3, "plan"),
        ([("sum", dp.Laplace(scale=2))], "plan"),
        ([["sum", dp.Laplace(scale=2), 2]], "plan"),
        ([("", dp.Laplace(scale=2), 2)], "name"),
        ([("sum", 2, 2)], "noise"),
        ([("sum", dp.Laplace(scale=2), 0)], "sensitivity"),
    ],
)
def test_what_is_no_plan_is_refused_by_name(given: Any, about: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        Plan.of(given)
    assert raised.value.name == about


@pytest.mark.parametrize(
    "more",
    [{"kind": "sums"}, {"to": "nobody"}, {"to": "shuffled"}, {"count": 0}, {"sampling": 0}, {"sampling": 2}, {"cohort": (1, 2)}],
)
def test_what_no_release_can_be_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        dp.Planned("sum", dp.Laplace(scale=2), 2, **more)


def test_counts_are_places_and_the_last_is_followed_by_none() -> None:
    plan = Plan.of([dp.Planned("a", dp.Laplace(scale=2), 2, count=3), ("b", dp.Laplace(scale=2), 2)])
    assert len(plan) == 4
    assert [entry.name for entry in plan] == ["a", "a", "a", "b"]
    assert [entry and entry.name for entry in map(plan.at, range(6))] == ["a", "a", "a", "b", None, None]
    assert len(Plan.of([])) == 0
    assert Plan.of([]).at(0) is None


def hockey_stick(scale: float, moves: list[int], epsilon: float) -> float:
    """Σ (p − e^ε q)⁺ of independent discrete Laplace noise on numbers that move by these many steps, by enumeration."""
    a, reach = 1 / scale, range(-40, 41)
    laws = [
        [(math.tanh(a / 2) * math.exp(-a * abs(k)), math.tanh(a / 2) * math.exp(-a * abs(k - m))) for k in reach] for m in moves
    ]
    joint = [(1.0, 1.0)]
    for law in laws:
        joint = [(p * x, q * y) for p, q in joint for x, y in law]
    return sum(max(p - math.exp(epsilon) * q, 0) for p, q in joint)


@pytest.mark.parametrize("moves", [[1, 1], [1, 3], [2, 2]])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.5, 0.9, 1.2])
def test_laplace_noise_on_several_numbers_is_dominated_by_one_that_moves_as_far(moves: list[int], epsilon: float) -> None:
    """What lets a plan leave the size of a release open. The twin: a number that moves less far dominates nothing."""
    whole, parts = hockey_stick(3, [sum(moves)], epsilon), hockey_stick(3, moves, epsilon)
    assert parts <= whole + 1e-9
    assert hockey_stick(3, [sum(moves) - 1], 0.0) < hockey_stick(3, [sum(moves)], 0.0)
    if epsilon == 0.2:
        assert parts > hockey_stick(3, [max(moves)], epsilon) or moves == [1, 3]


@pytest.mark.parametrize("noise", [dp.Laplace(scale=20), dp.Gaussian(sigma=40)])
@pytest.mark.parametrize("derived", [None, Fraction(2), Fraction(3)])
def test_a_plan_is_charged_at_its_sensitivity_or_at_a_larger_proven_one(noise: Any, derived: Fraction | None) -> None:
    plan = Plan.of([dp.Planned("v", noise, 2, count=30)])
    costs = [account_releases([e.release(d) for e in plan], Fraction(1, 10**6), fixed=True).epsilon for d in (derived, None)]
    assert (costs[0] > costs[1]) is (derived == 3)
    assert costs[0] >= costs[1]
