"""The gate decides from what a worker's runs released: honest facts pass unchanged, every forged one is noticed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.claims import Claim
from dpaudit.gate import subject_budgets
from dpaudit.gate.budget_facts import BudgetFacts
from dpaudit.gate.policy import GateBudget
from dpaudit.gate.workers.second_decision import decide_again

ERROR = 1e-6
PEOPLE = dp.replace_one(n=20, low=-1, high=1)
ONE = dp.Claim(epsilon="1")


@dp.subject(claim=ONE, neighbours=PEOPLE)
def honest(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)


@dp.subject(claim=ONE, neighbours=PEOPLE)
def thin(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=2)


@dp.subject(claim=ONE, neighbours=PEOPLE)
def understated(data, channel):
    return channel.release("sum", data.sum(), dp.Laplace(scale=4), sensitivity=1)


NUMERICAL = dp.Claim(epsilon="0.52", delta="1e-5")  # 8 × Gaussian(20) costs 0.55 by sums of ρ, and 0.5 exactly
UNIT = dp.replace_one(n=10, low=0, high=1)


def ask_eight_times(data, channel):
    for _ in range(8):
        channel.release("g", data.sum(), dp.Gaussian(sigma=20), sensitivity=1)


gaussians = dp.subject(claim=NUMERICAL, neighbours=UNIT, plan=[dp.Planned("g", dp.Gaussian(sigma=20), 1, count=8)])(
    ask_eight_times
)
costly_path = dp.subject(claim=NUMERICAL, neighbours=UNIT)(ask_eight_times)


@dp.subject(claim=ONE, neighbours=PEOPLE)
def opaque(data, rng):
    return round(float(data.sum() + rng.laplace(scale=2)), 1)


@dp.subject(claim=ONE, neighbours=PEOPLE)
def leaks(data, channel):
    if data.sum() > 0:
        return None
    return channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)


SUBJECTS = {
    "honest": honest, "thin": thin, "understated": understated, "costly_path": costly_path, "gaussians": gaussians,
    "opaque": opaque, "leaks": leaks,
}  # fmt: skip


@cache
def judged(name: str) -> tuple[str, GateBudget]:
    """What a worker hands back about this subject, as text; and its budget."""
    subject = SUBJECTS[name]
    budget = GateBudget(name, Claim(subject.claim.epsilon, subject.claim.delta), subject=f"mine.py:{name}", samples=200)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject_budgets, "find_subject", lambda _: subject)
        facts = subject_budgets.judge_subject(budget, 1, ERROR)
    return json.dumps(facts.to_dict(), allow_nan=False), budget


def facts_of(name: str) -> tuple[BudgetFacts, GateBudget]:
    text, budget = judged(name)
    return BudgetFacts(**json.loads(text)), budget


@pytest.mark.parametrize(
    ("name", "verdict", "upper", "causes"),
    [
        ("honest", "certified", "1", []),
        ("gaussians", "certified", None, []),
        ("thin", "refuted", "2", ["DPA004"]),
        ("costly_path", "unproven", None, []),
        ("opaque", "unproven", None, []),
        ("leaks", "refuted", None, ["DPA002", "DPA004"]),
    ],
)
def test_honest_facts_are_decided_alike(name: str, verdict: str, upper: str | None, causes: list[str]) -> None:
    facts, budget = facts_of(name)
    again = decide_again(facts, budget, ERROR)
    assert again.verdict == verdict, again.reason
    assert upper is None or again.upper == upper
    assert [facts.findings[place]["rule"] for place in again.causes] == causes
    assert again.evidence is None


def with_evidence(facts: BudgetFacts, change: Callable[[dict[str, Any]], object]) -> BudgetFacts:
    evidence = copy.deepcopy(dict(facts.evidence or {}))
    change(evidence)
    return replace(facts, evidence=evidence)


CERTIFIED: dict[str, Any] = {"verdict": "certified", "findings": []}
HELD = {"epsilon": "1", "method": "pure sums", "sensitivity": "proven", "path": "enforced"}


def innocent(evidence: dict[str, Any]) -> None:
    evidence.update(refuted=False, exact=None, level=0.0, games=[], upper=HELD)


FORGERIES: dict[str, tuple[str, Callable[[BudgetFacts], BudgetFacts]]] = {
    "only its verdict": ("thin", lambda facts: replace(facts, **CERTIFIED)),
    "without what it rests on": ("thin", lambda facts: replace(facts, **CERTIFIED, evidence=None)),
    "an upper bound": ("thin", lambda facts: with_evidence(replace(facts, **CERTIFIED), innocent)),
    "a finding left out": (
        "understated", lambda facts: replace(facts, findings=[one for one in facts.findings if one["rule"] != "DPA003"]),
    ),
    "a refutation left out": (
        "thin", lambda facts: with_evidence(replace(facts, verdict="unproven"), lambda e: e.update(refuted=False)),
    ),
    "a path that a plan fixes": (
        "costly_path",
        lambda facts: with_evidence(replace(facts, **CERTIFIED), lambda e: e.update(upper={**HELD, "path": "single"})),
    ),
    "a door that enforces": (
        "costly_path", lambda facts: with_evidence(replace(facts, **CERTIFIED), lambda e: e.update(upper=HELD)),
    ),
    "a plan's cost": ("gaussians", lambda facts: with_evidence(facts, lambda e: e["upper"].update(epsilon="1/10"))),
    "a plan of less": (
        "gaussians",
        lambda facts: with_evidence(facts, lambda e: (e["upper"].update(epsilon="1/10"), e.update(planned=e["planned"][:0]))),
    ),
    "a trace": ("honest", lambda facts: with_evidence(facts, lambda e: e["releases"][0].pop("derived"))),
    "fewer runs": ("honest", lambda facts: with_evidence(facts, lambda e: e["runs"].pop())),
    "no runs at all": ("honest", lambda facts: with_evidence(facts, lambda e: e.update(runs=[]))),
    "a grey box": (
        "opaque", lambda facts: with_evidence(replace(facts, verdict="certified"), lambda e: e.update(grey=True, upper=HELD)),
    ),
    "the counts of its game": (
        "opaque", lambda facts: replace(facts, lower={**(facts.lower or {}), "epsilon": -1.0}),
    ),
    "counts that refute": (
        "opaque",
        lambda facts: with_evidence(
            replace(facts, lower={**(facts.lower or {}), "epsilon": 9.0}),
            lambda e: e["games"].append({**e["games"][0], "counted": [[10_000, 0, 10_000, 2, "pure", 0.0, 1.0]]}),
        ),
    ),
    "another observer": ("honest", lambda facts: replace(facts, observer="nobody")),
    "a release that is none": ("honest", lambda facts: with_evidence(facts, lambda e: e.update(runs=[[7], [7], [7]]))),
    "a flag": ("honest", lambda facts: with_evidence(facts, lambda e: e.update(interrupted="no"))),
}  # fmt: skip


@pytest.mark.parametrize("forged", FORGERIES)
def test_what_its_releases_do_not_bear_out_is_not_checked(forged: str) -> None:
    name, forge = FORGERIES[forged]
    facts, budget = facts_of(name)
    assert decide_again(facts, budget, ERROR).verdict != "not checked"  # what is honest passes here
    found = decide_again(forge(facts), budget, ERROR)
    assert (found.verdict, found.exit_code("not-refuted")) == ("not checked", 2), found


def test_a_budget_for_another_observer_is_not_held_by_these_facts() -> None:
    facts, budget = facts_of("honest")
    assert decide_again(facts, replace(budget, observer="actions"), ERROR).verdict == "not checked"
    assert decide_again(facts, replace(budget, arithmetic="ideal"), ERROR).verdict == "not checked"


def test_a_smaller_budget_is_decided_anew() -> None:
    """The releases of a certified subject cost 1: against a budget of 1/2 the same facts no longer hold together."""
    facts, budget = facts_of("honest")
    assert decide_again(facts, replace(budget, claim=Claim("1/2")), ERROR).verdict == "not checked"


def test_facts_about_ledgers_and_what_came_to_no_verdict_stay() -> None:
    facts = BudgetFacts("certified", "", upper="1")
    assert decide_again(facts, GateBudget("a", Claim("1"), ledger="today.ledger"), ERROR) is facts
    nothing = BudgetFacts("not checked", "it broke")
    assert decide_again(nothing, GateBudget("a", Claim("1"), subject="mine.py:f"), ERROR) is nothing
