"""A ledger's releases in their order: what the worst client has paid by then, against the budget, and what each release costs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpaudit.accountants.spending_history import Step
from dpaudit.claims.decimals import short
from dpaudit.report.charts.svg_shapes import LEFT, RIGHT, bar, box, drawing, label, line
from dpaudit.report.document import Figure, Styled, Table
from dpaudit.report.rounding import at_most

_TOP, _FLOOR = 24, 120  # of the upper part: ε so far
_CROWN, _GROUND = 138, 186  # of the lower part: ε of each release
_FAR = 4  # times what is spent: a budget beyond that is named and not drawn
_WIDEST = 40  # bar
_ROWS = 10  # of the table


def timeline(steps: Sequence[Step], budget: Fraction | None, proven: Fraction | None = None) -> Figure:
    """A step line and bars below it. Long ledgers come in steps of several releases. ``proven``: the last step, exactly."""
    count, spent, limit = steps[-1].last, steps[-1].after, None if budget is None else float(budget)
    near, most = limit is not None and limit <= _FAR * spent, max(step.most for step in steps) or 1.0
    top = 1.1 * max(spent, limit if near and limit is not None else 0.0) or 1.0
    over = budget is not None and (Fraction(spent) if proven is None else proven) > budget
    tone, figure = "var(--bad)" if over else "var(--link)", at_most(spent if proven is None else proven)

    def x(place: int) -> float:
        return LEFT + (RIGHT - LEFT) * place / count

    def y(epsilon: float) -> float:
        return _FLOOR - (_FLOOR - _TOP) * (epsilon / top)

    path = "".join(f"V{y(step.after):.1f}H{x(step.last):.1f}" for step in steps)
    inside = f'<path d="M{LEFT} {_FLOOR}{path}V{_FLOOR}Z" fill="{tone}" fill-opacity=".15"/>'
    inside += f'<path d="M{LEFT} {_FLOOR}{path}" fill="none" stroke="{tone}" stroke-width="2"/>'
    inside += line(LEFT, _FLOOR, RIGHT, _FLOOR, "var(--line)") + line(LEFT, _GROUND, RIGHT, _GROUND, "var(--line)")
    for step in steps:
        height, width = (_GROUND - _CROWN) * (step.most / most), x(step.last) - x(step.first - 1)
        wide = min(width - min(2, width / 4), _WIDEST)
        inside += box(x(step.first - 1), _GROUND - height, wide, height, "var(--soft)", _words(step))
    if budget is not None and limit is not None:
        height, named = y(limit) if near else 0.0, f"budget {at_most(budget)}"
        inside += line(LEFT, height, RIGHT, height, "var(--ink)", 1.5, "5 4") if near else ""
        inside += label(*_free(height, over), named) if near else label(LEFT, 14, f"{named}, far above")
    under = limit is not None and not over and 0 <= y(spent) - y(limit) < 20
    inside += label(RIGHT, y(spent) + 15 if under else y(spent) - 5, f"ε ≤ {figure}")
    inside += label(LEFT, 204, "1") + label(RIGHT, 204, f"{count:,} release{'' if count == 1 else 's'}")
    against = "" if budget is None else f", budget {at_most(budget)}"
    description = f"the worst client has paid ε ≤ {figure} after {count:,} releases{against}"
    size = max(step.last - step.first + 1 for step in steps)
    each = f"the costliest of every {size:,} releases" if size > 1 else "each release"
    caption = f"Above: ε of the client who has paid most so far. Below: ε of {each}, up to {at_most(most)}"
    return Figure(drawing(inside, 210, description), caption, (_table(steps, budget),))


def _free(height: float, over: bool) -> tuple[float, float]:
    """Where the budget's label meets no other line: below the budget once it is exceeded, else above it."""
    if not over:
        return LEFT, height - 5
    return RIGHT, height + 14 if height + 18 < _FLOOR else height - 5


def _words(step: Step) -> str:
    (first, last), many = step.names, step.last > step.first
    which = f"{step.first:,} to {step.last:,}, {short(first)} … {short(last)}" if many else f"{step.first:,}, {short(first)}"
    return f"{which}: ε ≤ {at_most(step.most)}{' each' if many else ''}; {at_most(step.after)} so far"


def _table(steps: Sequence[Step], budget: Fraction | None) -> Table:
    """The same as a table of a few rows."""
    size, spent = -(-len(steps) // _ROWS), steps[-1].after
    full = max(spent, float(budget)) if budget is not None and budget <= _FAR * spent else spent
    rows = []
    for place in range(0, len(steps), size):
        part = steps[place : place + size]
        first, last = part[0], part[-1]
        alone = first.first == last.last
        places = f"{first.first:,}" if alone else f"{first.first:,}–{last.last:,}"
        names = short(first.names[0], 30) + ("" if alone else f" … {short(last.names[1], 30)}")
        over = " over" if budget is not None and last.after > budget else ""
        blocks = (Styled(bar(last.after, full), "code"), over)
        rows.append((places, names, at_most(max(step.most for step in part)), at_most(last.after), blocks))
    against = "" if budget is None else f" (budget {at_most(budget)})"
    return Table(("releases", "name", "ε of each ≤", f"ε so far ≤{against}", ""), rows)
