"""A claim says whether it is about floats or about real numbers; JSON says so only where it is not about the code as it runs."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

import jsonschema
import pytest

import dpaudit as dp
from dpaudit.certificate.facts.configuration import configuration_of
from dpaudit.claims import InvalidValue
from dpaudit.report.content.audit import audit_report
from dpaudit.report.formats import write


@dp.subject(claim=dp.Claim(epsilon="1", arithmetic="ideal"), neighbours=dp.replace_one(n=10, low=-1, high=1))
def ideal_sum(rewards: Any, channel: Any) -> Any:
    return channel.release("sum", rewards.sum(), dp.Laplace(scale=2), sensitivity=2)


def test_a_claim_is_about_the_code_as_it_runs_unless_it_says_otherwise() -> None:
    assert dp.Claim("1") == dp.Claim("1", arithmetic="float") != dp.Claim("1", arithmetic="ideal")
    assert dp.Claim("1", "1e-6").to_dict() == {"epsilon": "1", "delta": "1e-6"}
    assert dp.Claim("1", arithmetic="ideal").to_dict() == {"epsilon": "1", "delta": "0", "arithmetic": "ideal"}
    assert str(dp.Claim("1")) == "ε=1"
    assert str(dp.Claim("1", "1/4", arithmetic="ideal")) == "ε=1, δ=0.25, ideal arithmetic"
    with pytest.raises(InvalidValue, match="arithmetic must be float or ideal"):
        dp.Claim("1", arithmetic="exact")


def test_an_audit_says_so_in_json_and_in_every_format() -> None:
    ideal, plain = dp.audit(ideal_sum, seed=1), dp.audit(ideal_sum, seed=1, arithmetic="float")
    schema = json.loads((importlib.resources.files("dpaudit") / "schemas" / "audit.json").read_text(encoding="utf-8"))
    for verdict in (ideal, plain):
        jsonschema.validate(json.loads(verdict.to_json()), schema, cls=jsonschema.Draft202012Validator)
    assert ideal.to_dict()["arithmetic"] == "ideal"
    assert "arithmetic" not in plain.to_dict()
    for form in ("text", "html", "markdown"):
        assert "ideal arithmetic" in write(form, audit_report([ideal]))
        assert "ideal arithmetic" not in write(form, audit_report([plain]))
    assert ideal.verdict == plain.verdict == "certified"


def test_a_certificate_binds_the_arithmetic() -> None:
    plain = dp.Claim("1")
    assert configuration_of(ideal_sum, ideal_sum.claim)["claim"]["arithmetic"] == "ideal"
    assert set(configuration_of(ideal_sum, plain)["claim"]) == {"epsilon", "delta", "observer"}
