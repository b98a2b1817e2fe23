"""A witness is checked again from nothing but its file: what refuted refutes again, and nothing in the file can make it up."""

from __future__ import annotations

import contextlib
import copy
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import dpaudit as dp
from dpaudit.auditors.witness_check import NotAWitness, recheck

pytestmark = pytest.mark.slow

TEN = dp.replace_one(n=10, low=-1, high=1)
DRAWN = st.lists(st.integers(-3, 3), min_size=2, max_size=5).map(lambda r: (np.array(r), np.array([*r[:-1], 0])))
LISTED = [(np.zeros(10), np.eye(10)[k]) for k in range(3)]


def declare(function: Any, claim: Any, neighbours: Any = TEN) -> Any:
    return dp.subject(claim=claim, neighbours=neighbours)(function)


def releases(noise: Any, times: int = 1) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        return [channel.release(f"sum {k}", data.sum(), noise, sensitivity=2) for k in range(times)]

    return mechanism


def plays(noise: Any) -> Any:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        return np.asarray(channel.release("sum", data.sum(), noise, sensitivity=2) > 0).astype(int)

    return mechanism


def reports(noise: Any) -> Any:
    def mechanism(data: Any, channel: Any) -> Any:
        return channel.reports("batch", data, noise, sensitivity=2, to="shuffled").values

    return mechanism


def black(scale: float) -> Any:
    def mechanism(data: Any, rng: Any, trials: Any) -> Any:
        stop = -np.expm1(-1 / scale)
        return np.round(data.sum()) + rng.geometric(stop, trials) - rng.geometric(stop, trials)

    return mechanism


PURE, ACTIONS = dp.Claim("1"), dp.Claim("1", observer="actions")
CASES = {
    "transcript": (releases, dp.Laplace(1), dp.Laplace(2), PURE, TEN),
    "transcript, gaussian": (releases, dp.Gaussian(1), dp.Laplace(2), PURE, TEN),
    "transcript, removal": (releases, dp.Laplace("1/2"), dp.Laplace(1), PURE, dp.add_remove(n=10, low=-1, high=1)),
    "transcript, listed": (releases, dp.Laplace("1/2"), dp.Laplace(1), PURE, LISTED),
    "transcript, drawn": (releases, dp.Laplace(1), dp.Laplace(3), PURE, DRAWN),
    "event": (releases, dp.Gaussian(1), dp.Gaussian(20), dp.Claim("1", "1e-6"), TEN),
    "actions": (plays, dp.Laplace("1/2"), dp.Laplace(2), ACTIONS, TEN),
    "shuffled": (reports, dp.Laplace("1/2"), dp.Laplace(2), dp.Claim("1", "1e-6", observer="shuffled"), TEN),
    "statistics": (black, 1.0, 2.0, PURE, TEN),
}


@pytest.fixture(scope="module")
def witnesses() -> dict[str, Any]:
    """As they come back from a file."""
    found = {}
    for name, (make, wrong, _, claim, neighbours) in CASES.items():
        verdict = dp.audit(declare(make(wrong), claim, neighbours), seed=1, samples=20_000)
        assert verdict.verdict == "refuted", name
        found[name] = json.loads(json.dumps(verdict.witness, allow_nan=False))
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_witness_refutes_again_what_it_refuted_and_not_the_honest_twin(name: str, witnesses: dict[str, Any]) -> None:
    make, wrong, honest, claim, neighbours = CASES[name]
    again = recheck(declare(make(wrong), claim, neighbours), claim, witnesses[name])
    assert again.refuted
    assert again.lower.epsilon > 1
    twin = recheck(declare(make(honest), claim, neighbours), claim, witnesses[name])
    assert not twin.refuted
    assert twin.lower.epsilon <= 1
    assert again.witness is not None
    assert recheck(declare(make(wrong), claim, neighbours), claim, again.witness).refuted


@pytest.mark.parametrize("name", CASES)
def test_a_claim_that_allows_as_much_is_not_refuted(name: str, witnesses: dict[str, Any]) -> None:
    make, wrong, _, claim, neighbours = CASES[name]
    weaker = dp.Claim(1000, claim.delta, claim.observer)
    assert not recheck(declare(make(wrong), claim, neighbours), weaker, witnesses[name]).refuted


