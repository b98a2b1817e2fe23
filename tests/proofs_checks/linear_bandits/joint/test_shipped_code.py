"""What the proofs assume is what the code does: changed constants of the shipped algorithms are noticed."""

from __future__ import annotations

from fractions import Fraction

import pytest

from algorithms.elimination import confidence, setting, shuffled
from proofs_checks.linear_bandits.joint import shipped_code
from proofs_checks.linear_bandits.joint.theorems import theorem1, theorem2, theorem3
from proofs_checks.shared.proof_steps import broken

MODELS = pytest.mark.parametrize("model", ["central", "local", "shuffled"])


@pytest.fixture(autouse=True)
def fresh():
    """Plans are remembered; a planted fault must neither meet old ones nor leave its own."""
    shipped_code._plans.cache_clear()
    yield
    shipped_code._plans.cache_clear()
    shuffled.epsilon0.cache_clear()


@MODELS
def test_the_shipped_code_is_what_the_proofs_assume(model):
    assert shipped_code.noise(model) == 2
    assert shipped_code.maximum() == "active"
    assert broken(shipped_code.code_steps(model, True)) == []


@MODELS
def test_another_corrected_width_in_the_code_is_noticed(model, monkeypatch):
    own = confidence._corrected
    monkeypatch.setattr(confidence, "_corrected", lambda *given: 0.999 * own(*given))
    assert "γ in the code is the corrected γ of the proof" in broken(shipped_code.code_steps(model, True))


@pytest.mark.parametrize("theorem", [theorem1, theorem2])
def test_the_printed_sensitivity_in_the_code_refutes_the_theorem(theorem, monkeypatch):
    monkeypatch.setattr(setting.SameNoise, "sensitivity", Fraction(1))
    assert theorem(True).verdict == "refuted"


def test_a_tight_epsilon0_below_the_rule_leaves_theorem_3_open(monkeypatch):
    shuffled.epsilon0.cache_clear()
    monkeypatch.setattr(shuffled, "_blanket", lambda epsilon, n, delta, steps: epsilon)
    found = theorem3(True)
    assert found.verdict == "conditional"
    assert "tight" in found.evidence["summary"]


def test_a_tight_width_above_the_corrected_one_is_noticed(monkeypatch):
    own = confidence._tight
    monkeypatch.setattr(confidence, "_tight", lambda *given: 2 * own(*given))
    assert "γ_a in the code, tight, is at most the corrected γ" in broken(shipped_code.code_steps("central", True))
