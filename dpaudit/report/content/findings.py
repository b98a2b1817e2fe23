"""Findings by rule: what the rule says, what was found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from dpaudit.claims.rules import RULES
from dpaudit.report.document import Aside, Block, Heading, Line, Listing, Paragraph, Part, Styled, with_code

MOST = 10  # of one rule that are written out


class RuleFinding(Protocol):
    """A finding of an audit, an account or the gate."""

    @property
    def rule(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def where(self) -> str: ...


F = TypeVar("F", bound=RuleFinding)


def finding_blocks(
    findings: Iterable[F], level: int = 2, title: str = "Findings", more: Callable[[F], str] = lambda _: ""
) -> list[Block]:
    """A heading and a block for each rule; nothing where nothing was found. ``more``: what else is said of a finding."""
    groups: dict[str, list[F]] = {}
    for finding in findings:
        groups.setdefault(finding.rule, []).append(finding)
    blocks = [_of_rule(rule, group, more) for rule, group in sorted(groups.items())]
    return [Heading(title, level), *blocks] if blocks else []


def _of_rule(rule: str, group: Sequence[F], more: Callable[[F], str]) -> Aside:
    items: list[Line] = [(one.message, *_place(one), *([Styled(f" {more(one)}", "soft")] if more(one) else [])) for one in group]
    left = len(items) - MOST
    shown = items[:MOST] + ([Styled(f"and {left:,} more", "soft")] if left > 0 else [])
    title = Paragraph((Styled(rule, "strong"), f" {RULES[rule].title}"))
    return Aside((title, Listing(shown), what_to_do(RULES[rule].remedy)))


def what_to_do(remedy: str) -> Paragraph:
    return Paragraph((Styled("What to do: ", "strong"), *with_code(remedy)))


def _place(finding: RuleFinding) -> tuple[Part, ...]:
    """Unless the message begins with it."""
    known = not finding.where or finding.message.startswith(finding.where)
    return () if known else (Styled(f" ({finding.where})", "soft"),)
