"""Tables that fit: cells are wrapped between words; what is still too wide goes on below, with its first columns again."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

GAP = 2
UNNAMED = 4  # columns of a table whose cells are understood without their names
WORD = 60  # columns of a word; a longer one is broken


def fitted(header: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[str]:
    """Lines of at most ``room`` columns."""
    every = [list(header), *[list(row) for row in rows]]
    named = _telling_columns(rows, min(3, len(header)))
    parts = [named]
    for place in range(len(named), len(header)):
        wider = [*parts[-1], place]
        if parts[-1] == named or _widths(_pick_columns(every, wider), room) is not None:
            parts[-1] = wider
        else:
            parts.append([*named, place])
    tables = [_pick_columns(every, part) for part in parts]
    if any(_widths(part, room) is None for part in tables):
        return _paragraphs(header, rows, room)
    return [line for number, part in enumerate(tables) for line in ([""] if number else []) + _table(part, room)]


def _telling_columns(rows: Sequence[Sequence[str]], most: int) -> list[int]:
    """The first columns that tell the rows apart, the first alone if none do."""
    enough = (count for count in range(1, most + 1) if len({tuple(row[:count]) for row in rows}) == len(rows))
    return list(range(next(enough, 1)))


def _pick_columns(every: Sequence[Sequence[str]], places: Sequence[int]) -> list[list[str]]:
    return [[row[place] for place in places] for row in every]


def _table(every: Sequence[Sequence[str]], room: int) -> list[str]:
    widths = _widths(every, room) or []
    rule = (" " * GAP).join("─" * width for width in widths)
    return [*_lines(every[0], widths), rule, *(line for row in every[1:] for line in _lines(row, widths))]


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: a hat over a letter takes none."""
    return sum(not unicodedata.combining(letter) for letter in text)


def _widths(every: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """The widest entry where there is room, else the longest word and what is left over; None when words do not fit."""
    natural = [max(columns(row[place]) for row in every) for place in range(len(every[0]))]
    least = [min(max(columns(word) for row in every for word in row[place].split(" ")), WORD) for place in range(len(every[0]))]
    left = room - GAP * (len(natural) - 1) - sum(least)
    if left < 0:
        return None
    widths = list(least)
    for _ in range(min(left, sum(natural) - sum(least))):
        lines = [full / max(width, 1) for full, width in zip(natural, widths, strict=True)]
        widths[lines.index(max(lines))] += 1  # the column that would have the most lines
    return widths


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = [textwrap.wrap(cell, width + len(cell) - columns(cell)) or [""] for cell, width in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    filled = [cell + [""] * (height - len(cell)) for cell in cells]
    return [
        (" " * GAP).join(part + " " * (width - columns(part)) for part, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*filled, strict=True)
    ]


def _paragraphs(header: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[str]:
    made = []
    for row in rows:
        cells = "; ".join(f"{name}: {cell}" for name, cell in zip(header, row, strict=True) if cell)
        made += textwrap.wrap(cells, room, initial_indent="• ", subsequent_indent="  ")
    return made


def stacked(header: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[str]:
    """Without columns: all cells of a row but the last on its first line, the last one below. Many cells are named, as their
    place no longer tells what they are."""
    lines = []
    for name, *between, last in rows:
        named = (
            between
            if len(header) <= UNNAMED
            else [f"{column} {cell}" for column, cell in zip(header[1:-1], between, strict=True) if cell]
        )
        head = f"{name}: {', '.join(named)}" if named else name
        lines += textwrap.wrap(head, room, subsequent_indent="    ")
        lines += textwrap.wrap(last, room, initial_indent="    ", subsequent_indent="    ")
    return lines
