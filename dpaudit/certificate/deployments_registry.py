"""A certificate in the fields of the OpenDP Differential Privacy Deployments Registry (registry.opendp.org).

Field names are those of the template in opendp/deployments-registry-data (2026). JSON is YAML, so the file can be added there.
What a certificate cannot know (who publishes what, where, for which use) is left empty for people to fill in: ``to_fill``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dpaudit.certificate.envelope import Opened
from dpaudit.claims import exact, float_up

MODELS = {"central": "Central", "local": "Local", "shuffled": "Shuffle"}


def registry_entry(opened: Opened) -> dict[str, Any]:
    """A draft of tier 3 for the registry."""
    certified = opened.predicate
    guarantee, delta = certified["guarantee"], certified["guarantee"]["delta"]
    pure = delta == "0"
    name = str(certified["name"])
    parameters = {"epsilon": _number(guarantee["epsilon"]), **({} if pure else {"delta": _number(delta)})}
    return {
        "url_slug": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "deployment",
        "deployment": {
            "basic": {
                "name": name, "data_curators": [{"data_curator_name": "", "data_curator_type": ""}], "description": "",
                "intended_use": "", "data_product_type": "", "data_product_region": "", "data_product_sector": "",
                "publication_date": str(certified["issued"])[:10],
            },
            "dp_variant": {
                "variant_name": "Pure DP" if pure else "Approximate DP", "data_domain": _domain(certified),
                "unprotected_quantities": "Number, order and size of releases, and all that is not computed from records.",
            },
            "privacy_loss": {
                "privacy_unit": certified["unit"], "privacy_unit_details": certified["neighbours"], "number_of_privacy_units": 1,
                "privacy_parameters": parameters,
                "privacy_parameters_details": f"Exactly: epsilon {guarantee['epsilon']}, delta {delta}. {_interval(guarantee)}",
            },
            "deployment_model": _model(certified),
            "implementation": _implementation(certified, opened),
            "administrative": {"evidence_sources": {}, "status": "Draft", "registry_authors": [""], "tier": 3},
        },
    }  # fmt: skip


def _model(certified: Mapping[str, Any]) -> dict[str, str]:
    releases = sum(int(group["count"]) for group in certified["releases"])
    return {
        "model_name": MODELS[certified["trust_model"]["model"]], "model_name_details": certified["trust_model"]["meaning"],
        "trust_assumptions": "\n".join(f"- {a['flag']}: {a['meaning']}" for a in certified["assumptions"]),
        "actors": f"The guarantee is for the observer '{certified['observer']}'.",
        "release_type": "One release" if releases == 1 else "Many releases",
        "release_type_details": f"{releases} releases, none beyond the budget", "data_source_type": "",
        "data_source_type_details": "", "access_type": "", "access_type_details": "",
    }  # fmt: skip


def _implementation(certified: Mapping[str, Any], opened: Opened) -> dict[str, str]:
    composition = certified["theorems"]["composition"]
    return {
        "preprocessing_and_hyperparameter_tuning": "", "mechanisms": _mechanisms(certified),
        "composition": f"{composition['method']}; {composition['rule']}",
        "post_processing": "", "justification": str(certified["assurance"]["meaning"]), "utility": "",
        "additional_information": f"dpaudit certificate signed by {opened.keyid}; "
        + ", ".join(f"{name} sha256:{digest}" for name, digest in opened.digests.items()),
    }  # fmt: skip


def to_fill(entry: Mapping[str, Any]) -> list[str]:
    """The fields that people must fill in: those that are still empty."""
    empty: list[str] = []

    def walk(value: Any, path: str) -> None:
        if value == "":
            empty.append(path)
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
            walk(inner, f"{path}.{key}" if path else str(key))

    walk(dict(entry), "")
    return empty


def _number(text: str) -> float:
    """The registry has floats; the exact text stands in the details. One whose shortest decimal is the text, else rounded up."""
    value = exact(text)
    return float(value) if exact(float(value)) == value else float_up(value)


def _interval(guarantee: Mapping[str, Any]) -> str:
    return f"Proven: epsilon <= {guarantee['interval']['upper']}; attacked: epsilon >= {guarantee['interval']['lower']}."


def _domain(certified: Mapping[str, Any]) -> str:
    records = certified["horizon"]["records"]
    return "Data sets of records" + (f", {records} at most" if records is not None else "") + f"; {certified['neighbours']}."


def _mechanisms(certified: Mapping[str, Any]) -> str:
    lines = [
        f"- {group['count']} x {group['mechanism']} {dict(group['parameters'])}, sensitivity {group['sensitivity']['proven']} "
        f"(proven): {group['theorem']}"
        for group in certified["releases"]
    ]
    return "\n".join([*lines, f"- Noise: {certified['noise']['arithmetic']}; {certified['noise']['generator']}."])
