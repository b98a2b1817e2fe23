"""Counts of unknown keys: the theorem by enumeration, what is counted, what is shown, and what is charged."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.channel import Plan
from dpaudit.channel.streams.thresholded_counts import calibrate, count_keys
from dpaudit.claims import DpauditError, InvalidValue
from dpaudit.ledger import MemoryLedger
from dpaudit.sealed.array import seal
from dpaudit.verdict.ready_plan import account_plan

FAR = 60


def law_of(records: list[Any], rate: float, threshold: int, per_record: int) -> dict[tuple[Any, ...], float]:
    """The exact law of what is shown, but for noise beyond ±60: every key apart, then their product."""
    keys = []
    for key, count in sorted(count_keys(records, per_record).items()):
        hidden, law = 0.0, {}
        for z in range(-FAR, FAR + 1):
            p = math.tanh(rate / 2) * math.exp(-rate * abs(z))
            if count + z >= threshold:
                law[(key, count + z)] = p
            else:
                hidden += p
        keys.append([((), hidden), *(((shown,), p) for shown, p in law.items())])
    return {
        tuple(part for part, _ in parts if part): math.prod(p for _, p in parts) for parts in itertools.product(*keys)
    }  # fmt: skip


def hockey_stick(first: dict[Any, float], second: dict[Any, float], epsilon: float) -> float:
    return sum(max(p - math.exp(epsilon) * second.get(output, 0.0), 0.0) for output, p in first.items())


A, B, AB = ("a",), ("b",), ("a", "b")
PAIRS = [  # data, a neighbour, keys per record
    ([A, A], [A, A, B], 1),
    ([A, A], [A, A, A], 1),
    ([], [AB], 2),
    ([A], [A, AB], 2),
    ([A, A, B], [A, A], 2),
]


@pytest.mark.parametrize(("data", "other", "per_record"), PAIRS)
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.05"), ("2", "0.001"), ("1/2", "0.3")])
def test_by_enumeration_both_directions_keep_the_claim(
    data: list[Any], other: list[Any], per_record: int, epsilon: str, delta: str
) -> None:
    law = calibrate(Fraction(epsilon), Fraction(delta), per_record, removal=True)
    laws = [law_of(records, float(law.noise.rate), law.threshold, per_record) for records in (data, other)]
    for first, second in (laws, laws[::-1]):
        assert hockey_stick(first, second, float(Fraction(epsilon))) <= float(law.failure) + 1e-9
    assert law.failure <= Fraction(delta)


@pytest.mark.parametrize(("data", "other"), [([A, A], [A, B]), ([A, A], [B, A]), ([A], [B])])
def test_by_enumeration_replaced_records_keep_the_claim(data: list[Any], other: list[Any]) -> None:
    law = calibrate(Fraction(1), Fraction("0.05"), 1, removal=False)
    laws = [law_of(records, float(law.noise.rate), law.threshold, 1) for records in (data, other)]
    for first, second in (laws, laws[::-1]):
        assert hockey_stick(first, second, 1.0) <= float(law.failure) + 1e-9


@pytest.mark.parametrize("per_record", [1, 2])
def test_a_threshold_that_is_one_lower_breaks_the_claim(per_record: int) -> None:
    """And so does a threshold without noise: the twins that must fail."""
    law = calibrate(Fraction(1), Fraction("0.05"), per_record, removal=True)
    data: list[Any] = []
    other = [("b", "c")[:per_record]]
    rate = float(law.noise.rate)
    low = [law_of(records, rate, law.threshold - 1, per_record) for records in (other, data)]
    assert hockey_stick(low[0], low[1], 1.0) > 0.05
    tight = [law_of(records, rate, law.threshold, per_record) for records in (other, data)]
    assert hockey_stick(tight[0], tight[1], 1.0) == pytest.approx(float(law.failure), rel=1e-4)
    assert hockey_stick({("a", 2): 1.0}, {("a", 3): 1.0}, 1.0) == 1.0  # exact counts above a threshold


def test_a_record_counts_once_for_each_of_its_first_keys() -> None:
    rows = [["a", "b", "c"], ["a", "a", "a"], [None, float("nan"), "b"], "a"]
    assert count_keys(rows, 2) == Counter(a=3, b=2)
    assert count_keys([{"b", "a", "c"}, frozenset("a")], 2) == Counter(a=2, b=1)  # a set has no first key: by their order
    assert count_keys(np.array([[1, 2], [2, 2]]), 2) == Counter({1: 1, 2: 2})


@pytest.mark.parametrize("keys", ["abc", 3, [{}], [[{}]], [object()]])
def test_other_things_are_no_keys(keys: Any) -> None:
    with pytest.raises(InvalidValue, match="keys"):
        count_keys(keys, 1)


def test_common_keys_are_shown_in_an_order_that_tells_nothing() -> None:
    with dp.simulate(1) as channel:
        shown = channel.threshold_counts("words", ["b"] * 500 + ["a"] * 400 + [7] * 300 + ["rare"], epsilon=1, delta="1e-9")
    assert list(shown) == [7, "a", "b"]
    assert abs(shown["b"] - 500) < 60  # e^-30
    with dp.replay(channel) as again:
        assert again.threshold_counts("words", ["other"], epsilon=1, delta="1e-9") == shown


def test_epsilon_and_delta_are_charged_before_anything_is_drawn() -> None:
    ledger = MemoryLedger(kind="deployment")
    with dp.live(ledger, budget=("1", "1e-6")) as channel:
        channel.threshold_counts("words", ["a"] * 100, epsilon=1, delta="1e-6")
        epsilon, delta = ledger.spent()
        assert epsilon == 1
        assert Fraction(1, 4 * 10**6) < delta <= Fraction(1, 10**6)
        with pytest.raises(dp.BudgetExceeded):
            channel.threshold_counts("words", ["a"] * 100, epsilon="0.1", delta="1e-6")
    bound = dp.account(ledger)
    assert (bound.epsilon, bound.delta) == (epsilon, delta)
    with pytest.raises(InvalidValue, match="delta"):
        dp.account(ledger, delta=delta / 2)


@pytest.mark.parametrize(("removal", "moved"), [(True, 3), (False, 6)])
def test_sealed_keys_are_proven_at_the_price_of_their_neighbours(removal: bool, moved: int) -> None:
    ledger = MemoryLedger(kind="deployment")
    rows = seal(np.ones((50, 4)), 0, 9, removal=removal)
    with dp.live(ledger, budget=("1", "1e-6"), proven=True) as channel:
        channel.threshold_counts("pages", rows, epsilon=1, delta="1e-6", per_record=3)
    (release,) = ledger.releases()
    assert release.derived == release.sensitivity == moved
    assert release.relation == ("add-remove" if removal else "replace-one")


def test_a_door_for_proven_releases_refuses_other_keys() -> None:
    with dp.live(MemoryLedger(kind="deployment"), budget=("1", "1e-6"), proven=True) as channel:
        for keys in (["a"] * 9, seal(np.ones((5, 4)), 0, 9).sum(axis=0), seal(np.ones((5, 4)), 0, 9).T):
            with pytest.raises(DpauditError, match="refused"):
                channel.threshold_counts("pages", keys, epsilon=1, delta="1e-6")


@pytest.mark.parametrize("wrong", [{"delta": 0}, {"delta": 1}, {"epsilon": 0}, {"per_record": 0}, {"per_record": "2.5"}])
def test_parameters_outside_their_range_are_refused(wrong: dict[str, Any]) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue):
        channel.threshold_counts("words", ["a"], **{"epsilon": 1, "delta": "1e-6", **wrong})


@pytest.mark.parametrize(("keys", "shown"), [([-0.0, 0.0], "0"), ([True, 1, 1.0], "1"), ([1.0, 1], "1"), ([0.5, 0.5], "0.5")])
def test_equal_keys_are_shown_alike_whichever_record_comes_first(keys: list[Any], shown: str) -> None:
    """Else the sign of a zero, or the type of a number, tells what the first record holds, without noise."""
    for order in (keys, keys[::-1]):
        assert [repr(key) for key in count_keys(order, 1)] == [shown]


def test_counts_that_break_their_promise_are_attacked_by_a_game() -> None:
    """No replay can pin them: with δ > 0 and one release, exact events say nothing."""

    @dp.subject(claim=dp.Claim("1", "0.01"), neighbours=dp.replace_one(n=12, low=-1, high=1))
    def one_person_twelve_times(data: Any, channel: Any) -> Any:
        return list(channel.threshold_counts("keys", data[[0] * 12], epsilon="1", delta="0.01"))

    verdict = dp.audit(one_person_twelve_times, samples=200, seed=1)
    assert (verdict.verdict, verdict.lower.samples) == ("refuted", 200)


@pytest.mark.parametrize("keys", ["abc", 5, np.array(5)])
def test_what_is_no_list_of_keys_is_refused_by_name(keys: Any) -> None:
    with dp.simulate(1) as channel, pytest.raises(InvalidValue, match="one key for each record"):
        channel.threshold_counts("words", keys, epsilon=1, delta="1e-6")


def test_trials_show_each_what_one_run_would() -> None:
    """A key of one record alone is shown in at most δ = 0.05 of the trials, to six standard deviations; the common one always."""
    keys = ["common"] * 500 + ["mine"]
    with dp.simulate(3, trials=20_000) as channel:
        shown = channel.threshold_counts("words", keys, epsilon=1, delta="0.05")
        (event,) = channel.events
    assert len(shown) == 20_000
    assert all("common" in run for run in shown)
    law = calibrate(Fraction(1), Fraction("0.05"), 1, removal=False)
    often = sum("mine" in run for run in shown) / 20_000
    expected = float(law.failure)
    assert abs(often - expected) < 6 * math.sqrt(expected / 20_000)
    assert (event.output.shape[0], event.record) == (20_000, None)
    with dp.replay(channel.transcript) as again:
        assert again.threshold_counts("words", ["other"], epsilon=1, delta="0.05") == shown


def test_plain_keys_of_a_subject_get_the_noise_of_its_neighbours() -> None:
    """Runs that are attacked are those that are deployed: a removed record moves a count by one, a replaced one two."""
    for neighbours, scale in ((dp.add_remove(n=5, low=0, high=1), 1), (dp.replace_one(n=5, low=0, high=1), 2)):

        @dp.subject(claim=dp.Claim("1", "0.01"), neighbours=neighbours)
        def counted(data: Any, channel: Any) -> Any:
            return channel.threshold_counts("keys", data, epsilon=1, delta="0.01")

        with dp.simulate(1) as channel:
            counted(np.ones(5), channel)
        assert channel.events[0].noise == dp.Laplace(scale, grid=1)


def planned(claim: dp.Claim, *, delta: str = "0.01", **asked: Any) -> dp.Subject:
    plan = [("keys", dp.ThresholdedLaplace(1, delta), 1)]

    @dp.subject(claim=claim, neighbours=dp.add_remove(n=12, low=0, high=3), plan=plan)
    def counted(data: Any, channel: Any) -> Any:
        return len(channel.threshold_counts("keys", data, **{"epsilon": "1", "delta": "0.01", **asked}))

    return counted


def test_a_plan_of_counts_is_certified_and_deployed() -> None:
    verdict = dp.audit(planned(dp.Claim("1", "0.01")), samples=200, seed=1)
    assert verdict.verdict == "certified"
    assert verdict.upper is not None
    assert (verdict.upper.epsilon, verdict.upper.path) == (1, "single")
    with pytest.raises(InvalidValue, match="delta"):  # the plan's δ is charged
        account_plan(Plan.of(planned(dp.Claim("1", "0.01")).plan), dp.Claim("1", "0.009"))
    ledger = MemoryLedger(kind="deployment")
    assert planned(dp.Claim("1", "0.01")).deploy(ledger)(np.zeros(12)) == 1
    assert ledger.spent()[0] == 1


@pytest.mark.parametrize("asked", [{"epsilon": "2"}, {"epsilon": "2", "per_record": 2}, {"per_record": 2}])
def test_counts_other_than_planned_are_refused(asked: dict[str, Any]) -> None:
    with dp.simulate(1) as channel, pytest.raises(DpauditError, match="the plan's next release is 'keys'"):
        planned(dp.Claim("1", "0.01"), **asked)(np.zeros(12), channel)


@pytest.mark.parametrize("more", [{"to": "shuffled"}, {"sampling": "0.5"}, {"kind": "tree"}, {"kind": "select"}])
def test_what_no_counts_can_be_is_no_plan(more: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        dp.Planned("keys", dp.ThresholdedLaplace(1, "0.1"), 1, **more)
    with pytest.raises(InvalidValue, match="threshold_counts"):
        dp.Planned("keys", dp.Laplace(1, grid=1), 1, kind="threshold_counts")


@pytest.mark.parametrize(
    ("look", "reason"), [(lambda rows: rows[[0, 0]], "one entry or row for each record"), (np.sort, "numpy.sort")]
)
def test_the_reason_why_keys_are_not_proven_is_told(look: Any, reason: str) -> None:
    with dp.simulate(1) as channel:
        channel.threshold_counts("keys", look(seal(np.ones(12), -1, 1)), epsilon="1", delta="0.01")
    (finding,) = channel.untraced
    assert reason in finding.message


def test_counts_of_a_larger_delta_than_planned_are_refused() -> None:
    with dp.simulate(1) as channel, pytest.raises(DpauditError, match="ThresholdedLaplace"):
        planned(dp.Claim("1", "0.01"), delta="0.001")(np.zeros(12), channel)


@pytest.mark.parametrize("neighbours", [dp.replace_one, dp.add_remove], ids=lambda one: one.__name__)
def test_texts_are_keys_and_proven(neighbours: Any) -> None:
    @dp.subject(claim=dp.Claim("1", "1e-3"), neighbours=neighbours(n=200, values=["a", "b", "c"]))
    def words(data: Any, channel: Any) -> Any:
        return channel.threshold_counts("words", data, epsilon=1, delta="1e-3")

    ledger = MemoryLedger(kind="deployment")
    shown = words.deploy(ledger)(["a"] * 150 + ["not listed"] * 50)  # what is not in the list is no key
    assert list(shown) == ["a"]
    (release,) = ledger.releases()
    assert release.derived == (2 if neighbours is dp.replace_one else 1)
    with dp.simulate(1) as channel:
        assert set(words(["a"] * 100 + ["b"] * 100, channel)) == {"a", "b"}
