"""The gate as SARIF: valid by the standard's own schema, whatever names hold."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from dpaudit.gate.results import Checked
from dpaudit.report.content.check import check_report
from dpaudit.report.formats.sarif import sarif, write

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))  # OASIS, as published


@pytest.mark.parametrize("name", ["everything", "clean", "nothing"])
def test_sarif_is_valid_by_the_standards_own_schema(name: str, gates: dict[str, Checked]) -> None:
    written = json.loads(write(check_report(gates[name])))
    assert written == sarif(gates[name])
    jsonschema.validate(written, SCHEMA, cls=jsonschema.Draft7Validator)


def test_the_schema_refuses_what_is_wrong(gates: dict[str, Checked]) -> None:
    wrong = sarif(gates["everything"])
    wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, SCHEMA, cls=jsonschema.Draft7Validator)


def test_sarif_has_a_result_for_all_that_fails_and_suppresses_what_is_waived(gates: dict[str, Checked]) -> None:
    (run,) = sarif(gates["everything"])["runs"]
    results = run["results"]
    told = [(result["ruleId"], result["level"], bool(result.get("suppressions"))) for result in results]
    assert told == [
        ("DPA004", "error", False),
        ("DPA004", "error", True),
        ("unproven", "error", False),
        ("DPA006", "note", False),
        ("not-checked", "error", False),
        ("DPA008", "error", False),
    ]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in results)
    assert all("What to do" in rule["help"]["markdown"] for rule in rules)
    assert results[0]["partialFingerprints"] == {"dpaudit/v1": "a" * 16}
    where = results[0]["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "service/a%20b%3Ac.py", "uriBaseId": "%SRCROOT%"}
    assert where["region"] == {"startLine": 13}
    assert run["invocations"][0]["executionSuccessful"] is False
    assert sarif(gates["clean"])["runs"][0]["results"] == []
