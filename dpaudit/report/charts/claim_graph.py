"""Which claim rests on which: theorem, lemma, step, one row each, indented below what needs it and coloured by its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from dpaudit.papers.checks import Decided
from dpaudit.report.charts.svg_shapes import LEFT, WIDTH, drawing, label, line
from dpaudit.report.document import Figure, Line, Link, Listing

MARKS = {"verified": "✓", "refuted": "✗", "conditional": "~", "unchecked": "?"}
TONES = {"verified": "var(--good)", "refuted": "var(--bad)", "conditional": "var(--open)", "unchecked": "var(--soft)"}
_ROW, _INDENT, _RADIUS = 24, 18, 9
_LETTER = 7.0  # units that a letter of a label takes, roughly: a longer one is cut off at the right edge


@dataclass(frozen=True)
class Row:
    """One line of the drawing. ``again``: it stands further up with what it needs; ``broken``: by the repair above, alone."""

    one: Decided
    depth: int
    parent: int | None
    again: bool = False
    broken: bool = False


def rows_below(roots: Sequence[Decided], claims: Mapping[str, Decided], before: Iterable[str] = ()) -> list[Row]:
    """Depth first, every claim with its needs once. ``before``: claims that another drawing further up has."""
    rows: list[Row] = []
    drawn = set(before)

    def add(one: Decided, depth: int, parent: int | None) -> None:
        again = one.id in drawn and any(name in claims for name in (*one.needs, *one.breaks))
        drawn.add(one.id)
        rows.append(Row(one, depth, parent, again))
        place = len(rows) - 1
        if again:
            return
        rows.extend(Row(claims[name], depth + 1, place, broken=True) for name in one.breaks if name in claims)
        for name in one.needs:
            if name in claims:
                add(claims[name], depth + 1, place)

    for root in roots:
        add(root, 0, None)
    return rows


def claim_graph(roots: Sequence[Decided], claims: Mapping[str, Decided], caption: Line, before: Iterable[str] = ()) -> Figure:
    """The claims that these rest on. Where nothing can be drawn, a list says the same."""
    rows = rows_below(roots, claims, before)
    inside = "".join(_edge(place, row) for place, row in enumerate(rows)) + "".join(
        _node(place, row) for place, row in enumerate(rows)
    )
    described = f"{', '.join(one.id for one in roots)} and the claims below: " + ", ".join(
        f"{row.one.id} {row.one.verdict}" for row in rows if not row.again
    )
    return Figure(drawing(inside, _ROW * len(rows) + 8, described), caption, (Listing([_words(row) for row in rows]),))


def _place(place: int, row: Row) -> tuple[float, float]:
    return LEFT + _INDENT * row.depth, _ROW * place + _ROW / 2 + 4


def _edge(place: int, row: Row) -> str:
    if row.parent is None:
        return ""
    x, y = _place(place, row)
    left, top = x - _INDENT, _ROW * row.parent + _ROW / 2 + 4
    colour, dash = ("var(--bad)", "4 3") if row.broken else ("var(--line)", "")
    return line(left, top + _RADIUS, left, y, colour, 1.5, dash) + line(left, y, x - _RADIUS, y, colour, 1.5, dash)


def _node(place: int, row: Row) -> str:
    x, y = _place(place, row)
    one, tone = row.one, "var(--bad)" if row.broken else TONES[row.one.verdict]
    filled = "none" if row.again or row.broken else tone
    mark = "✗" if row.broken else MARKS[one.verdict]
    ink = "var(--paper)" if filled == tone else tone
    shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}" fill="{filled}" stroke="{tone}" stroke-width="1.5"/>'
    sign = f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle" style="stroke:none;fill:{ink}">{mark}</text>'
    words = _label(row)
    room = int((WIDTH - x - _RADIUS - 6) / _LETTER)
    text = label(x + _RADIUS + 5, y + 4.5, words if len(words) <= room else words[: room - 1] + "…", "start")
    title = f"<title>{escape(f'{one.id}: {one.verdict}, {one.summary}')}</title>"
    return f'<a href="#{escape(one.id, quote=True)}">{title}{shape}{sign}{text}</a>'


def _label(row: Row) -> str:
    if row.broken:
        return f"alone breaks {row.one.id}"
    return f"{row.one.id} ↑" if row.again else row.one.id


def _words(row: Row) -> Line:
    marks = "· " * row.depth + ("✗ alone breaks " if row.broken else f"{MARKS[row.one.verdict]} ")
    return (marks, Link(row.one.id, row.one.id), " (above)" if row.again else f" {row.one.verdict}")


def unneeded(claims: Sequence[Decided]) -> list[Decided]:
    """The claims that no other rests on."""
    needed = {name for one in claims for name in (*one.needs, *one.breaks)}
    return [one for one in claims if one.id not in needed]
