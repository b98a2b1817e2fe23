"""Charts as inline SVG that follow the page's colours and stay legible on a phone; and the ε interval, drawn and in text."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape

from dpaudit.report.page import Html, element

WIDTH, LEFT, RIGHT = 400, 16, 384  # of every drawing: text of 13 units is 11 pixels high on a phone
_CELLS = 50  # of an interval in text


def at_most(value: float) -> str:
    """Four digits, rounded up: for upper bounds."""
    return _digits(value, ROUND_CEILING)


def at_least(value: float) -> str:
    """Four digits, rounded down: for lower bounds."""
    return _digits(value, ROUND_FLOOR)


def _digits(value: float, rounding: str) -> str:
    return f"{float(Context(prec=4, rounding=rounding).create_decimal(Decimal(repr(value)))):.4g}"


def interval(lower: float | None, upper: float | None, claim: float, named: str = "claim") -> Html:
    """[attacked, proven] on the axis of ε, with the claim as a mark; an open end where nothing is proven."""
    low, end = lower or 0.0, _end(lower, upper, claim)
    left, right, claimed = _x(low, end), RIGHT if upper is None else _x(upper, end), _x(claim, end)
    tone = "var(--bad)" if low > claim else "var(--good)" if upper is not None and upper <= claim else "var(--open)"
    if lower is None and upper is not None and upper > claim:
        tone = "var(--bad)"
    dash = ' stroke-dasharray="6 5"' if upper is None else ""
    zero = label(LEFT, 92, "0", "start") if left > 80 or lower is None else ""
    inside = (
        line(LEFT, 58, RIGHT, 58, "var(--line)")
        + f'<line x1="{left - 3:.1f}" y1="58" x2="{max(right, left) + 3:.1f}" y2="58" stroke="{tone}" stroke-width="8"{dash}/>'
        + line(claimed, 32, claimed, 74, "var(--ink)", 2)
        + label(claimed, 24, f"{named} {claim:.4g}")
        + zero
        + ("" if lower is None else label(left, 92, f"≥ {at_least(low)}"))
        + label(right, 112, "not proven" if upper is None else f"≤ {at_most(upper)}")
    )
    caption = "ε: attacked from below, proven from above" if lower is not None else "ε: proven from above"
    return figure(inside, 120, told(lower, upper, claim, named), f"{caption}, against the {named}")


def told(lower: float | None, upper: float | None, claim: float, named: str = "claim") -> str:
    """The interval in words."""
    attacked = [] if lower is None else [f"attacked ≥ {at_least(lower)}"]
    proven = "proven nothing" if upper is None else f"proven ≤ {at_most(upper)}"
    return ", ".join([*attacked, proven, f"{named} {claim:.4g}"])


def interval_text(lower: float | None, upper: float | None, claim: float, named: str = "claim") -> str:
    """The same on one line: blocks from attacked to proven, the claim as an upright, dots up to an end that is not proven."""
    end = _end(lower, upper, claim)

    def cell(value: float) -> int:
        return min(int(_CELLS * value / end), _CELLS - 1)

    cells = ["─"] * _CELLS
    first = cell(lower or 0.0)
    for place in range(first, _CELLS if upper is None else max(cell(upper), first) + 1):
        cells[place] = "·" if upper is None else "█"
    cells[first] = "█"
    cells[cell(claim)] = "┃"
    return f"0 {''.join(cells)} {at_most(end)}\n{told(lower, upper, claim, named)}"


def _end(lower: float | None, upper: float | None, claim: float) -> float:
    return max(1.25 * max(lower or 0.0, upper or 0.0, claim), 1e-300)


def _x(value: float, end: float) -> float:
    return LEFT + (RIGHT - LEFT) * (value / end)


def line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


def box(x: float, y: float, width: float, height: float, colour: str, told: str) -> str:
    """A bar that says what it is when it is pointed at."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{max(height, 0.5):.1f}"'
    return f'<rect {place} fill="{colour}"><title>{escape(told)}</title></rect>'


def label(x: float, y: float, text: str, anchor: str = "") -> str:
    """Text at a place; it turns inward near the edges."""
    anchor = anchor or ("start" if x < 90 else "end" if x > WIDTH - 90 else "middle")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def figure(inside: str, height: int, told: str, caption: str) -> Html:
    opening = f'<svg class="chart" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(told, quote=True)}">'
    return element("figure", Html(f"{opening}{inside}</svg>"), element("figcaption", caption))