def test_a_witness_is_small(witnesses: dict[str, Any]) -> None:
    facts = witnesses["transcript"]
    assert facts["pair"]["data"] == {"records": 10, "value": 0.0, "except": {"0": -1.0}}
    assert facts["pair"]["neighbour"] == {"records": 10, "value": 0.0, "except": {"0": 1.0}}
    assert facts["outputs"] == {}
    assert facts["releases"] == 1
    drawn = witnesses["transcript, drawn"]
    assert {"choices", "hypothesis", "swapped"} == drawn["pair"].keys()
    assert sorted(abs(value) for value in drawn["data"] + drawn["neighbour"]) == [0, 0, 0, 3]  # 3 shows most


@pytest.mark.parametrize("name", CASES)
def test_no_figure_in_the_file_makes_an_honest_subject_refuted(name: str, witnesses: dict[str, Any]) -> None:
    """Every number in the file, one at a time, replaced by others: an error of dpaudit's, or not refuted."""
    make, _, honest, claim, neighbours = CASES[name]
    subject = declare(make(honest), claim, neighbours)
    tried = 0
    values = {"statistics": [1], "shuffled": [1, "nan"]}.get(name, [0, 1, -1, 1000, 2**40, 0.5, "1", "nan", None, [], {}])
    for path in list(_numbers(witnesses[name])):
        for value in values:
            facts = copy.deepcopy(witnesses[name])
            place = facts
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
            with contextlib.suppress(dp.DpauditError):
                assert not recheck(subject, claim, facts).refuted
            tried += 1
    assert tried >= 10


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _numbers(part, (*path, key))
    elif isinstance(value, list):
        for key, part in enumerate(value):
            yield from _numbers(part, (*path, key))
    elif path:
        yield path


def test_data_that_are_no_neighbours_are_refused(witnesses: dict[str, Any]) -> None:
    subject = declare(releases(dp.Laplace(2)), PURE)
    for change in ({"value": -1.0}, {"records": 11}, {"except": {"0": 7.0}}, {"except": {"0": -1.0, "1": 1.0}}):
        facts = copy.deepcopy(witnesses["transcript"])
        facts["pair"]["data"] |= change
        with pytest.raises(dp.DpauditError, match="no neighbours"):
            recheck(subject, PURE, facts)


def test_a_witness_for_another_observer_is_refused(witnesses: dict[str, Any]) -> None:
    subject = declare(releases(dp.Laplace(1)), PURE)
    with pytest.raises(dp.DpauditError, match="observer"):
        recheck(subject, ACTIONS, witnesses["transcript"])
    forged = {**witnesses["transcript"], "observer": "actions"}
    assert not recheck(subject, ACTIONS, forged).refuted  # a loss of the joint view says nothing about actions
    assert not recheck(subject, dp.Claim("1", "1e-6"), witnesses["transcript"]).refuted  # nor about δ > 0
    game = {**witnesses["statistics"], "score": "likelihood ratio", "observer": "actions"}
    assert not recheck(subject, ACTIONS, game).refuted


@pytest.mark.parametrize(
    "facts", [None, [], "x", {}, {"kind": "guess"}, {"kind": "transcript", "observer": "server", "pair": {}}]
)
def test_what_is_no_witness_is_named_so(facts: Any) -> None:
    with pytest.raises(NotAWitness, match="--witness"):
        recheck(declare(releases(dp.Laplace(1)), PURE), PURE, facts)


def test_randomness_of_its_own_refutes_nothing(witnesses: dict[str, Any]) -> None:
    def wavering(data: Any, channel: Any) -> Any:
        return channel.release("sum", data.sum() + np.random.default_rng().normal(), dp.Laplace(2), sensitivity=2)

    found = recheck(declare(wavering, PURE), PURE, witnesses["transcript"])
    assert not found.refuted
    assert [finding.rule for finding in found.findings] == ["DPA002"]


def test_the_verdict_of_a_replayed_witness_never_certifies(witnesses: dict[str, Any]) -> None:
    wrong, honest = (declare(releases(dp.Laplace(scale)), PURE) for scale in (1, 2))
    refuted = dp.audit(wrong, witness=witnesses["transcript"])
    assert refuted.verdict == "refuted"
    assert refuted.lower.epsilon == 2
    unproven = dp.audit(honest, witness=witnesses["transcript"])
    assert unproven.verdict == "unproven"
    assert "nothing else was looked at" in unproven.reason
    assert Fraction(unproven.lower.epsilon) == 1
