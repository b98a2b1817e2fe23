"""Of a project's waivers, a certificate lists those in force that name a finding about what it certifies."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from dpaudit.certificate import AuditEvidence, audit_subject
from dpaudit.claims import Claim
from dpaudit.gate.certificate_waivers import waivers_of
from dpaudit.gate.policy import Config, GateBudget
from dpaudit.gate.results import SourcePlace, Waiver
from dpaudit.gate.subject_budgets import judge_subject
from dpaudit.gate.waivers import note
from dpaudit.subjects.targets import subjects_of

UNDERSTATED = """
import dpaudit as dp

@dp.subject(claim=dp.Claim(epsilon="1"), neighbours=dp.replace_one(n=10, low=-1, high=1))
def understated(ratings, channel):
    return channel.release("sum", ratings.sum(), dp.Laplace(scale=4), sensitivity=1)
"""
TODAY = datetime.now(UTC).date()


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Certified at half its claim, with a finding: it declares half of its sensitivity."""
    (tmp_path / "understated.py").write_text(UNDERSTATED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "understated.py:understated"


@pytest.fixture
def audited(target: str) -> AuditEvidence:
    return audit_subject(subjects_of(target)[0], seed=1)


def config(target: str, fingerprint: str, expires: date) -> Config:
    budget = GateBudget("ratings", Claim("1"), subject=target)
    return Config(Path.cwd(), None, (budget,), (Waiver("DPA003", fingerprint, "known", "us", expires),))


def test_a_waiver_counts_where_the_gate_counts_it(target: str, audited: AuditEvidence) -> None:
    budget = GateBudget("ratings", Claim("1"), subject=target)
    (noted,) = note(judge_subject(budget, 1, 1e-6), budget, SourcePlace("x", 1), [], TODAY)
    assert noted.rule == "DPA003"
    held = config(target, noted.fingerprint, TODAY)
    assert [waiver.owner for waiver in waivers_of(held, target, audited, None, None)] == ["us"]
    expired = config(target, noted.fingerprint, TODAY - timedelta(days=2))
    assert waivers_of(expired, target, audited, None, None) == []
    other = config(target, "0" * 16, TODAY)
    assert waivers_of(other, target, audited, None, None) == []
    assert waivers_of(held, "another.py:subject", audited, None, None) == []
