"""Selection under plans, in trials, and in verdicts: the same rules as for any release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import NotPlanned
from dpaudit.claims import InvalidValue

PLAN = [
    dp.Planned("best", dp.Exponential(scale=4), 1, kind="select"),
    dp.Planned("most", dp.Laplace(scale=4), 1, kind="noisy_max"),
    dp.Planned("gate", dp.SparseVector(scale=4, positives=2), 1, kind="above"),
]


def groups(x: Any) -> Any:
    return (x[:, None] == np.arange(3)).sum(axis=0)


def counted(x: Any, channel: Any) -> Any:
    best = channel.select("best", groups(x), epsilon="1/2", sensitivity=1)
    most = channel.noisy_max("most", groups(x), dp.Laplace(scale=4), sensitivity=1)
    gate = channel.above("gate", epsilon="1/2", sensitivity=1, threshold=3, positives=2)
    return best, most, gate.ask((x > 1).sum())


def subject(plan: Any, epsilon: str = "3/2") -> Any:
    return dp.subject(claim=dp.Claim(epsilon=epsilon), neighbours=dp.replace_one(n=6, low=0, high=2), plan=plan)(counted)


def test_a_plan_of_selections_is_followed_and_written_as_it_is_made() -> None:
    with dp.simulate(1) as channel:
        subject(PLAN).run(np.array([0.0, 1.0, 2.0]), channel)
    written = [entry.python_code() for entry in PLAN]
    assert written[0] == '("best", dp.Exponential(scale="4"), "1")'
    assert [eval(code, {"dp": dp}) for code in written][1:] == [
        ("most", dp.NoisyMax(4), "1"), ("gate", dp.SparseVector(4, 2), "1"),
    ]  # fmt: skip
    assert dp.Planned(*eval(written[1], {"dp": dp})) == PLAN[1]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_another_selection_than_the_plan_has_is_refused(place: int) -> None:
    other = [*PLAN]
    other[place] = dp.Planned(PLAN[place].name, type(PLAN[place].noise)(5), 1)
    with dp.simulate(1) as channel, pytest.raises(NotPlanned, match=PLAN[place].name):
        subject(other).run(np.array([0.0, 1.0, 2.0]), channel)


def test_a_kind_must_fit_its_mechanism() -> None:
    for noise, kind in ((dp.Laplace(2), "select"), (dp.Exponential(2), "above"), (dp.Exponential(2), "reports")):
        with pytest.raises(InvalidValue, match=r"kind|select"):
            dp.Planned("best", noise, 1, kind=kind)


@pytest.mark.slow
def test_a_plan_of_selections_is_certified_at_its_sum() -> None:
    verdict = dp.audit(subject(PLAN), seed=1, samples=300)
    assert verdict.verdict == "certified", verdict.reason
    assert verdict.upper is not None
    assert (verdict.upper.epsilon, verdict.upper.sensitivity) == (dp.Claim(epsilon="3/2").epsilon, "proven")


@pytest.mark.parametrize("many", [False, True])
def test_trials_have_the_law_of_single_runs(many: bool) -> None:
    """Equal scores: each index a third of the time. 3,000 trials, 5.5 deviations: 4e-8; scores 4 apart must not agree."""
    scores = np.tile([0.0, 0.0, 0.0], (3000, 1)) if many else np.zeros(3)
    with dp.simulate(9, trials=3000) as channel:
        first = np.bincount(channel.select("best", scores, epsilon="1", sensitivity=1), minlength=3)
        part = channel.at(np.arange(10)).noisy_max("most", np.zeros(3), dp.Laplace(scale=2), sensitivity=1)
        apart = np.bincount(channel.select("far", [0.0, 4.0, 0.0], epsilon="1", sensitivity=1), minlength=3)
    assert part.shape == (10,)
    assert (np.abs(first - 1000) <= 5.5 * np.sqrt(2000 / 3)).all()
    assert (np.abs(apart - 1000) > 5.5 * np.sqrt(2000 / 3)).all()


def test_scores_may_be_a_list_of_sealed_numbers() -> None:
    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=6, low=0, high=1))
    def better_half(x: Any, channel: Any) -> Any:
        return channel.select("half", [x[:3].sum(), x[3:].sum()], epsilon="1", sensitivity=1)

    assert dp.audit(better_half, samples=100, seed=1).verdict == "certified"
