"""The compose file of examples/fleet has the form that it should have; it is not started here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

FILE = Path(__file__).parents[1] / "examples" / "fleet" / "compose.yaml"
# The part of the Compose specification that the file uses, in our words; nothing else may stand in it.
TEXTS = {"type": "array", "items": {"type": "string"}, "minItems": 1}
SERVICE = {
    "type": "object",
    "required": ["image", "healthcheck", "volumes"],
    "additionalProperties": False,
    "properties": {
        "image": {"type": "string", "pattern": "^postgres:[0-9]+$"},
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "command": TEXTS,
        "secrets": TEXTS,
        "ports": TEXTS,
        "volumes": TEXTS,
        "healthcheck": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"test": TEXTS, "interval": {"type": "string"}, "timeout": {"type": "string"}, "retries": {}},
        },
    },
}  # fmt: skip
SCHEMA = {
    "type": "object",
    "required": ["services", "secrets", "volumes"],
    "additionalProperties": False,
    "properties": {
        "services": {"type": "object", "additionalProperties": SERVICE, "minProperties": 1},
        "secrets": {"type": "object", "additionalProperties": {"type": "object", "required": ["file"]}},
        "volumes": {"type": "object"},
    },
}


def read() -> Any:
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def test_the_compose_file_has_its_form_keeps_its_promises_and_no_password() -> None:
    content = read()
    jsonschema.validate(content, SCHEMA)
    service = content["services"]["ledgers"]
    assert "fsync=on" in service["command"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert not any(name.endswith("PASSWORD") for name in service["environment"])
    assert set(service["secrets"]) == set(content["secrets"])


def test_a_wrong_word_in_it_would_be_noticed() -> None:
    content = read()
    content["services"]["ledgers"]["portz"] = []
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, SCHEMA)
