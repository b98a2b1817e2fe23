"""Black boxes that raise, or that draw randomness of their own, are audited all the same, and the verdict says so."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.verdict.examination import Options, examine

NEIGHBOURS = dp.replace_one(4, values=[0, 1])


def audited(function: Any) -> dp.Verdict:
    return dp.audit(
        dp.subject(claim=dp.Claim("1", arithmetic="ideal"), neighbours=NEIGHBOURS)(function), samples=1000, seed=1, workers=1
    )


def test_an_exception_that_only_one_data_set_raises_refutes() -> None:
    def raises(data: Any, rng: Any) -> Any:
        if data.sum() == 4 and rng.random() < 0.5:
            raise KeyError("secret text")
        return rng.laplace()

    verdict = audited(raises)
    assert verdict.verdict == "refuted"
    assert "some runs raised KeyError" in verdict.reason
    assert "secret text" not in verdict.reason


def test_an_exception_that_all_data_raise_alike_does_not_refute() -> None:
    def fails_sometimes(data: Any, rng: Any) -> Any:
        if rng.random() < 0.3:
            raise ValueError(str(data))
        return data.sum() + rng.laplace(scale=3)

    verdict = audited(fails_sometimes)
    assert verdict.verdict == "unproven"
    assert "some runs raised ValueError" in verdict.reason


def test_one_that_raises_in_every_run_is_an_error() -> None:
    def never(data: Any, rng: Any) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        audited(never)


def test_one_that_raises_in_every_run_but_not_alike_is_refuted() -> None:
    def tells(data: Any, rng: Any) -> Any:
        raise ZeroDivisionError if data.sum() > 2 else KeyError

    verdict = audited(tells)
    assert verdict.verdict == "refuted"
    assert "ZeroDivisionError" in verdict.reason
    assert "KeyError" in verdict.reason


def test_what_a_subject_with_a_door_raises_refutes_too_and_its_witness_stands() -> None:
    """Each in its own runs; the twin raises whatever the data is, and shows nothing."""

    def raises(data: Any, channel: Any) -> Any:
        noisy = channel.release("a", data.sum(), dp.Laplace(1), sensitivity=1)
        if float(data[0]) > 0.5:
            raise KeyError
        return noisy

    def always(data: Any, channel: Any) -> Any:
        float(data[0])
        raise KeyError

    verdict = audited(raises)
    assert verdict.verdict == "refuted"
    assert {"DPA002", "DPA004"} == {finding.rule for finding in verdict.findings}
    declared = dp.subject(claim=dp.Claim("1", arithmetic="ideal"), neighbours=NEIGHBOURS)
    again = examine(declared(raises), Options(witness=verdict.witness)).verdict
    assert again.verdict == "refuted"
    assert audited(always).verdict == "unproven"


def own_global(data: Any, rng: Any) -> Any:
    return data.sum() + np.random.laplace(scale=3)  # noqa: NPY002 - what other people's code does


def own_secret(data: Any, rng: Any) -> Any:
    return data.sum() + secrets.SystemRandom().gauss(0, 5)


def seeded(data: Any, rng: Any) -> Any:
    return data.sum() + rng.laplace(scale=3)


@pytest.mark.parametrize(("function", "own"), [(own_global, True), (own_secret, True), (seeded, False)])
def test_randomness_of_its_own_is_said_and_no_leak(function: Any, own: bool) -> None:
    verdict = audited(function)
    assert verdict.verdict == "unproven"
    assert ("the seed does not repeat its runs" in verdict.reason) is own
    assert not any(finding.rule == "DPA002" for finding in verdict.findings)
