"""True against false positive rates: the proven curve above the diagonal of blind guessing."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.accountants.curves.trade_off import HitRate
from dpaudit.claims import float_up, show
from dpaudit.report.charts.svg_shapes import LEFT, RIGHT, drawing, label, line
from dpaudit.report.document import Figure, Table
from dpaudit.report.rounding import at_most

_TOP, _FLOOR = 16, 216
HEADER = ("false positive rate", "true positive rate at most")


def trade_off_figure(rates: Sequence[HitRate]) -> Figure:
    """The proven rates, joined by straight lines: between two of them a test may mix, so the lines are above what is possible."""
    points = [(0.0, 0.0), *((float(each.false), float_up(each.true)) for each in rates), (1.0, 1.0)]

    def place(false: float, true: float) -> str:
        return f"{LEFT + (RIGHT - LEFT) * false:.1f} {_FLOOR - (_FLOOR - _TOP) * min(true, 1.0):.1f}"

    path = "L".join(place(*point) for point in points)
    inside = line(LEFT, _FLOOR, RIGHT, _FLOOR, "var(--line)") + line(LEFT, _FLOOR, LEFT, _TOP, "var(--line)")
    inside += line(LEFT, _FLOOR, RIGHT, _TOP, "var(--soft)", 1, "5 4")
    inside += f'<path d="M{path}" fill="none" stroke="var(--link)" stroke-width="2"/>'
    inside += label(LEFT, 234, "0") + label(RIGHT, 234, "false positive rate 1") + label(LEFT + 4, 12, "true positive rate 1")
    middle = next((each for each in rates if each.false * 100 == 1), rates[0])
    told = f"at a false positive rate of {show(middle.false)} no test is right more often than {at_most(middle.true)}"
    return Figure(drawing(inside, 240, told), f"The best test of any adversary: {told}", (trade_off_table(rates),))


def trade_off_table(rates: Sequence[HitRate]) -> Table:
    return Table(HEADER, [(show(each.false), at_most(each.true)) for each in rates])
