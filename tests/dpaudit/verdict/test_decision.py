"""The order of decisions: a refutation first, a contradiction never silently, a certificate only where all is proven."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.auditors.attack import attack
from dpaudit.auditors.interface import Attack, Case
from dpaudit.claims import Contradiction, Finding, Lower, Upper
from dpaudit.verdict.decision import decide
from dpaudit.verdict.proof import Proof, prove

PLAN = [("sum", dp.Laplace(1), 1)]


def noisy_sum(data: Any, channel: Any) -> Any:
    return channel.release("sum", data.sum(), dp.Laplace(1), sensitivity=1)


def pieces(epsilon: str = "1", plan: Any = PLAN) -> tuple[Any, Proof, Attack]:
    subject = dp.subject(claim=dp.Claim(epsilon), neighbours=dp.replace_one(n=10, low=0, high=1), plan=plan)(noisy_sum)
    proof = prove(subject, subject.claim, 5)
    return subject, proof, attack(Case(subject, subject.claim, confidence=0.95, samples=200, seed=5))


def test_a_proven_bound_below_exact_evidence_is_a_contradiction_that_names_both() -> None:
    subject, proof, found = pieces()
    assert proof.upper is not None
    wrong = replace(proof, upper=replace(proof.upper, epsilon=Fraction(1, 2)))
    with pytest.raises(Contradiction) as raised:
        decide(subject, subject.claim, wrong, found, 5)
    assert (raised.value.upper, raised.value.lower) == (Fraction(1, 2), 1.0)
    decide(subject, subject.claim, proof, found, 5)


@pytest.mark.parametrize("vectorised", [False, True])
def test_on_each_pinned_path_the_exact_loss_may_not_exceed_what_is_accounted(vectorised: bool) -> None:
    """A trace that proved half the move would make an accountant say 1/2 where replay sees a loss of 1."""

    def noisy_sums(data: Any, channel: Any, trials: Any) -> Any:
        return noisy_sum(data, channel)

    mechanism = noisy_sums if vectorised else noisy_sum
    subject = dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=10, low=0, high=1))(mechanism)
    proof, found = prove(subject, subject.claim, 5), attack(Case(subject, subject.claim, 0.95, 200, 5))
    assert decide(subject, subject.claim, proof, found, 5).verdict == "certified"
    wrong = replace(proof, runs=[[replace(release, steps=2**19) for release in run] for run in proof.runs])
    with pytest.raises(Contradiction) as raised:
        decide(subject, subject.claim, wrong, found, 5)
    assert (raised.value.upper, raised.value.lower) == (Fraction(1, 2), 1.0)
    known = replace(wrong, findings=[Finding("DPA003", "declared too small")])  # then the bound is no proof as declared
    decide(subject, subject.claim, known, found, 5)


def test_a_subject_that_replay_saw_exceed_its_claim_is_not_certified_by_a_budget() -> None:
    """The sealed runs fit through the door by luck; one of the replayed ones would not have."""

    def overspends(data: Any, channel: Any) -> Any:
        first = channel.release("sum", data.sum(), dp.Laplace(2), sensitivity=1)
        return channel.release("second", data.sum(), dp.Laplace(1 if first > 8 else 2), sensitivity=1)

    subject = dp.subject(claim=dp.Claim("1"), neighbours=dp.replace_one(n=10, low=0, high=1))(overspends)
    proofs = (prove(subject, subject.claim, seed) for seed in range(50))
    proof = next(one for one in proofs if one.upper is not None and one.upper.path == "enforced")
    found = replace(attack(Case(subject, subject.claim, 0.95, 200, 5)), refuted=False, exact=None, findings=())
    verdict = decide(subject, subject.claim, proof, found, 5)
    assert (str(verdict.verdict), verdict.upper and verdict.upper.path) == ("unproven", "observed")
    assert "1.5" in verdict.reason


@pytest.mark.parametrize(("level", "contradicts"), [(1.2, True), (0.95, False)])
def test_an_estimate_above_a_proven_bound_is_no_contradiction_but_a_sure_bound_is(level: float, contradicts: bool) -> None:
    """The 95 % estimate errs once in twenty; what refutes errs once in a million."""
    subject, proof, _ = pieces("0.9")
    found = Attack(Lower(1.1, 0.95, "game", 100), refuted=True, level=level, reason="statistics")
    if contradicts:
        with pytest.raises(Contradiction):
            decide(subject, subject.claim, proof, found, 5)
    else:
        assert decide(subject, subject.claim, proof, found, 5).verdict == "refuted"


def test_a_refutation_comes_before_everything_else() -> None:
    subject, proof, found = pieces("0.9")
    assert found.refuted
    assert decide(subject, subject.claim, proof, found, 5).verdict == "refuted"
    assert decide(subject, subject.claim, Proof(None, None, []), found, 5).verdict == "refuted"


@pytest.mark.parametrize("rule", ["DPA002", "DPA005", "DPA006"])
def test_a_blocking_finding_prevents_a_certificate(rule: str) -> None:
    subject, proof, found = pieces()
    found = replace(found, findings=[*found.findings, Finding(rule, "something", "here")])
    verdict = decide(subject, subject.claim, proof, found, 5)
    assert verdict.verdict == "unproven"
    assert rule in verdict.reason


@pytest.mark.parametrize("change", [{"sensitivity": "declared"}, {"path": "observed"}, {"epsilon": Fraction(11, 10)}])
def test_a_certificate_needs_proven_sensitivity_a_closed_path_and_a_bound_within_the_claim(change: Any) -> None:
    subject, proof, found = pieces()
    assert isinstance(proof.upper, Upper)
    weaker = replace(proof, upper=replace(proof.upper, **change))
    assert decide(subject, subject.claim, proof, found, 5).verdict == "certified"
    assert decide(subject, subject.claim, weaker, found, 5).verdict == "unproven"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (None, "certified behind its door: budget ε=2, proven releases only; the paths that ran cost ε ≤ 1"),
        (
            [("sum", dp.Laplace(1), 1)],
            "certified: its releases are fixed by its plan, and each one's sensitivity is proven by its trace",
        ),
    ],
)
def test_what_a_certificate_rests_on_is_said_in_words(plan: Any, words: str) -> None:
    subject, proof, found = pieces("2", plan)
    verdict = decide(subject, subject.claim, proof, found, 5)
    assert (str(verdict.verdict), verdict.reason) == ("certified", words)
