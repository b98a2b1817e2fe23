"""Black boxes that raise, or that draw randomness of their own, are audited all the same, and the verdict says so."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
import pytest

import dpaudit as dp

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
