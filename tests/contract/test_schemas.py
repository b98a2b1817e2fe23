"""The shipped schemas accept the documents of DESIGN.md and reject their wrong twins."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

FINDING = {"rule": "DPA003", "message": "declares sensitivity 1, moves by 2", "where": "policy.py:12"}

DOCUMENTS: dict[str, dict[str, Any]] = {
    "audit": {
        "schema": "dpaudit.audit/1",
        "subject": "policy.py:rank",
        "claim": {"epsilon": "1", "delta": "0"},
        "observer": "server",
        "neighbours": "replace_one",
        "seed": 7,
        "verdict": "refuted",
        "lower": {"epsilon": 1.98, "confidence": 0.95, "method": "game", "samples": 100000},
        "detectable": 1.02,
        "upper": {"epsilon": "2", "method": "pure sum", "sensitivity": "proven", "path": "single"},
        "findings": [FINDING],
        "witness": {"loss": "2"},
        "seconds": 0.4,
    },
    "account": {
        "schema": "dpaudit.account/1",
        "epsilon": "1/2",
        "delta": "1e-6",
        "observers": {
            "server": {"epsilon": "4", "delta": "0"},
            "shuffled": {"epsilon": "0.5", "delta": "1e-6"},
        },
        "worst_client": {"epsilon": "4"},
        "releases": [
            {
                "batch": "batch 1",
                "n": 1000,
                "epsilon0": "4",
                "in_domain": True,
                "epsilon": "1/2",
                "theorem": "FMT21 Thm 3.1",
                "preconditions": "n = 1000 distinct clients",
            }
        ],
        "findings": [],
    },
    "amplify": {
        "schema": "dpaudit.amplify/1",
        "epsilon": {"lower": "0.1824", "upper": "0.1825"},
        "attack": "0.1306",
        "in_domain": True,
        "method": "clone",
    },
    "invert": {
        "schema": "dpaudit.invert/1",
        "epsilon0": {"lower": "6.78", "upper": "6.79"},
        "attack": "0.9",
        "in_domain": True,
        "method": "closed",
    },
    "canaries": {
        "schema": "dpaudit.canaries/1",
        "lower": {"epsilon": 2.1, "confidence": 0.95, "method": "one run", "canaries": 5000},
        "claim": {"epsilon": "8", "delta": "1e-5"},
        "verdict": "unproven",
    },
    "claims": {
        "schema": "dpaudit.claims/1",
        "claims": [
            {
                "id": "thm1.privacy",
                "where": "Theorem 1",
                "statement": "Algorithm 1 as printed is ε-DP",
                "verdict": "refuted",
                "evidence": {"loss": "2"},
                "correction": "Lap(2/ε)",
            }
        ],
    },
    "check": {
        "schema": "dpaudit.check/1",
        "budgets": [
            {
                "name": "recommender",
                "verdict": "certified",
                "epsilon": "1/2",
                "budget": "1",
                "change": None,
                "findings": [],
            }
        ],
        "exit": 0,
    },
    "demo": {
        "schema": "dpaudit.demo/1",
        "rows": [
            {
                "model": "central",
                "calibration": "printed",
                "claim": "1",
                "upper": "2",
                "lower": 2.0,
                "verdict": "refuted",
                "regret": 16387.0,
            }
        ],
    },
    "run": {
        "schema": "dpaudit.run/1",
        "algorithm": "central",
        "calibration": "tight",
        "epsilon": "1",
        "delta": "0",
        "horizon": 10000,
        "regret": 812.5,
    },
}

# (schema, path to the value, wrong value)
WRONG: list[tuple[str, tuple[str | int, ...], object]] = [
    ("audit", ("schema",), "dpaudit.audit/2"),
    ("audit", ("claim", "epsilon"), 1),
    ("audit", ("claim", "epsilon"), "NaN"),
    ("audit", ("claim", "epsilon"), "-1"),
    ("audit", ("observer",), "everybody"),
    ("audit", ("seed",), None),
    ("audit", ("verdict",), "probably"),
    ("audit", ("lower",), None),
    ("audit", ("lower", "confidence"), 95),
    ("audit", ("lower", "epsilon"), "1.98"),
    ("audit", ("upper", "epsilon"), 2.0),
    ("audit", ("upper", "sensitivity"), "guessed"),
    ("audit", ("upper", "path"), "short"),
    ("audit", ("findings", 0, "rule"), "sensitivity"),
    ("audit", ("witness",), []),
    ("account", ("epsilon",), 0.5),
    ("account", ("observers", "server"), "4"),
    ("account", ("observers", "everybody"), {"epsilon": "4", "delta": "0"}),
    ("account", ("worst_client",), None),
    ("account", ("releases", 0, "in_domain"), "yes"),
    ("account", ("releases", 0, "epsilon0"), 4),
    ("canaries", ("lower", "epsilon"), "2.1"),
    ("canaries", ("verdict",), "certified"),
    ("claims", ("claims", 0, "severity"), "bad"),
    ("claims", ("claims", 0, "basis"), "belief"),
    ("claims", ("claims", 0, "needs"), "thm1.sensitivity"),
    ("claims", ("claims", 0, "breaks"), "thm1.sensitivity"),
    ("claims", ("claims", 0, "repairs"), "thm1.sensitivity"),
    ("amplify", ("epsilon",), "0.18"),
    ("amplify", ("epsilon", "lower"), 0.18),
    ("amplify", ("method",), "stronger-clone"),
    ("invert", ("in_domain",), None),
    ("invert", ("epsilon0", "upper"), "1/0"),
    ("claims", ("claims", 0, "verdict"), "certified"),
    ("claims", ("claims", 0, "evidence"), "a plot"),
    ("check", ("exit",), 4),
    ("check", ("budgets", 0, "epsilon"), 0.5),
    ("check", ("budgets", 0, "verdict"), ""),
    ("demo", ("rows",), []),
    ("demo", ("rows", 0, "calibration"), "fixed"),
    ("demo", ("rows", 0, "upper"), 2),
    ("demo", ("rows", 0, "regret"), "16387"),
    ("run", ("horizon",), "10000"),
    ("run", ("epsilon",), 1),
]

REQUIRED = [(name, field) for name, document in DOCUMENTS.items() for field in document]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schema_is_valid_and_accepts_the_document_of_the_design(name: str, validate: Callable[..., None]) -> None:
    validate(DOCUMENTS[name], name)


@pytest.mark.parametrize(("name", "path", "wrong"), WRONG, ids=lambda value: str(value).replace(" ", ""))
def test_schema_rejects_a_wrong_value(
    name: str, path: tuple[str | int, ...], wrong: object, validate: Callable[..., None]
) -> None:
    document: Any = copy.deepcopy(DOCUMENTS[name])
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong
    with pytest.raises(jsonschema.ValidationError):
        validate(document, name)


@pytest.mark.parametrize(("name", "field"), REQUIRED)
def test_schema_requires_every_field_of_the_design(name: str, field: str, validate: Callable[..., None]) -> None:
    document = {key: value for key, value in DOCUMENTS[name].items() if key != field}
    with pytest.raises(jsonschema.ValidationError, match="required"):
        validate(document, name)


@pytest.mark.parametrize(
    ("name", "listed"),
    [("account", "releases"), ("claims", "claims"), ("check", "budgets"), ("demo", "rows")],
)
def test_schema_requires_every_field_of_a_listed_entry(name: str, listed: str, validate: Callable[..., None]) -> None:
    entry = DOCUMENTS[name][listed][0]
    for field in entry:
        shortened = {key: value for key, value in entry.items() if key != field}
        with pytest.raises(jsonschema.ValidationError, match="required"):
            validate({**DOCUMENTS[name], listed: [shortened]}, name)


@pytest.mark.parametrize("upper", [None, {"sensitivity": "tested"}, {"sensitivity": "declared"}, {"path": "observed"}])
def test_schema_accepts_certified_only_with_a_proof(upper: dict[str, str] | None, validate: Callable[..., None]) -> None:
    document = {**DOCUMENTS["audit"], "verdict": "certified", "findings": [], "witness": None}
    validate(document, "audit")
    weaker = None if upper is None else {**document["upper"], **upper}
    validate({**document, "verdict": "unproven", "upper": weaker}, "audit")
    with pytest.raises(jsonschema.ValidationError):
        validate({**document, "upper": weaker}, "audit")


@pytest.mark.parametrize("text", ['{"epsilon": NaN}', '{"epsilon": -Infinity}', '{"epsilon": 1, "epsilon": 2}', "{'a': 1}"])
def test_strict_json_refuses_what_is_not_json(text: str, parse: Callable[[str], Any]) -> None:
    assert parse('{"epsilon": 1}') == {"epsilon": 1}
    with pytest.raises(ValueError, match=r"."):
        parse(text)
