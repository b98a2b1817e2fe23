"""A ledger's releases in their order: what the worst client has paid by then, against the budget, and what each release costs."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.accountants.spending_history import Step
from dpaudit.claims.decimals import short
from dpaudit.report.charts import LEFT, RIGHT, at_most, box, figure, label, line
from dpaudit.report.markdown import bar, plain, table
from dpaudit.report.page import Html

_TOP, _FLOOR = 24, 120  # of the upper part: ε so far
_CROWN, _GROUND = 138, 186  # of the lower part: ε of each release
_FAR = 4  # times what is spent: a budget beyond that is named and not drawn
_WIDEST = 40  # bar
_ROWS = 10  # of the table


def timeline(steps: Sequence[Step], budget: float | None) -> Html:
    """A step line and bars below it. Long ledgers come in steps of several releases."""
    count, spent = steps[-1].last, steps[-1].after
    near = budget is not None and budget <= _FAR * spent
    top = 1.1 * max(spent, budget if near and budget is not None else 0.0) or 1.0
    most = max(step.most for step in steps) or 1.0
    tone = "var(--bad)" if budget is not None and spent > budget else "var(--link)"

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
        inside += box(x(step.first - 1), _GROUND - height, wide, height, "var(--soft)", _told(step))
    if budget is not None and near:
        inside += line(LEFT, y(budget), RIGHT, y(budget), "var(--ink)", 1.5, "5 4")
        inside += label(*_free(y(budget), spent > budget), f"budget {budget:.4g}")
    elif budget is not None:
        inside += label(LEFT, 14, f"budget {budget:.4g}, far above")
    under = budget is not None and 0 <= y(spent) - y(budget) < 20
    inside += label(RIGHT, y(spent) + 15 if under else y(spent) - 5, f"ε ≤ {at_most(spent)}")
    inside += label(LEFT, 204, "1") + label(RIGHT, 204, f"{count:,} release{'' if count == 1 else 's'}")
    told = f"the worst client has paid ε ≤ {at_most(spent)} after {count:,} releases" + _against(budget)
    size = max(step.last - step.first + 1 for step in steps)
    each = f"the costliest of every {size:,} releases" if size > 1 else "each release"
    return figure(
        inside, 210, told, f"Above: ε of the client who has paid most so far. Below: ε of {each}, up to {at_most(most)}"
    )


def _free(height: float, over: bool) -> tuple[float, float]:
    """Where the budget's label meets no other line: below the budget once it is exceeded, else above it."""
    if not over:
        return LEFT, height - 5
    return RIGHT, height + 14 if height + 18 < _FLOOR else height - 5


def _against(budget: float | None) -> str:
    return "" if budget is None else f", budget {budget:.4g}"


def _told(step: Step) -> str:
    (first, last), many = step.names, step.last > step.first
    which = f"{step.first:,} to {step.last:,}, {short(first)} … {short(last)}" if many else f"{step.first:,}, {short(first)}"
    return f"{which}: ε ≤ {at_most(step.most)}{' each' if many else ''}; {at_most(step.after)} so far"


def timeline_markdown(steps: Sequence[Step], budget: float | None) -> str:
    """The same as a table of a few rows."""
    size = -(-len(steps) // _ROWS)
    full = max(steps[-1].after, budget or 0.0) if budget is None or budget <= _FAR * steps[-1].after else steps[-1].after
    rows = []
    for place in range(0, len(steps), size):
        part = steps[place : place + size]
        first, last = part[0], part[-1]
        places = f"{first.first:,}" if first.first == last.last else f"{first.first:,}–{last.last:,}"
        names = plain(short(first.names[0], 30)) + ("" if first.first == last.last else f" … {plain(short(last.names[1], 30))}")
        over = " over" if budget is not None and last.after > budget else ""
        rows.append([places, names, at_most(max(s.most for s in part)), at_most(last.after), f"`{bar(last.after, full)}`{over}"])
    against = "" if budget is None else f" (budget {budget:.4g})"
    return table(("releases", "name", "ε of each ≤", f"ε so far ≤{against}", ""), rows)
