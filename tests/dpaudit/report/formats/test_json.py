"""JSON for programs."""

from __future__ import annotations

import json

from dpaudit.gate.results import Checked
from dpaudit.report.content.check import check_report
from dpaudit.report.formats.json import write


def test_json_is_the_data_letter_by_letter(gates: dict[str, Checked]) -> None:
    written = write(check_report(gates["everything"]))
    assert json.loads(written) == gates["everything"].to_dict()
    assert "ε" in written
    assert written.startswith('{\n  "schema": "dpaudit.check/1",\n')
