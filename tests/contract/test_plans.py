"""A plan fixes a subject's releases: every door refuses any other one, so that its cost holds on every path."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.ledger import MemoryLedger

TEN = dp.replace_one(n=10, low=-1, high=1)
DATA = np.linspace(-1, 1, 10)
SECRET = 0.8128  # what is to be released
PLAN = [("first", dp.Laplace(scale=4), 2), ("second", dp.Laplace(scale=4), 2)]


def test_the_signature_of_a_planned_release() -> None:
    parameters = inspect.signature(dp.Planned).parameters
    assert list(parameters) == ["name", "noise", "sensitivity", "kind", "cohort", "to", "sampling", "count"]
    defaults = {name: each.default for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    assert defaults == {"kind": "release", "cohort": None, "to": "server", "sampling": None, "count": 1}
    assert dp.Planned("sum", dp.Laplace(scale=2), 2) == dp.Planned("sum", dp.Laplace(scale="2"), "2.0")


def planned(function: Any, plan: Any) -> Any:
    return dp.subject(claim=dp.Claim(epsilon="1"), neighbours=TEN, plan=plan)(function)


DOORS = ("live", "simulated", "trials", "replay")


@contextmanager
def door(kind: str) -> Iterator[Any]:
    """Each way to open a door; the replayed one pins three outputs."""
    made = {
        "live": lambda: dp.live(MemoryLedger(kind="deployment")),
        "simulated": lambda: dp.simulate(1),
        "trials": lambda: dp.simulate(1, trials=5),
        "replay": lambda: dp.replay([np.float64(1), np.float64(2), np.float64(3)]),
    }
    with made[kind]() as channel:
        yield channel


def two(data: Any, channel: Any) -> Any:
    channel.release("first", data.sum(), dp.Laplace(scale=4), sensitivity=2)
    return channel.release("second", data.sum(), dp.Laplace(scale=4), sensitivity=2)


def released(channel: Any, name: str = "first", scale: Any = 4, sensitivity: Any = 2, **more: Any) -> Any:
    return channel.release(name, SECRET, dp.Laplace(scale=scale), sensitivity=sensitivity, **more)


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize("direct", [True, False])
def test_planned_releases_pass_every_door_and_each_run_begins_anew(kind: str, direct: bool) -> None:
    subject = planned(two, PLAN)
    with door(kind) as channel:
        subject(DATA, channel) if direct else subject.run(DATA, channel)
    with door("simulated") as channel:
        for _ in range(3):
            subject(DATA, channel=channel) if direct else subject.run(DATA, channel)
        assert len(channel.events) == 6


@pytest.mark.parametrize("kind", DOORS)
def test_a_run_may_stop_early(kind: str) -> None:
    with door(kind) as channel:
        answer = planned(lambda data, channel: released(channel), PLAN)(DATA, channel)
        assert planned(lambda data, channel: None, PLAN)(DATA, channel) is None
    if kind != "live":  # a live door writes to its ledger only
        assert [event.name for event in channel.events] == ["first"]
    assert answer == pytest.approx(1) if kind == "replay" else np.isfinite(answer).all()


OTHERS: dict[str, Any] = {
    "name": lambda c: released(c, "other"),
    "order": lambda c: released(c, "second"),
    "noise": lambda c: released(c, scale="4.000001"),
    "kind of noise": lambda c: c.release("first", SECRET, dp.Gaussian(sigma=4), sensitivity=2),
    "grid": lambda c: c.release("first", SECRET, dp.Laplace(scale=4, grid="1/2"), sensitivity=2),
    "more noise": lambda c: released(c, scale=8),
    "sensitivity": lambda c: released(c, sensitivity=1),
    "observer": lambda c: released(c, to="actions"),
    "kind": lambda c: c.reports("first", np.zeros(10), dp.Laplace(scale=4), sensitivity=2),
    "one too many": lambda c: [released(c), released(c, "second"), released(c, "second")],
}


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize("ask", OTHERS.values(), ids=OTHERS.keys())
def test_any_other_release_is_refused_at_every_door_and_named(kind: str, ask: Any) -> None:
    with door(kind) as channel, pytest.raises(dp.DpauditError, match="is refused: the plan") as raised:
        planned(lambda data, channel: ask(channel), PLAN)(DATA, channel)
    assert str(SECRET) not in str(raised.value)  # what was to be released
    assert "no more releases" in str(raised.value) or "'first' (release) with dp.Laplace" in str(raised.value)


def test_nothing_is_charged_or_drawn_for_a_refused_release() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger) as channel, pytest.raises(dp.DpauditError, match="the plan"):
        planned(lambda data, channel: released(channel, "other"), PLAN)(DATA, channel)
    assert list(ledger.releases()) == []
    assert not ledger.unused_charges()


def test_a_door_that_the_subject_keeps_stays_under_its_plan() -> None:
    with dp.simulate(1) as channel:
        later = planned(lambda data, channel: lambda: released(channel, "other"), PLAN)(DATA, channel)
        with pytest.raises(dp.DpauditError, match="the plan"):
            later()
        released(channel, "other")  # the twin: whoever opened the door is under no plan


@pytest.mark.parametrize("cohort", [None, range(5), range(4), range(6)])
def test_a_planned_cohort_is_the_one_that_is_named_and_touched(cohort: Any) -> None:
    plan = [dp.Planned("half", dp.Laplace(scale=2), 2, cohort=range(5))]

    def half(data: Any, channel: Any) -> Any:
        return channel.release("half", data[:5].sum(), dp.Laplace(scale=2), sensitivity=2, cohort=cohort)

    def wider(data: Any, channel: Any) -> Any:
        return channel.release("half", data.sum(), dp.Laplace(scale=2), sensitivity=2, cohort=range(5))

    with dp.simulate(1) as channel:
        if cohort == range(5):
            planned(half, plan)(dp.seal(DATA, -1, 1), channel)
        else:
            with pytest.raises(dp.DpauditError, match="cohort"):
                planned(half, plan)(dp.seal(DATA, -1, 1), channel)
        with pytest.raises(dp.DpauditError, match="not in its cohort"):
            planned(wider, plan)(dp.seal(DATA, -1, 1), channel)


def test_counts_repeat_and_trials_that_part_follow_the_plan_each_for_itself() -> None:
    plan = [dp.Planned("v", dp.Laplace(scale=4), 2, count=2)]

    def parts(data: Any, channel: Any, trials: Any) -> None:
        released(channel, "v")
        for half in (np.arange(2), np.arange(2, 5)):
            released(channel.at(half), "v")

    def again(data: Any, channel: Any, trials: Any) -> None:
        parts(data, channel, trials)
        released(channel.at([1]), "v")

    with dp.simulate(1, trials=5) as channel:
        planned(parts, plan)(DATA, channel, 5)
        with pytest.raises(dp.DpauditError, match="no more releases"):
            planned(again, plan)(DATA, channel, 5)


def test_a_release_under_a_key_takes_one_place_of_the_plan() -> None:
    def twice(data: Any, channel: Any) -> Any:
        return [released(channel, key="k"), released(channel, key="k"), released(channel, "second", key="l")]

    ledger = MemoryLedger(kind="deployment")
    for _ in range(2):  # the second run is handed what the first one drew
        with dp.live(ledger) as channel:
            assert len(set(map(float, planned(twice, PLAN)(DATA, channel)))) == 2
    assert len(list(ledger.releases())) == 2


def judge(function: Any, epsilon: str, delta: str = "0", plan: Any = None, neighbours: Any = TEN) -> Any:
    subject = dp.subject(claim=dp.Claim(epsilon, delta), neighbours=neighbours, plan=plan)(function)
    return dp.audit(subject, samples=500, seed=1)


UNIT = dp.replace_one(n=10, low=0, high=1)


def gaussians(data: Any, channel: Any, trials: Any) -> None:
    """Eight releases; what each asks depends on the one before, as numerical composition allows."""
    sign: Any = 1
    for _ in range(8):
        noisy = channel.release("g", sign * data.sum(), dp.Gaussian(sigma=20), sensitivity=1)
        sign = np.where(noisy > 0, 1, -1)


def test_a_plan_certifies_what_only_numerical_composition_proves() -> None:
    """At δ = 1e-5, 8 × Gaussian(20) costs 0.55 by sums of ρ, which a budget can keep, and 0.5 exactly."""
    plan = [dp.Planned("g", dp.Gaussian(sigma=20), 1, count=8)]
    verdict = judge(gaussians, "0.52", "1e-5", plan, UNIT)
    assert (verdict.verdict, verdict.upper.path) == ("certified", "single")
    assert verdict.reason.startswith("certified: its releases are fixed by its plan")
    assert "numerical" in verdict.upper.method
    without = judge(gaussians, "0.52", "1e-5", None, UNIT)
    assert without.verdict == "unproven"
    assert without.upper.path == "observed"
    written = without.reason[without.reason.index("plan=[") :]
    assert eval(f"dict({written})", {"dp": dp})["plan"] == plan  # pasted as it is, it certifies


def test_a_subject_that_does_not_keep_to_its_plan_is_unproven_and_the_release_is_named() -> None:
    verdict = judge(two, "1", plan=[("first", dp.Laplace(scale=4), 2), ("second", dp.Laplace(scale=5), 2)])
    assert verdict.verdict == "unproven"
    assert verdict.upper is None
    assert "'second' is refused: the plan's next release is 'second' (release) with dp.Laplace(scale=\"5\")" in verdict.reason


def spends_by_a_look(look: Any) -> Any:
    """Releases ten times more where the first released value, read in a way that no watch notices, is above 2."""

    def mechanism(data: Any, channel: Any) -> Any:
        first = channel.release("first", data.sum(), dp.Laplace(scale=4), sensitivity=2)
        if look(first) > 2:
            for _ in range(10):
                channel.release("more", data.sum(), dp.Laplace(scale=4), sensitivity=2)
        return first

    return mechanism


LOOKS: dict[str, Any] = {
    "deepcopy": lambda value: float(copy.deepcopy(value)),
    "isinstance": lambda value: float(value) if isinstance(value, float) else 0.0,
    "type": lambda value: float(value) if type(value) in (float, np.float64) else 0.0,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS.keys())
def test_a_certificate_holds_behind_its_door_whatever_decides_the_releases(look: Any) -> None:
    """One path costs 1/2, the other 5.5. What is certified is a door, and the door keeps it; a plan refuses at once."""
    claim = dp.Claim(epsilon="1/2")
    subject = dp.subject(claim=claim, neighbours=TEN)(spends_by_a_look(look))
    verdict = dp.audit(subject, samples=500, seed=1)
    assert verdict.upper is None or verdict.upper.path != "single"
    assert verdict.verdict != "certified" or verdict.reason.startswith("certified behind its door: budget ε=0.5")
    refused = 0
    for _ in range(30):
        ledger = MemoryLedger(kind="deployment")
        with dp.live(ledger, claim, proven=True) as channel:
            try:
                subject(dp.seal(np.ones(10), -1, 1), channel)
            except dp.BudgetExceeded:
                refused += 1
        assert dp.account(ledger).epsilon <= claim.epsilon
    assert refused > 10  # the sum is 10: nearly all runs take the costly path
    fixed = dp.subject(claim=claim, neighbours=TEN, plan=[("first", dp.Laplace(scale=4), 2)])(spends_by_a_look(look))
    with dp.replay([np.float64(10), np.float64(3)]) as channel, pytest.raises(dp.DpauditError, match="no more releases"):
        fixed(np.ones(10), channel)
