"""Every way to ask less is found, and asking more is not."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.claims import Claim
from dpaudit.gate.against.loosening import Loosening, budget_loosenings, policy_loosenings, sample_loosenings, term_loosenings
from dpaudit.gate.against.subject_terms import neighbour_terms
from dpaudit.gate.policy import Config, GateBudget
from dpaudit.gate.results import Waiver

BUDGET = GateBudget("sum", Claim("1", "1e-6"), subject="mine.py:noisy", unit="user", samples=20_000)
DAY = date(2027, 1, 31)
WAIVER = Waiver("DPA004", "0123456789abcdef", "pilot", "ann", DAY)


@pytest.mark.parametrize(
    ("what", "edited"),
    [
        ("ε", replace(BUDGET, claim=Claim("1.01", "1e-6"))),
        ("δ", replace(BUDGET, claim=Claim("1", "2e-6"))),
        ("what it is about", replace(BUDGET, subject="mine.py:other")),
        ("what it is about", replace(BUDGET, subject=None, ledger="mine.ledger")),
        ("horizon", replace(BUDGET, horizon=10)),
        ("unit", replace(BUDGET, unit="event")),
        ("require", replace(BUDGET, require="not-refuted")),
        ("dim", replace(BUDGET, dim=3)),
        ("actions", replace(BUDGET, actions=3)),
        ("calibration", replace(BUDGET, calibration="corrected")),
        ("unit", replace(BUDGET, unit=None)),
    ],
)
def test_a_budget_that_asks_less_is_found(what: str, edited: GateBudget) -> None:
    (found,) = budget_loosenings(BUDGET, edited)
    assert (found.budget, found.what) == ("sum", what)


@pytest.mark.parametrize(
    "edited",
    [
        BUDGET,
        replace(BUDGET, claim=Claim("1/2", "0")),
        replace(BUDGET, samples=10**6, timeout=1),
        replace(BUDGET, neighbours="replace_one"),
    ],
)
def test_a_budget_that_asks_as_much_or_more_is_not(edited: GateBudget) -> None:
    assert list(budget_loosenings(BUDGET, edited)) == []


def terms(neighbours: Any, observer: str = "server", arithmetic: str = "float") -> dict[str, Any]:
    described = {"observer": observer, "arithmetic": arithmetic, "neighbours": neighbour_terms(neighbours), "samples": 10_000}
    return json.loads(json.dumps(described))  # as it crosses from process to process


HUNDRED = terms(dp.replace_one(n=100, low=-1, high=1))
ROWS = terms(dp.replace_one(n=100, low=[0, 0], high=[1, 2]))
COLUMNS: dict[str, Any] = {"age": (0, 120), "city": ["Bern", "Rome"], "pay": (0, 10, None)}


def table(**changed: Any) -> dict[str, Any]:
    return terms(dp.replace_one(n=9, bounds={name: value for name, value in {**COLUMNS, **changed}.items() if value}))


CITIES = terms(dp.add_remove(n=9, values=["Bern", "Rome", "Oslo"]))
PAIRS = terms(dp.subject(claim=dp.Claim("1"), neighbours=[([1], [2]), ([3], [4])])(lambda data, channel: None).neighbours)


@pytest.mark.parametrize(
    ("what", "base", "now"),
    [
        ("observer of the claim", HUNDRED, terms(dp.replace_one(n=100, low=-1, high=1), observer="actions")),
        ("arithmetic of the claim", HUNDRED, terms(dp.replace_one(n=100, low=-1, high=1), arithmetic="ideal")),
        ("neighbours", HUNDRED, terms(dp.add_remove(n=100, low=-1, high=1))),
        ("neighbours", HUNDRED, CITIES),
        ("number of records", HUNDRED, terms(dp.replace_one(n=1000, low=-1, high=1))),
        ("bounds of a record", HUNDRED, terms(dp.replace_one(n=100, low=0, high=1))),
        ("bounds of a record", HUNDRED, terms(dp.replace_one(n=100, low=-1, high=0.5))),
        ("bounds of a record", ROWS, terms(dp.replace_one(n=100, low=[0, 0], high=[1, 1]))),
        ("bounds of a record", ROWS, terms(dp.replace_one(n=100, low=[0], high=[1]))),
        ("values of the neighbours", CITIES, terms(dp.add_remove(n=9, values=["Bern", "Rome", "Lima", "Kyiv"]))),
        ("neighbours", CITIES, PAIRS),
        ("column age", table(), table(age=(0, 100))),
        ("column age", table(), table(age=["old", "young"])),
        ("column city", table(), table(city=["Bern"])),
        ("column city", table(), table(city=None)),
        ("column pay", table(), table(pay=(0, 10))),
        ("neighbours", table(), terms(dp.add_remove(n=9, bounds=COLUMNS))),
    ],
)
def test_a_claim_about_less_is_found(what: str, base: dict[str, Any], now: dict[str, Any]) -> None:
    assert [found.what for found in term_loosenings("sum", base, now)] == [what]


@pytest.mark.parametrize(
    ("base", "now"),
    [
        (HUNDRED, HUNDRED),
        (HUNDRED, terms(dp.replace_one(n=100, low=-2, high=1.5))),
        (ROWS, terms(dp.replace_one(n=100, low=[-1, 0], high=[1, 3]))),
        (CITIES, terms(dp.add_remove(n=9, values=["Oslo", "Rome", "Bern", "Lima"]))),
        (PAIRS, PAIRS),
        (table(), table(age=(-1, 130), city=["Oslo", "Rome", "Bern"], more=(0, 1))),
        (table(), table(age=(0, 120, None))),
    ],
)
def test_a_claim_about_as_much_or_more_is_not(base: dict[str, Any], now: dict[str, Any]) -> None:
    assert list(term_loosenings("sum", base, now)) == []


@pytest.mark.parametrize(
    ("base", "now", "loosened"),
    [
        (20_000, 100, True), (None, 9_999, True), (20_000, None, True), (None, 10_000, False), (None, 50_000, False),
        (5_000, None, False), (20_000, 20_000, False),
    ],
)  # fmt: skip
def test_fewer_samples_are_found_whether_written_or_left_out(base: int | None, now: int | None, loosened: bool) -> None:
    """An audit of this subject takes 10,000 where its budget does not say."""
    budgets = (replace(BUDGET, samples=base), replace(BUDGET, samples=now))
    assert [found.what for found in sample_loosenings(*budgets, HUNDRED)] == (["samples"] if loosened else [])


class Own:
    """A relation of the user's own, which has records like ours and a rule of its own."""

    name, n, low, high = "own", 9, 0.0, 1.0

    def __init__(self, rule: int) -> None:
        self.rule = rule


