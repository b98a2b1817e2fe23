"""The OpenDP registry's fields, by the template of opendp/deployments-registry-data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dpaudit.certificate import audit_subject, open_certificate, registry_entry, sign, statement, to_fill
from dpaudit.subjects.targets import make_algorithm

TEMPLATE = {
    "basic": "name data_curators description intended_use data_product_type data_product_region data_product_sector "
    "publication_date",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details number_of_privacy_units privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name model_name_details trust_assumptions actors release_type release_type_details "
    "data_source_type data_source_type_details access_type access_type_details",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification utility "
    "additional_information",
    "administrative": "evidence_sources status registry_authors tier",
}


def test_the_fields_are_those_of_the_registry(certificate: Path, key: Ed25519PrivateKey) -> None:
    entry = registry_entry(open_certificate(certificate, [key.public_key()]))
    assert set(entry) == {"url_slug", "deployment"}
    assert {part: set(fields) for part, fields in entry["deployment"].items()} == {p: set(f.split()) for p, f in TEMPLATE.items()}
    assert entry["url_slug"] == "noisy-sum"
    deployment = entry["deployment"]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert (deployment["deployment_model"]["model_name"], deployment["deployment_model"]["release_type"]) == (
        "Central",
        "One release",
    )
    assert deployment["administrative"]["status"] == "Draft"
    json.dumps(entry, allow_nan=False)


def test_what_a_certificate_cannot_know_is_left_to_people(certificate: Path) -> None:
    empty = to_fill(registry_entry(open_certificate(certificate)))
    assert "deployment.basic.intended_use" in empty
    assert not any("privacy_loss" in path or "mechanisms" in path for path in empty)


@pytest.mark.parametrize("name", ["shuffled"])
def test_an_approximate_guarantee_keeps_its_delta(name: str, key: Ed25519PrivateKey, tmp_path: Path) -> None:
    audited = audit_subject(make_algorithm(name, {"epsilon": "0.1", "horizon": 300}), seed=1, samples=200)
    document: dict[str, Any] = statement(None, audited, [], [])
    (tmp_path / "c.json").write_text(sign(document, key), encoding="utf-8")
    found = registry_entry(open_certificate(tmp_path / "c.json"))["deployment"]
    assert found["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.1, "delta": 1e-6}
    assert (found["dp_variant"]["variant_name"], found["deployment_model"]["model_name"]) == ("Approximate DP", "Shuffle")
