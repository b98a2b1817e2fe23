"""Findings by rule: what the rule says, what was found, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from dpaudit.claims.rules import RULES
from dpaudit.report.markdown import plain
from dpaudit.report.page import Html, element, text

MOST = 10  # of one rule that are written out


class Told(Protocol):
    """A finding of an audit, an account or the gate."""

    @property
    def rule(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def where(self) -> str: ...


def findings_html(findings: Iterable[Told], heading: str = "h2") -> list[Html]:
    """A heading and a block for each rule; nothing where nothing was found."""
    blocks = []
    for rule, found in _by_rule(findings).items():
        shown = [element("li", one.message, *_where(one)) for one in found[:MOST]]
        more = [element("li", f"and {len(found) - MOST:,} more", class_="soft")] if len(found) > MOST else []
        head = element("p", element("strong", rule), f" {RULES[rule].title}")
        remedy = element("p", element("strong", "What to do: "), with_code(RULES[rule].remedy))
        blocks.append(element("div", head, element("ul", *shown, *more), remedy, class_="finding"))
    return [element(heading, "Findings"), *blocks] if blocks else []


def findings_markdown(findings: Iterable[Told]) -> list[str]:
    """The same as lines of markdown."""
    lines: list[str] = []
    for rule, found in _by_rule(findings).items():
        lines += ["", f"**{rule}** {plain(RULES[rule].title)}", ""]
        lines += [f"- {plain(one.message)}" + (f" ({plain(one.where)})" if _where(one) else "") for one in found[:MOST]]
        lines += [f"- and {len(found) - MOST:,} more"] if len(found) > MOST else []
        lines += ["", f"What to do: {RULES[rule].remedy}"]
    return lines


def with_code(told: str) -> Html:
    """What stands between backquotes is code."""
    return Html("".join(element("code", part) if place % 2 else text(part) for place, part in enumerate(told.split("`"))))


def _by_rule(findings: Iterable[Told]) -> dict[str, Sequence[Told]]:
    groups: dict[str, list[Told]] = {}
    for finding in findings:
        groups.setdefault(finding.rule, []).append(finding)
    return dict(sorted(groups.items()))


def _where(finding: Told) -> list[Html]:
    """Unless the message begins with it."""
    known = not finding.where or finding.message.startswith(finding.where)
    return [] if known else [element("span", f" ({finding.where})", class_="soft")]
