"""Verdicts about black boxes, and about subjects, data, claims and options at the edge of what is allowed."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import InvalidValue, show

BIT = dp.replace_one(n=1, low=0, high=1)
TEN = dp.replace_one(n=10, low=0, high=1)


def declare(function: Any, epsilon: Any = "1", delta: Any = "0", observer: str = "server", neighbours: Any = TEN) -> Any:
    return dp.subject(claim=dp.Claim(epsilon, delta, observer), neighbours=neighbours)(function)


def judge(function: Any, *claim: Any, samples: int = 400, **options: Any) -> Any:
    return dp.audit(declare(function, *claim, **options), seed=5, samples=samples)


def noisy_sum(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)


@pytest.mark.parametrize("epsilon", ["1", "1000", "1e300"])
def test_a_black_box_is_never_certified(epsilon: str) -> None:
    verdict = judge(lambda data, rng: 0, epsilon)
    assert verdict.verdict == "unproven"
    assert verdict.upper is None


@pytest.mark.parametrize(
    "returned",
    [
        lambda d, rng: (float(d.sum()), float(rng.random())),
        lambda d, rng: [float(rng.random())] * (1 + int(d.sum())),
        lambda d, rng: None if d.sum() > 0.5 else "text",
        lambda d, rng: float("nan") if d.sum() > 0.5 else 1.0,
        lambda d, rng: np.inf if d.sum() > 0.5 else -np.inf,
        lambda d, rng: ("a", ("b", None), np.full((2, 2, 2), d.sum())),
        lambda d, rng: bool(d.sum() > 0.5),
    ],
    ids=["beside noise", "length", "none or text", "nan", "infinities", "nested", "bool"],
)
def test_a_black_box_that_tells_the_data_in_any_form_is_refuted(returned: Any) -> None:
    verdict = judge(lambda data, rng: returned(data, rng), "1", neighbours=BIT)
    assert verdict.verdict == "refuted"
    json.loads(verdict.to_json())


def test_a_black_box_of_many_trials_is_told_their_number_and_refuted_alike() -> None:
    half, whole = (
        judge(
            lambda data, rng, trials, s=s: np.round(data.sum() + rng.laplace(scale=s, size=trials), 3),
            "1", samples=20_000, neighbours=BIT,
        )
        for s in (0.5, 1.0)
    )  # fmt: skip
    assert half.verdict == "refuted"
    assert whole.verdict == "unproven"


@pytest.mark.parametrize(("delta", "observer"), [("0", "server"), ("1e-6", "server"), ("0", "actions"), ("1e-6", "shuffled")])
def test_a_subject_that_releases_nothing_is_not_certified_for_that(delta: str, observer: str) -> None:
    verdict = judge(lambda data, channel: None, "1", delta, observer)
    assert verdict.verdict in {"certified", "unproven"}
    assert verdict.lower.epsilon == 0
    secret = judge(lambda data, channel: float(np.asarray(data).sum()), "1", delta, observer)
    assert secret.verdict != "certified"


@pytest.mark.parametrize("returned", ["text", None, (1, "a", None), np.zeros((2, 2, 2)), [], {"a": 1}])
def test_what_a_grey_box_returns_beside_its_releases_may_have_any_form(returned: Any) -> None:
    def mechanism(data: Any, channel: Any) -> Any:
        noisy_sum(data, channel)
        return returned

    assert judge(mechanism, "1").verdict == "certified"


def test_an_error_of_the_subject_is_its_own() -> None:
    def broken(data: Any, channel: Any) -> Any:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        judge(broken)


@pytest.mark.parametrize("shape", [(), (10,), (2, 5), (5, 1, 2)])
def test_releases_of_any_dimension_are_judged(shape: tuple[int, ...]) -> None:
    def mechanism(data: Any, channel: Any, trials: Any) -> Any:
        values = np.zeros(shape) if trials is None else np.zeros((trials, *shape))
        return channel.release("v", values + data[0], dp.Laplace(1), sensitivity=max(1, math.prod(shape)))

    epsilon = max(1, math.prod(shape))
    assert judge(mechanism, 2 * epsilon).verdict != "refuted"
    assert judge(mechanism, show(Fraction(epsilon, 4))).verdict == "refuted"


@pytest.mark.parametrize(("epsilon", "expected"), [("0", "refuted"), ("1e300", "certified")])
def test_claims_at_both_ends_are_decided(epsilon: str, expected: str) -> None:
    assert judge(noisy_sum, epsilon).verdict == expected
    gaussian = judge(lambda data, channel: channel.release("v", data.sum(), dp.Gaussian(4), sensitivity=1), epsilon, "1e-6")
    assert gaussian.verdict == expected


def test_one_record_is_data_enough_and_so_is_none() -> None:
    assert judge(noisy_sum, "1", neighbours=BIT).verdict == "certified"
    assert judge(noisy_sum, "1", neighbours=dp.add_remove(n=1, low=0, high=1)).verdict == "certified"
    assert judge(noisy_sum, "1", neighbours=[(np.zeros(0), np.ones(1))]).verdict == "unproven"


def test_cohorts_that_lie_about_removable_records_are_refuted_and_charged_twice() -> None:
    def lying(data: Any, channel: Any) -> Any:
        return [channel.release(f"{k}", data.sum(), dp.Laplace(1), sensitivity=1, cohort=[k]) for k in range(2)]

    verdict = judge(lying, "1", neighbours=dp.add_remove(n=4, low=0, high=1))
    assert verdict.verdict == "refuted"
    assert verdict.upper.epsilon == 2


@pytest.mark.parametrize(
    "options", [{"samples": 99}, {"samples": 1.5}, {"confidence": 0}, {"confidence": 1}, {"confidence": "nan"}, {"seed": -1}]
)
def test_options_that_are_none_are_refused(options: Any) -> None:
    with pytest.raises(InvalidValue):
        dp.audit(declare(noisy_sum), **options)
    with pytest.raises(InvalidValue):
        dp.audit(noisy_sum)
