"""A document as every format reads it: sections of blocks, and what may stand inside a line. Content only, no layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dpaudit.report.markup import Html

Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class Badge:
    """A word that is the outcome of something."""

    text: str
    tone: Tone = "open"


@dataclass(frozen=True)
class Link:
    """To a section's anchor. ``back``: to where the reader came from, for formats in which one can jump."""

    text: str
    anchor: str
    back: bool = False


@dataclass(frozen=True)
class Styled:
    """``code``: what is typed; ``formula``: x_i and 10^-6 are subscripts and superscripts; ``word``: one that is never broken."""

    text: str
    style: Literal["strong", "soft", "code", "word", "formula", "strong formula", "bad"]


Part = str | Badge | Link | Styled
Line = Part | tuple[Part, ...]


@dataclass(frozen=True)
class Heading:
    content: Line
    level: int = 1


@dataclass(frozen=True)
class Paragraph:
    """``note``: to be read before the rest; ``warning``: not to be overlooked; ``quote``: somebody's own words."""

    content: Line
    kind: Literal["", "soft", "note", "warning", "quote"] = ""


@dataclass(frozen=True)
class Table:
    """``roomy``: rather scrolled than with tall rows; ``cards``: name, place, badge and text, which a phone shows as cards.

    ``filters``: words of its badges by which a page lets a reader choose rows, and search them.
    """

    header: Sequence[Line]
    rows: Sequence[Sequence[Line]]
    layout: Literal["", "roomy", "cards"] = ""
    filters: Sequence[str] = ()


@dataclass(frozen=True)
class FactList:
    """Labels and what they stand for. ``column``: where the text begins beside its label on a terminal."""

    pairs: Sequence[Fact]
    column: int = 9


Fact = tuple[Line, Line | Table | FactList]


@dataclass(frozen=True)
class Listing:
    items: Sequence[Line]


@dataclass(frozen=True)
class Contents:
    """Links to the sections, for formats in which one can jump."""

    entries: Sequence[Line]
    anchor: str = "contents"


@dataclass(frozen=True)
class Code:
    """Lines whose columns matter, and commands that are copied."""

    text: str


@dataclass(frozen=True)
class Figure:
    """A drawing; ``words`` stand for it where nothing can be drawn."""

    drawing: Html
    caption: Line = ""
    words: Sequence[Block] = ()


@dataclass(frozen=True)
class Figures:
    """Drawings side by side."""

    figures: Sequence[Figure]


@dataclass(frozen=True)
class Aside:
    """Blocks that belong together, set off from the rest."""

    blocks: Sequence[Block]


@dataclass(frozen=True)
class Fold:
    """What a short format folds away under its title, and a page shows below a heading."""

    title: str
    blocks: Sequence[Block]
    level: int = 2


Block = Heading | Paragraph | Table | FactList | Listing | Contents | Code | Figure | Figures | Aside | Fold


@dataclass(frozen=True)
class Section:
    """Blocks that follow each other closely. ``anchor``: the name by which links find it."""

    blocks: Sequence[Block]
    anchor: str = ""


@dataclass(frozen=True)
class Document:
    title: str
    sections: Sequence[Section]


def facts(pairs: Mapping[str, str], column: int = 9) -> FactList:
    """Plain facts in the order of a mapping."""
    return FactList(tuple(pairs.items()), column)


def parts_of(line: Line) -> tuple[Part, ...]:
    return line if isinstance(line, tuple) else (line,)


def plain_text(line: Line) -> str:
    """A line without its styles; a way back is left out."""
    parts = [part for part in parts_of(line) if not (isinstance(part, Link) and part.back)]
    return "".join(part if isinstance(part, str) else part.text for part in parts)


def with_code(text: str) -> tuple[Part, ...]:
    """What stands between backquotes is code."""
    return tuple(Styled(part, "code") if place % 2 else part for place, part in enumerate(text.split("`")) if part)
