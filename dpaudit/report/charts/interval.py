"""The ε interval against the claim: attacked from below, proven from above."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.claims import float_up
from dpaudit.report.charts.svg_shapes import LEFT, RIGHT, drawing, label, line
from dpaudit.report.document import Code, Figure
from dpaudit.report.rounding import at_least, at_most

_CELLS = 50  # of an interval in text


def interval(lower: float | None, upper: Fraction | None, claim: Fraction, named: str = "claim") -> Figure:
    """[attacked, proven] on the axis of ε, with the claim as a mark; an open end where nothing is proven."""
    low, high, mark = lower or 0.0, None if upper is None else float_up(upper), float(claim)
    end = max(1.25 * max(low, high or 0.0, mark), 1e-300)

    def x(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value / end)

    left, right, claimed = x(low), RIGHT if high is None else x(high), x(mark)
    dash = ' stroke-dasharray="6 5"' if high is None else ""
    meet = upper is not None and lower is not None and at_least(low, claim) == at_most(upper)
    tone, zero = _tone(lower, upper, claim), label(LEFT, 92, "0", "start") if left > 80 or lower is None else ""
    inside = (
        line(LEFT, 58, RIGHT, 58, "var(--line)")
        + f'<line x1="{left - 3:.1f}" y1="58" x2="{max(right, left) + 3:.1f}" y2="58" stroke="{tone}" stroke-width="8"{dash}/>'
        + (f'<circle cx="{left:.1f}" cy="58" r="9" fill="{tone}"/>' if meet else "")
        + line(claimed, 32, claimed, 74, "var(--ink)", 2)
        + label(claimed, 24, f"{named} {at_most(claim)}")
        + zero
        + _ends(lower, upper, claim, left, right, meet)
    )
    caption = "ε: attacked from below, proven from above" if lower is not None else "ε: proven from above"
    description = interval_words(lower, upper, claim, named)
    words = Code(f"0 {_cells(low, high, mark, end)} {at_most(end)}\n{description}")
    return Figure(drawing(inside, 120, description), f"{caption}, against the {named}", (words,))


def _ends(lower: float | None, upper: Fraction | None, claim: Fraction, left: float, right: float, meet: bool) -> str:
    """A label below each end; one for both where they read alike: both are rounded outward, so ε is that."""
    if meet and upper is not None:
        return label(left, 112, f"exactly {at_most(upper)}")
    attacked = "" if lower is None else label(left, 92, f"≥ {at_least(lower, claim)}")
    return attacked + label(right, 112, "not proven" if upper is None else f"≤ {at_most(upper)}")


def _tone(lower: float | None, upper: Fraction | None, claim: Fraction) -> str:
    """Compared exactly: a float may lie on the other side of the claim."""
    over = upper is not None and upper > claim
    if (lower is not None and Fraction(lower) > claim) or (lower is None and over):
        return "var(--bad)"
    return "var(--open)" if upper is None or over else "var(--good)"


def interval_words(lower: float | None, upper: Fraction | None, claim: Fraction, named: str = "claim") -> str:
    attacked = [] if lower is None else [f"attacked ≥ {at_least(lower, claim)}"]
    proven = "proven nothing" if upper is None else f"proven ≤ {at_most(upper)}"
    return ", ".join([*attacked, proven, f"{named} {at_most(claim)}"])


def _cells(low: float, high: float | None, claim: float, end: float) -> str:
    """Blocks from attacked to proven, the claim as an upright, dots up to an end that is not proven."""

    def cell(value: float) -> int:
        return min(int(_CELLS * (value / end)), _CELLS - 1)

    cells, first = ["─"] * _CELLS, cell(low)
    for place in range(first, _CELLS if high is None else max(cell(high), first) + 1):
        cells[place] = "·" if high is None else "█"
    cells[first] = "█"
    cells[cell(claim)] = "┃"
    return "".join(cells)
