"""What charts are drawn with: lines, bars and labels as SVG, and bars of blocks as text."""

from __future__ import annotations

from html import escape

from dpaudit.report.markup import Html

WIDTH, LEFT, RIGHT = 400, 16, 384  # of every drawing: text of 13 units is 11 pixels high on a phone


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def box(x: float, y: float, width: float, height: float, colour: str, description: str) -> str:
    """A bar that says what it is when it is pointed at."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{max(height, 0.5):.1f}"'
    return f'<rect {place} fill="{colour}"><title>{escape(description)}</title></rect>'


def label(x: float, y: float, text: str, anchor: str = "") -> str:
    """Text at a place; it turns inward near the edges."""
    anchor = anchor or ("start" if x < 90 else "end" if x > WIDTH - 90 else "middle")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def drawing(inside: str, height: int, description: str) -> Html:
    """``description``: the drawing in words, for those who do not see it."""
    opening = f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(description, quote=True)}">'
    return Html(f"{opening}{inside}</svg>")


def bar(value: float, full: float, cells: int = 16) -> str:
    """A bar of blocks: ``full`` fills every cell, and whatever is not nothing shows."""
    filled = min(cells, max(round(cells * value / full), 1)) if value > 0 and full > 0 else 0
    return "█" * filled + "░" * (cells - filled)
