"""An examination is one value: the verdict with the proof and the attack that it rests on."""

from __future__ import annotations

from typing import Any

import pytest

import dpaudit as dp
from dpaudit.verdict.examination import Options, examine

TEN = dp.replace_one(n=10, low=0, high=1)


def declare(function: Any, claim: dp.Claim) -> Any:
    return dp.subject(claim=claim, neighbours=TEN)(function)


def noisy_sum(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)


def median(data: Any, channel: Any) -> Any:
    return channel.release("m", float(sorted(data)[5]), dp.Laplace(1), sensitivity="1/10")


def test_the_verdict_is_the_one_of_its_proof_and_its_attack() -> None:
    examination = examine(declare(noisy_sum, dp.Claim("1")), Options(seed=1, samples=200))
    assert examination.verdict.verdict == "certified"
    assert examination.proof.upper == examination.verdict.upper
    assert examination.attack.lower == examination.verdict.lower
    assert examination.verdict.seconds > 0


@pytest.mark.parametrize(("epsilon", "verdict"), [("0.9", "refuted"), (None, "certified")])
def test_options_take_the_place_of_the_subjects_own_claim(epsilon: str | None, verdict: str) -> None:
    assert examine(declare(noisy_sum, dp.Claim("1")), Options(epsilon, seed=1, samples=200)).verdict.verdict == verdict


def test_a_black_box_has_a_proof_of_nothing() -> None:
    box = declare(lambda data, rng: float(data.sum() + rng.laplace()), dp.Claim("1"))
    examination = examine(box, Options(seed=1, samples=200, workers=1))
    assert (examination.proof.upper, examination.proof.runs) == (None, ())


def test_sensitivities_that_no_trace_proves_are_searched_after_the_attack() -> None:
    """Sealed data that cannot be sorted is given plain: the pair that moves the median most is found by search."""
    relation = [([0.0] * 5 + [value] + [1.0] * 4, [0.0] * 5 + [other] + [1.0] * 4) for value, other in ((0.0, 1.0), (0.0, 0.1))]
    subject = dp.subject(claim=dp.Claim("1"), neighbours=relation)(median)
    examination = examine(subject, Options(seed=1, samples=200))
    assert examination.attack.observed.excess
    assert any(finding.rule == "DPA003" for finding in examination.verdict.findings)


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"error": 1e-3}, {"samples": 1}, {"seed": -1}, {"workers": 0}])
def test_options_out_of_range_are_refused_by_name(wrong: Any) -> None:
    with pytest.raises(dp.DpauditError, match=next(iter(wrong))):
        examine(declare(noisy_sum, dp.Claim("1")), Options(**wrong))


def test_sealed_data_that_a_subject_kept_from_an_earlier_run_is_a_finding_and_no_error() -> None:
    kept: list[Any] = []

    @dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(2, values=[0, 1]))
    def keeps(data: Any, channel: Any) -> Any:
        kept.append(data[0])
        return channel.release("sum", data.sum(), dp.Laplace(scale=1), sensitivity=1), float(kept[0])

    verdict = dp.audit(keeps, samples=200, seed=1)
    assert verdict.verdict != "certified"
    assert "DPA002" in {finding.rule for finding in verdict.findings}
