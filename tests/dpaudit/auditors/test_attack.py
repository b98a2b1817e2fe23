"""The loop over auditors: each stage is a value, it can be stopped between two, and an auditor from outside is one more row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditors.attack import attack, stages
from dpaudit.auditors.interface import Attack, Auditor, Case
from dpaudit.auditors.registry import AUDITORS
from dpaudit.channel import PathChanged
from dpaudit.claims import Lower

TEN = dp.replace_one(n=10, low=0, high=1)


def case(function: Any, claim: Any = None, **options: Any) -> Case:
    subject = dp.subject(claim=claim or dp.Claim("1"), neighbours=TEN)(function)
    return Case(subject, subject.claim, 0.95, 200, 5, **options)


def noisy_sum(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)


def two_numbers(data: Any, channel: Any) -> Any:
    return channel.release("v", np.eye(2, 10) @ data, dp.Gaussian(4), sensitivity=1)


def black(data: Any, rng: Any) -> Any:
    return float(data.sum() + rng.laplace())


def mixed(data: Any, channel: Any) -> Any:
    return channel.reports("r", data, dp.Laplace(1), sensitivity=1, to="shuffled").sum()


def leak(data: Any, channel: Any) -> Any:
    """Asks about another number of records on some data: replay is void."""
    for _ in range(1 + int(data[0] > 0.5)):
        channel.release("v", 0.0, dp.Laplace(1), sensitivity=1)
    return 0.0


ROUTES: dict[str, tuple[Case, list[str]]] = {
    "one transcript decides": (case(noisy_sum), ["replay", "transcripts"]),
    "events leave something to a game": (
        case(two_numbers, dp.Claim("1.2", "1e-6")), ["replay", "events of releases", "game on the joint view"],
    ),
    "shuffled": (case(mixed, dp.Claim("1", "1e-3", "shuffled"), search=False), ["replay", "events of shuffled batches"]),
    "actions": (case(noisy_sum, dp.Claim("2", "0", "actions"), search=False), ["replay", "events of public actions"]),
    "black box": (case(black), ["game on what is returned", "porosity"]),
    "black box, sequential": (case(black, sequential=True), ["bets on what is returned", "porosity"]),
    "sequential": (case(noisy_sum, sequential=True), ["replay", "bets on the joint view", "transcripts"]),
    "replay is void": (case(leak), ["replay", "game on what is returned"]),
    "replay is void, sequential": (case(leak, sequential=True), ["replay", "bets on what is returned"]),
}  # fmt: skip


@pytest.mark.parametrize(("one", "names"), ROUTES.values(), ids=ROUTES.keys())
def test_each_kind_of_case_meets_its_auditors_in_order(one: Case, names: list[str]) -> None:
    assert [stage.auditor for stage in stages(one)] == names


def test_whoever_stops_between_stages_holds_what_was_known_by_then_and_nothing_more_is_run() -> None:
    one = case(two_numbers, dp.Claim("1.2", "1e-6"))
    first = [stage.known for stage in islice(stages(one), 2)]
    assert [known.lower.method for known in first] == ["exact replay", "exact event"]
    assert first[1].lower.epsilon <= attack(one).lower.epsilon


@dataclass(frozen=True)
class Toy:
    """An auditor as somebody outside would write it: refutes whatever is said to be called by its name."""

    name: str = "toy"

    def supports(self, case: Case, known: Attack) -> bool:
        return not known.refuted and case.subject.name == "noisy_sum"

    def attack(self, case: Case, known: Attack) -> Attack:
        return replace(known, refuted=True, lower=Lower(9.0, 1.0, self.name, 1))


def test_a_new_auditor_is_one_class_and_one_row() -> None:
    toy: Auditor = Toy()
    assert attack(case(noisy_sum), (*AUDITORS, toy)).lower.method == "toy"
    assert attack(case(black), (*AUDITORS, toy)).lower.method != "toy"
    assert attack(case(noisy_sum, dp.Claim("1/2")), (*AUDITORS, toy)).lower.method == "exact replay"  # refuted before its turn


@dataclass(frozen=True)
class MeetsAnotherPath:
    name: str = "rare path"

    def supports(self, case: Case, known: Attack) -> bool:
        return case.subject.grey

    def attack(self, case: Case, known: Attack) -> Attack:
        raise PathChanged(3)


def test_a_path_that_changes_in_a_later_stage_makes_replay_void_and_the_returned_value_decides() -> None:
    rows = (*AUDITORS[:1], MeetsAnotherPath(), *AUDITORS[1:])
    known = attack(case(noisy_sum), rows)
    assert known.replay_void
    assert known.lower.method.startswith("guessing game, learned score")
    assert known.exact is None
    twin = attack(case(noisy_sum))
    assert not twin.replay_void
    assert twin.exact == 1


def test_an_exact_refutation_stands_beside_bets_that_show_a_larger_estimate() -> None:
    """What is computed refutes; the 95 % bound of an e-process, be it larger, never takes that back."""
    sure = next(row for row in AUDITORS if row.name == "transcripts")
    estimate = Attack(Lower(5.0, 0.95, "e-process", 10))
    known = sure.attack(case(noisy_sum, dp.Claim("1/2"), sequential=True), estimate)
    assert known.refuted
    honest = sure.attack(case(noisy_sum, dp.Claim("1"), sequential=True), estimate)
    assert not honest.refuted
    assert honest.lower.method == "e-process"
