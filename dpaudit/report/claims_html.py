"""The referee report: a paper's claims on one page, each with its verdict, its evidence and what holds instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from dpaudit.papers.checks import Decided
from dpaudit.report.claims_notes import COMPUTED, Source, counted, made, warnings
from dpaudit.report.claims_values import as_table, shown_evidence, told
from dpaudit.report.drawings import figure
from dpaudit.report.formulas import formula
from dpaudit.report.page import Html, badge, element, facts, page, rows

TITLE = "The claims, decided"
STYLE = """
sub, sup { font-size: .75em; line-height: 0; white-space: nowrap; } .word { white-space: nowrap; }
.note { border-left: 3px solid var(--open); background: var(--band); padding: .4rem .8rem; margin: .6rem 0; }
.note code { background: none; padding: 0; } .note.bad { border-color: var(--bad); }
nav ul { list-style: none; margin: .3rem 0; padding: 0; } nav li { margin: .5rem 0; }
nav li a { display: inline-block; margin: 0 .7rem 0 0; }
th { white-space: normal; vertical-align: bottom; } /* a shadow where a table goes on */
.wide { background: linear-gradient(90deg, var(--paper) 30%, transparent) 0 0 / 3rem 100% no-repeat local,
  linear-gradient(270deg, var(--paper) 30%, transparent) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(90deg, #8888, transparent) 0 0 / .8rem 100% no-repeat scroll,
  linear-gradient(270deg, #8888, transparent) 100% 0 / .8rem 100% no-repeat scroll; }
.claims table { width: 100%; } .claims td:first-child { min-width: 9rem; }
.back { float: right; font-size: .85rem; font-weight: 400; } .label { color: var(--soft); margin: .9rem 0 0; }
dl { grid-template-columns: fit-content(13rem) minmax(0, 1fr); } dl dl { margin: 0; font-size: .92em; }
figure svg { width: auto; max-width: 100%; }
@media screen and (prefers-color-scheme: dark) { figure svg { filter: invert(.91) hue-rotate(180deg); } }
@media (max-width: 40rem) {
  dl { grid-template-columns: minmax(0, 1fr); }
  dl dl { grid-template-columns: fit-content(45%) minmax(0, 1fr); padding-left: .8rem; border-left: 2px solid var(--line); }
  dl dl dt { margin: 0; } .claims thead { display: none; }
  .claims tr { display: grid; grid-template-columns: 1fr auto; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .claims td { border: 0; padding: 0; grid-column: 1 / 3; } .claims td:nth-child(1) { grid-area: 1 / 1; }
  .claims td:nth-child(2) { color: var(--soft); } .claims td:nth-child(3) { grid-area: 1 / 2; } }
@media print {
  :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --band: #fff; --good: #1a7f37; --bad: #cf222e; --open: #7d5300;
    --link: #000; color-scheme: light; }
  body { font-size: 10.5pt; } .back { display: none; } section { break-inside: auto; } tr, figure, .note { break-inside: avoid; }
  h2, .label { break-after: avoid; } thead { display: table-header-group; }
  .wide { background: none; } .wide table { max-width: 100%; }
  td, th { font-size: .66rem; padding: .1rem .2rem; } th { overflow-wrap: break-word; }
  dl { grid-template-columns: fit-content(9rem) minmax(0, 1fr); } }
"""
COMMAND = re.compile(r"(dpaudit claims .+|--[a-z]+)")
SHORT = 12  # letters of a cell that is never broken


def claims_html(decided: Sequence[Decided], source: Source = COMPUTED) -> str:
    body = [element("h1", TITLE), element("p", counted(decided), class_="soft")]
    how = made(source)
    body += [_note(how, "note")] if how else []
    body += [_note(note, "note bad") for note in warnings(decided, source)]
    body.append(_contents(decided))
    body.append(rows(["claim", "where", "verdict", "evidence"], [_row(each) for each in decided], "wide claims"))
    body += [_section(each) for each in decided]
    return page(TITLE, body, STYLE)


def _note(note: str, class_: str) -> Html:
    """A sentence in which what is typed looks so."""
    parts = COMMAND.split(note)
    return element(
        "p",
        *(element("code", part, class_="word" * (" " not in part)) if place % 2 else part for place, part in enumerate(parts)),
        class_=class_,
    )


def _contents(decided: Sequence[Decided]) -> Html:
    """The claims by how they came out, what is wrong first."""
    lines = []
    for verdict in ("refuted", "unchecked", "conditional", "verified"):
        mine = [each for each in decided if each.verdict == verdict]
        if mine:
            lines.append(element("li", badge(verdict), f" {len(mine)}: ", *(_link(each.id) for each in mine)))
    return element("nav", element("h2", "Contents"), element("ul", *lines), id="contents", aria_label="Contents")


def _link(claim: str) -> Html:
    return Html(element("a", claim, href=f"#{claim}") + " ")


def _row(one: Decided) -> list[Any]:
    return [_link(one.id), formula(one.where), _badges(one), formula(one.summary)]


def _badges(one: Decided) -> Html:
    marks = [badge(one.verdict), *([badge("failed")] if one.failed else []), *([badge("stale")] if one.stale else [])]
    return Html(" ".join(marks))


def _section(one: Decided) -> Html:
    back = element("a", "contents", href="#contents", class_="back")
    parts: list[Any] = [element("h2", back, one.id, " ", _badges(one)), element("p", formula(one.statement), class_="said")]
    parts.append(element("p", formula(one.where), class_="soft"))
    parts.append(element("p", element("strong", formula(one.summary))))
    figures = one.evidence.get("figures", [])
    parts += [figure(each) for each in (figures if isinstance(figures, list) else [figures])]
    plain: dict[str, Any] = {}
    for name, value in shown_evidence(one).items():
        made_table = as_table(value)
        if made_table is not None:
            header, body = made_table
            drawn = rows([formula(cell) for cell in header], [[_cell(cell) for cell in row] for row in body])
            parts += [element("p", formula(name), class_="label"), drawn]
        else:
            plain[formula(name)] = _value(value)
    if one.code:
        plain["covers"] = element("span", ", ".join(one.code), class_="soft")
    if one.stale:
        plain["stale"] = "changed since the evidence was stored: " + ", ".join(one.stale)
    return element("section", *parts, facts(plain), id=one.id)


def _cell(cell: str) -> Html:
    return element("span", formula(cell), class_="word") if len(cell) <= SHORT and " " not in cell else formula(cell)


def _value(value: Any) -> Html:
    if isinstance(value, dict) and len(value) > 1:
        return facts({formula(name): formula(told(each)) for name, each in value.items()})
    return formula(told(value))
