"""The referee report: a paper's claims on one page, each with its verdict, its evidence and what holds instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dpaudit.papers import VERDICTS, Decided
from dpaudit.report.page import Html, badge, element, facts, page, rows


def claims_html(decided: Sequence[Decided]) -> str:
    counts = Counter(each.verdict for each in decided)
    total = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    stale = [each for each in decided if each.stale]
    body = [element("h1", "The claims, decided"), element("p", f"{len(decided)} claims: {total or 'none'}.", class_="soft")]
    if stale:
        names = ", ".join(each.id for each in stale)
        body.append(element("p", f"Stale, because the code they cover has changed since: {names}.", class_="bad"))
    body.append(rows(["claim", "where", "verdict", "evidence"], [_row(each) for each in decided]))
    body += [_section(each) for each in decided]
    return page("The claims, decided", body)


def _row(one: Decided) -> list[Any]:
    return [element("a", one.id, href=f"#{one.id}"), one.where, badge(one.verdict), one.summary]


def _section(one: Decided) -> Html:
    parts: list[Any] = [element("h2", one.id, " ", badge(one.verdict)), element("p", one.statement)]
    parts.append(element("p", one.where, class_="soft"))
    parts.append(element("p", element("strong", one.summary)))
    plain: dict[str, Any] = {}
    for name, value in one.evidence.items():
        if name == "figures":
            parts += list(_figures(value))
        elif isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
            header = list(dict.fromkeys(key for row in value for key in row))
            parts += [element("p", name, class_="soft"), rows(header, [[_cell(row.get(key)) for key in header] for row in value])]
        elif name != "summary":
            plain[name] = _cell(value)
    if one.correction is not None:
        plain["instead"] = _cell(one.correction)
    plain["covers"] = element("span", ", ".join(one.code), class_="soft")
    if one.stale:
        plain["stale"] = ", ".join(one.stale)
    return element("section", *parts, facts(plain), id=one.id)


def _figures(value: Any) -> Iterator[Html]:
    """Drawn by the paper's own code, so their SVG is taken as it is."""
    for figure in value:
        yield element("figure", Html(figure["svg"]), element("figcaption", figure.get("caption", "")))


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_cell(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(str(_cell(each)) for each in value)
    return value
