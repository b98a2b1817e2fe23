"""What a certificate says: every field is there, and right by another route."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.certificate import audit_subject, read_ledger, refuse, relied_upon, sign, statement
from dpaudit.certificate.facts.hazards import HAZARDS
from dpaudit.ledger.records.source_digests import sources
from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import make_algorithm

Document = tuple[dict[str, Any], Path]


def validate(document: dict[str, Any], key: Any) -> None:
    schema = json.loads((importlib.resources.files("dpaudit") / "schemas" / "certificate.json").read_text(encoding="utf-8"))
    signed = json.loads(b64decode(json.loads(sign(document, key))["payload"]))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(signed, schema, cls=jsonschema.Draft202012Validator)


def subjects(document: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["digest"]["sha256"] for one in document["subject"]}


def test_it_fits_the_shipped_schema(document: Document, key: Any) -> None:
    validate(document[0], key)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("verdict", "unproven"),
        ("hazards", []),
        ("guarantee", {}),
        ("releases", []),
        ("audit", {}),
        ("observer", "nobody"),
        ("x", 1),
    ],
)
def test_the_schema_refuses_wrong_twins(field: str, wrong: object, document: Document, key: Any) -> None:
    changed = {**document[0], "predicate": {**document[0]["predicate"], field: wrong}}
    with pytest.raises(jsonschema.ValidationError):
        validate(changed, key)


def test_subjects_are_named_by_sha256(document: Document) -> None:
    found = subjects(document[0])
    assert found.keys() == {"dpaudit", "source", "configuration"}
    assert found["source"] == hashlib.sha256(document[1].read_bytes()).hexdigest()
    assert found["dpaudit"] == sources()["dpaudit"]
    configuration = document[0]["predicate"]["configuration"]
    canonical = json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert found["configuration"] == hashlib.sha256(canonical).hexdigest()


def test_the_guarantee_is_exact_and_lies_in_its_interval(document: Document) -> None:
    """Lap(2) on a sum that moves by 2 costs exactly 1, and a transcript attains it."""
    seen = document[0]["predicate"]
    assert seen["guarantee"] == {"epsilon": "1", "delta": "0", "interval": {"lower": "1", "upper": "1", "confidence": 1.0}}
    assert (seen["observer"], seen["unit"], seen["verdict"]) == ("server", "one record", "certified")
    assert seen["neighbours"].startswith("replace_one: ")
    assert seen["horizon"] == {"records": 100, "source": "configuration: n"}
    assert seen["trust_model"]["model"] == "central"
    assert seen["assurance"]["level"] == "proven"
    assert seen["door"] == {"epsilon": "1", "delta": "0", "filter": "pure-sums", "proven": True, "relation": "replace-one"}
    assert {"behind-its-door", "one-ledger", "one-id-per-record"} <= {one["flag"] for one in seen["assumptions"]}


def test_a_release_has_declared_proven_and_observed_sensitivity(document: Document) -> None:
    (release,) = document[0]["predicate"]["releases"]
    assert release["sensitivity"] == {"declared": "2", "proven": "2", "observed": "2"}
    assert (release["mechanism"], release["parameters"]["scale"], release["count"]) == ("laplace", "2", 1)
    assert (release["first"], release["epsilon"], release["in_domain"]) == ("sum", "1", True)
    assert "Dwork" in release["theorem"]
    assert {one["status"] for one in release["preconditions"]} == {"checked"}


def test_the_audit_names_its_adversary_and_its_effort(document: Document) -> None:
    audit = document[0]["predicate"]["audit"]
    assert audit["adversary"]
    assert (audit["pairs"], audit["confidence"], audit["lower"], audit["seed"]) == (12, 1.0, 1.0, 1)
    assert audit["runs"] > 0
    assert audit["detectable"] == 1.0


def test_peers_are_quoted_or_said_to_be_missing(document: Document) -> None:
    peers = document[0]["predicate"]["peers"]
    assert {one["peer"] for one in peers["values"]} == {"opacus", "dp-accounting"}
    assert peers["ours"]["upper"] == "1"
    for one in peers["values"]:
        assert one["epsilon"] is not None or one["note"]
        assert one["epsilon"] is None or (one["agrees"] and one["epsilon"] == pytest.approx(1, rel=1e-3))


def test_every_hazard_has_a_status_and_a_reason(document: Document) -> None:
    hazards = {one["id"]: one for one in document[0]["predicate"]["hazards"]}
    assert list(hazards) == [hazard.id for hazard in HAZARDS]
    assert all(one["status"] in ("met", "not applicable", "not assessed") and one["reason"] for one in hazards.values())
    assert hazards["delta"]["status"] == "not applicable"
    assert hazards["sensitivity"]["status"] == hazards["implementation"]["status"] == "met"
    assert hazards["generator"]["status"] == hazards["collection"]["status"] == "not assessed"


def test_a_ledger_alone_was_not_attacked_and_says_so(deployment: Path, key: Any) -> None:
    ledger = read_ledger(deployment)
    refuse(ledger, None, [])
    found = statement(ledger, None, [], [])
    validate(found, key)
    seen = found["predicate"]
    with dp.open_ledger(deployment, readonly=True) as opened:
        head = opened.head()
    assert subjects(found)["ledger"] == head.root == seen["ledger"]["root"]
    assert (seen["ledger"]["size"], seen["ledger"]["releases"], seen["ledger"]["spent"]["epsilon"]) == (head.size, 1, "1")
    assert (seen["audit"], seen["assurance"]["level"], seen["guarantee"]["interval"]["lower"]) == (None, "enforced", "0")
    assert seen["releases"][0]["sensitivity"] == {"declared": "2", "proven": "2", "observed": None}  # live data is not looked at
    status = {one["id"]: one["status"] for one in seen["hazards"]}
    assert (status["generator"], status["implementation"], status["unit"]) == ("met", "not assessed", "met")
    assert seen["neighbours"].startswith("replace-one: ")  # as the data was sealed
    flags = {one["flag"] for one in seen["assumptions"]}
    assert "written-by-the-door" in flags
    assert not flags & {"behind-its-door", "lost-charges"}


def test_ledger_and_subject_together_reach_the_highest_level(deployment: Path, subject: Subject, key: Any) -> None:
    ledger, audited = read_ledger(deployment), audit_subject(subject, seed=1)
    refuse(ledger, audited, [])
    found = statement(
        ledger, audited, [], [{"rule": "DPA003", "fingerprint": "0" * 16, "reason": "r", "owner": "o", "expires": "e"}]
    )
    validate(found, key)
    seen = found["predicate"]
    assert subjects(found).keys() == {"ledger", "dpaudit", "source", "configuration"}
    assert seen["assurance"]["level"] == "proven and enforced"
    assert seen["waivers"][0]["owner"] == "o"
    status = {one["id"]: one["status"] for one in seen["hazards"]}
    assert (status["generator"], status["implementation"], status["unit"]) == ("met", "met", "met")


@pytest.mark.parametrize(("name", "model", "claims"), [("local", "local", 1), ("shuffled", "shuffled", 2)])
def test_a_registered_algorithm_names_the_claims_it_relies_on(name: str, model: str, claims: int, key: Any) -> None:
    subject = make_algorithm(name, {"epsilon": "1", "horizon": 300})
    audited, relied = audit_subject(subject, seed=1, samples=200), relied_upon(subject)
    refuse(None, audited, relied)
    found = statement(None, audited, relied, [])
    validate(found, key)
    seen = found["predicate"]
    assert seen["claims"][0]["id"] == "fix.noise"
    assert len(seen["claims"]) == claims
    assert all(one["verdict"] == "verified" and one["fresh"] and one["code"] for one in seen["claims"])
    assert seen["trust_model"]["model"] == model
    assert seen["horizon"] == {"records": 300, "source": "configuration: horizon"}
    assert bool(seen["theorems"]["amplification"]) is (name == "shuffled")
    assert ("trusted-shuffler" in {one["flag"] for one in seen["assumptions"]}) is (name == "shuffled")
    assumed = {p["condition"] for r in seen["releases"] for p in r["preconditions"] if p["status"] == "assumed"}
    assert bool(assumed) is (name == "shuffled")


def test_equal_releases_are_one_entry_with_their_number(tmp_path: Path, key: Any) -> None:
    with dp.open_ledger(tmp_path / "many.ledger") as ledger, dp.live(ledger, 1, proven=True) as channel:
        data = dp.seal(np.zeros(40), -1, 1)
        for batch in range(20):
            channel.release(f"batch {batch}", data[2 * batch : 2 * batch + 2].sum(), dp.Laplace(scale=2), sensitivity=2)
    found = statement(read_ledger(tmp_path / "many.ledger"), None, [], [])
    validate(found, key)
    (group,) = found["predicate"]["releases"]
    assert (group["first"], group["last"], group["count"]) == ("batch 0", "batch 19", 20)
    assert found["predicate"]["ledger"]["spent"]["epsilon"] == "1"  # in parallel
    assert found["predicate"]["horizon"]["records"] == 40


def test_a_charge_that_was_lost_in_a_crash_counts_and_is_flagged(tmp_path: Path, key: Any) -> None:
    with dp.open_ledger(tmp_path / "l.ledger") as ledger, dp.live(ledger, 2, proven=True) as channel:
        data = dp.seal(np.zeros(40), -1, 1)
        channel.release("sum", data.sum(), dp.Laplace(scale=2), sensitivity=2)
        (release,) = ledger.releases()
        ledger.charge(release.charge())  # and never stored
    evidence = read_ledger(tmp_path / "l.ledger")
    refuse(evidence, None, [])
    found = statement(evidence, None, [], [])
    validate(found, key)
    assert found["predicate"]["ledger"]["lost_charges"] == 1
    assert found["predicate"]["ledger"]["spent"]["epsilon"] == "2"
    assert "lost-charges" in {one["flag"] for one in found["predicate"]["assumptions"]}


def test_a_zcdp_budget_is_certified_at_its_delta(tmp_path: Path, key: Any) -> None:
    door = {"budget": dp.Claim("2", "1e-6"), "filter": "zcdp", "proven": True}
    with dp.open_ledger(tmp_path / "g.ledger") as ledger, dp.live(ledger, **door) as channel:
        data = dp.seal(np.zeros(40), -1, 1)
        for round_ in range(3):
            channel.release(f"round {round_}", data.sum(), dp.Gaussian(sigma=20), sensitivity=2)
    evidence = read_ledger(tmp_path / "g.ledger")
    refuse(evidence, None, [])
    seen = statement(evidence, None, [], [])
    validate(seen, key)
    door = {"epsilon": "2", "delta": "1e-6", "filter": "zcdp", "proven": True, "relation": "replace-one"}
    assert seen["predicate"]["door"] == door
    assert seen["predicate"]["guarantee"]["delta"] == "1e-6"
    delta = next(one for one in seen["predicate"]["hazards"] if one["id"] == "delta")
    assert delta["status"] == "met"  # 1e-6 is below 1/40
