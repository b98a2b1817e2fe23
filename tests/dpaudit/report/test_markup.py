"""HTML that is safe by construction."""

from __future__ import annotations

from dpaudit.report.markup import Html, element, text


def test_what_is_no_html_is_escaped_once() -> None:
    inside = element("b", "<i>", class_='a"b', id="")
    assert inside == '<b class="a&quot;b">&lt;i&gt;</b>'
    assert element("p", inside, " & ", aria_label="x") == f'<p aria-label="x">{inside} &amp; </p>'
    assert text(Html("<br>")) == "<br>"
