"""Findings by rule, with what to do said once."""

from __future__ import annotations

from dpaudit.claims import Finding
from dpaudit.report.content.findings import MOST, finding_blocks
from dpaudit.report.formats.html import html
from dpaudit.report.formats.markdown import markdown
from dpaudit.report.formats.text import text_lines


def test_findings_of_one_rule_share_what_to_do_and_many_are_counted() -> None:
    blocks = finding_blocks([*(Finding("DPA003", f"release {k} <b>", "here") for k in range(25)), Finding("DPA001", "too much")])
    page, comment = "".join(map(html, blocks)), "\n\n".join(markdown(blocks))
    for shown in (page, comment, "\n".join(text_lines(blocks))):
        assert shown.index("DPA001") < shown.index("DPA003")
        assert shown.count("What to do") == 2
        assert f"and {25 - MOST} more" in shown
    assert "<b>" not in page
    assert r"\<b\>" in comment
    assert finding_blocks([]) == []


def test_a_place_that_begins_the_message_is_not_said_twice_and_more_can_be_said() -> None:
    known, other = Finding("DPA001", "a.py:3 is wrong", "a.py:3"), Finding("DPA001", "wrong", "a.py:3")
    (_, aside) = finding_blocks([known, other], more=lambda one: "[f]")
    shown = html(aside)
    assert shown.count("a.py:3") == 2
    assert shown.count("[f]") == 2