def test_a_relation_of_the_users_own_is_compared_by_all_that_it_holds() -> None:
    same, other = (terms(Own(rule)) for rule in (1, 2))
    assert list(term_loosenings("sum", same, terms(Own(1)))) == []
    assert [found.what for found in term_loosenings("sum", same, other)] == ["neighbours"]


def test_strategies_are_told_apart_by_how_they_are_written() -> None:
    def drawn(high: int) -> dict[str, Any]:
        pairs = st.tuples(st.integers(0, high), st.integers(0, 9))
        return terms(dp.subject(claim=dp.Claim("1"), neighbours=pairs)(lambda data, channel: None).neighbours)

    assert list(term_loosenings("sum", drawn(5), drawn(5))) == []
    assert [found.what for found in term_loosenings("sum", drawn(5), drawn(4))] == ["neighbours"]


def policy(folder: Path, **more: Any) -> Config:
    return Config(folder, folder / "pyproject.toml", **{"budgets": (BUDGET,), **more})


@pytest.mark.parametrize(
    ("what", "base", "now"),
    [
        ("budget sum", {}, {"budgets": ()}),
        ("budget sum", {}, {"budgets": (replace(BUDGET, name="renamed"),)}),
        ("seed of the audits", {}, {"seed": 2}),
        ("longest waiver", {}, {"waiver_days": 365}),
        ("waiver of DPA004 0123456789abcdef", {}, {"waivers": (WAIVER,)}),
        (
            "waiver of DPA004 0123456789abcdef",
            {"waivers": (WAIVER,)},
            {"waivers": (replace(WAIVER, expires=date(2027, 2, 1)),)},
        ),
    ],
)
def test_a_policy_that_asks_less_is_found(tmp_path: Path, what: str, base: dict[str, Any], now: dict[str, Any]) -> None:
    assert [found.what for found in policy_loosenings(policy(tmp_path, **base), policy(tmp_path, **now))] == [what]
    assert list(policy_loosenings(policy(tmp_path, **base), policy(tmp_path, **base))) == []


def test_a_shorter_waiver_and_a_new_budget_ask_more(tmp_path: Path) -> None:
    base = policy(tmp_path, waivers=(WAIVER,))
    earlier = replace(WAIVER, expires=date(2026, 12, 31))
    assert list(policy_loosenings(base, policy(tmp_path, waivers=(earlier,), budgets=(BUDGET, replace(BUDGET, name="b"))))) == []


def test_keys_are_compared_by_what_they_hold(tmp_path: Path) -> None:
    for name, text in (("a.pub", "one"), ("b.pub", "two"), ("moved.pub", "one")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    base, moved, other = (policy(tmp_path, trusted_keys=(tmp_path / name,)) for name in ("a.pub", "moved.pub", "b.pub"))
    assert list(policy_loosenings(base, moved)) == []
    assert [found.what for found in policy_loosenings(base, other)] == ["trusted key b.pub"]


def entry(epsilon: str | None, verdict: str = "certified", observer: str = "server") -> dict[str, Any]:
    return {"epsilon": epsilon, "verdict": verdict, "observer": observer}


@pytest.mark.parametrize(
    ("loosened", "now"),
    [
        (False, entry("0.8")),
        (False, entry("0.7")),
        (True, entry("0.81")),
        (True, entry(None)),
        (True, entry("0.8", "unproven")),
        (True, entry("0.8", observer="actions")),
        (True, None),
    ],
)
def test_an_edited_baseline_is_found(tmp_path: Path, loosened: bool, now: dict[str, Any] | None) -> None:
    def written(name: str, budget: dict[str, Any] | None) -> Config:
        budgets = {} if budget is None else {"sum": budget}
        file = tmp_path / name
        file.write_text(json.dumps({"schema": "dpaudit.baseline/1", "budgets": budgets}), encoding="utf-8")
        return policy(tmp_path, baseline=file)

    found = list(policy_loosenings(written("base.json", entry("0.8")), written("now.json", now)))
    assert [one.what for one in found] == (["baseline of sum"] if loosened else [])


def test_a_baseline_that_is_no_longer_configured_is_found(tmp_path: Path) -> None:
    (found,) = policy_loosenings(policy(tmp_path, baseline=tmp_path / "base.json"), policy(tmp_path))
    assert found == Loosening(None, "baseline", "base.json", "none")


def test_a_waiver_of_one_change_is_none_of_another() -> None:
    marks = {Loosening("sum", "ε", "1", after).fingerprint for after in ("2", "3")}
    marks |= {Loosening(name, "ε", "1", "2").fingerprint for name in ("mean", None)}
    assert len(marks) == 4
