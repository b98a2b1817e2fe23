"""The order of the verdict: refuted, certified, unproven; and which rule speaks."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import dpaudit as dp

SAMPLES = 1000  # per side: enough for every exact witness; statistics that need more say so


def judge(subject: Any, **options: Any) -> Any:
    return dp.audit(subject, **{"samples": SAMPLES, "seed": 1, **options})


def rules(verdict: Any) -> set[str]:
    return {finding.rule for finding in verdict.findings}


@pytest.mark.parametrize("name", ["noisy_sum", "noisy_sums"])
def test_the_example_of_the_design_is_certified_at_exactly_one(examples: ModuleType, name: str) -> None:
    verdict = judge(getattr(examples, name))
    assert verdict.verdict == "certified"
    assert verdict.upper.epsilon == Fraction(1)
    assert verdict.upper.sensitivity == "proven"
    assert verdict.upper.path in {"single", "enforced"}
    assert verdict.lower.epsilon <= 1
    assert rules(verdict) == set()


def test_half_the_noise_is_refuted_with_a_witness(examples: ModuleType) -> None:
    verdict = judge(examples.half_noise)
    assert verdict.verdict == "refuted"
    assert 1 < verdict.lower.epsilon <= 2
    assert verdict.witness
    assert verdict.upper is None or verdict.upper.epsilon == 2


def test_half_the_noise_over_many_trials_is_attacked_to_about_two(examples: ModuleType) -> None:
    verdict = dp.audit(examples.half_noises, seed=1)  # the default: 100,000 runs per side
    assert verdict.verdict == "refuted"
    assert 1.9 <= verdict.lower.epsilon <= 2.05


def test_disjoint_cohorts_are_certified_at_their_maximum(examples: ModuleType) -> None:
    verdict = judge(examples.two_halves)
    assert verdict.verdict == "certified"
    assert verdict.upper.epsilon == 1
    assert judge(examples.two_halves, epsilon="1/2").verdict == "refuted"


def test_a_declared_sensitivity_that_is_too_small_is_dpa003_and_recomputes_the_bound(
    examples: ModuleType,
) -> None:
    verdict = judge(examples.small_sensitivity)
    assert "DPA003" in rules(verdict)
    assert verdict.upper is None or verdict.upper.epsilon >= 1
    assert verdict.verdict == "refuted"
    assert "DPA003" not in rules(judge(examples.noisy_sum))


@pytest.mark.parametrize("name", ["branches", "returns_raw", "own_randomness"])
def test_data_or_randomness_beside_the_door_is_dpa002_and_removes_the_bound(examples: ModuleType, name: str) -> None:
    verdict = judge(getattr(examples, name))
    assert "DPA002" in rules(verdict)
    assert verdict.upper is None
    assert verdict.verdict in {"refuted", "unproven"}


def test_a_branch_on_private_data_is_named_at_its_line(examples: ModuleType) -> None:
    found = [finding for finding in judge(examples.branches).findings if finding.rule == "DPA002"]
    assert any("examples.py" in finding.where + finding.message for finding in found)


def test_public_randomness_of_the_channel_is_no_finding(examples: ModuleType) -> None:
    verdict = judge(examples.public_randomness)
    assert rules(verdict) == set()
    assert verdict.verdict != "refuted"


def test_an_adaptive_path_is_certified_by_the_budget_at_the_door_alone(examples: ModuleType) -> None:
    verdict = judge(examples.adaptive)
    assert verdict.verdict == "certified"
    assert verdict.upper.path == "enforced"
    assert verdict.upper.epsilon == 1


def test_an_adaptive_path_that_some_runs_overspend_is_never_certified(examples: ModuleType) -> None:
    verdict = judge(examples.overspends)
    assert verdict.verdict != "certified"
    assert verdict.upper is None or verdict.upper.path == "observed"


def test_an_operation_that_is_not_traced_is_unproven_and_no_leak(examples: ModuleType) -> None:
    verdict = judge(examples.median)
    assert verdict.verdict == "unproven"
    assert "DPA002" not in rules(verdict)
    assert verdict.upper is None or verdict.upper.sensitivity in {"tested", "declared"}


def test_a_black_box_is_never_certified(examples: ModuleType) -> None:
    verdict = judge(examples.black_box)
    assert verdict.verdict == "unproven"
    assert verdict.upper is None
    assert judge(examples.black_box, epsilon="100").verdict == "unproven"


@pytest.mark.parametrize("name", ["black_box_half_noise", "black_boxes_half_noise"])
def test_a_black_box_is_refuted_by_statistics(examples: ModuleType, name: str) -> None:
    """True ε = 2 against a claim of 1. An honest one is refuted once in a million; seed fixed."""
    verdict = judge(getattr(examples, name), samples=10_000)
    assert verdict.verdict == "refuted"
    assert 1 < verdict.lower.epsilon <= 2.05
    assert judge(getattr(examples, name), samples=10_000, epsilon="2").verdict == "unproven"


def test_a_black_box_that_spells_the_data_out_is_refuted(examples: ModuleType) -> None:
    assert judge(examples.spells_it_out).verdict == "refuted"


@pytest.mark.parametrize(
    "returned",
    [1, 2.5, "word", None, np.arange(3), (1, "word", None, np.zeros(2))],
    ids=["int", "float", "str", "None", "array", "tuple"],
)
def test_a_black_box_may_return_any_of_the_promised_types(returned: Any) -> None:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=2, low=-1, high=1))
    def constant(rewards: Any, rng: Any) -> Any:
        return returned

    assert judge(constant, samples=200).verdict == "unproven"


def test_a_loss_of_the_joint_view_does_not_refute_a_claim_about_actions(examples: ModuleType) -> None:
    assert judge(examples.silent).verdict != "refuted"
    loud = judge(examples.loud, samples=10_000)
    assert loud.verdict == "refuted"
    assert loud.claim.observer == "actions"


def test_a_claim_with_delta_is_judged_at_its_delta(examples: ModuleType) -> None:
    # Lap(1) at sensitivity 2: P(S) − e·P'(S) is at most 1 − e^((1−2)/2) = .393 at ε = 1
    assert judge(examples.half_noise, epsilon="1", delta="1e-6", samples=10_000).verdict == "refuted"
    assert judge(examples.half_noise, epsilon="1", delta="1/2", samples=10_000).verdict != "refuted"


def laplace_sum(scale: Any, neighbours: Any, sensitivity: Any = 2) -> Any:
    @dp.subject(claim=dp.Claim(epsilon="1"), neighbours=neighbours)
    def mechanism(rewards: Any, channel: Any) -> Any:
        return channel.release("sum", rewards.sum(), dp.Laplace(scale=scale), sensitivity=sensitivity)

    return mechanism


def test_neighbours_may_add_or_remove_a_record() -> None:
    neighbours = dp.add_remove(n=20, low=-1, high=1)
    honest = judge(laplace_sum(1, neighbours, sensitivity=1))
    assert honest.verdict == "certified"
    assert honest.upper.epsilon == 1
    assert judge(laplace_sum("1/2", neighbours, sensitivity=1)).verdict == "refuted"


def test_neighbours_may_be_a_list_of_pairs() -> None:
    pairs = [(np.array([1.0, 0.5, 0.0]), np.array([-1.0, 0.5, 0.0]))]
    assert judge(laplace_sum(2, pairs)).verdict != "refuted"
    assert judge(laplace_sum(1, pairs)).verdict == "refuted"


def test_neighbours_may_be_a_hypothesis_strategy_of_pairs() -> None:
    record = st.sampled_from([-1.0, 1.0])
    pairs = st.tuples(record, record).map(lambda pair: (np.array([pair[0], 0.5]), np.array([pair[1], 0.5])))
    assert judge(laplace_sum(2, pairs)).verdict != "refuted"
    assert judge(laplace_sum(1, pairs)).verdict == "refuted"


def test_a_larger_claim_is_never_judged_worse(examples: ModuleType) -> None:
    verdicts = [str(judge(examples.half_noise, epsilon=epsilon).verdict) for epsilon in ("1/2", "1", "2", "4")]
    assert verdicts == ["refuted", "refuted", "certified", "certified"]
