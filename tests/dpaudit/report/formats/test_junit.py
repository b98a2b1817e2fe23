"""The gate as JUnit XML: well formed, whatever messages hold."""

from __future__ import annotations

from xml.etree import ElementTree

from dpaudit.gate.results import Checked
from dpaudit.report.content.check import check_report
from dpaudit.report.formats.junit import write


def test_junit_is_xml_with_a_case_per_budget_whatever_the_messages_hold(gates: dict[str, Checked]) -> None:
    root = ElementTree.fromstring(write(check_report(gates["everything"])))
    (suite,) = root
    cases = {case.get("name"): {child.tag for child in case} - {"properties"} for case in suite.iter("testcase")}
    assert cases == {
        "holds": set(),
        "fails": {"failure"},
        "waived": {"system-out"},
        "unproven": {"failure"},
        "noted": {"system-out"},
        "gone": {"error"},
        "c" * 16: {"failure"},
    }
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["7", "3", "1"]
    failure = next(suite.iter("failure"))
    assert "<script>" in failure.get("message", "")
    assert "\x00" not in write(check_report(gates["everything"]))
