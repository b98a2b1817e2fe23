"""Regret against the horizon on log axes, one line per system, as SVG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dpaudit.report.charts.svg_shapes import LEFT, RIGHT, drawing, label, line
from dpaudit.report.markup import Html

HEIGHT, TOP, BOTTOM, MARGIN = 400, 16, 370, 48
END = RIGHT - 36  # of the lines; their numbers stand beyond it, joined to them by leaders
LINE_HEIGHT = 13  # between two numbers
COLOURS = ("#0b6e4f", "#1f78b4", "#c1440e", "#7b3294", "#8c6d1f", "#444444")
LEADER = "1 4"  # dots: a leader is no measurement
DASHES = ("", "6 3", "2 3", "8 2 2 2")


def regret_curves(rows: Sequence[Mapping[str, Any]]) -> Html:
    """A polyline for each row's ``regret``; numbers at the line's end name it, as in the table beside."""
    points = [point for row in rows for point in row["regret"] if point["mean"] > 0]
    if not points:
        return drawing("", HEIGHT, "no regret was measured")
    low_x, high_x = _ends([math.log10(point["horizon"]) for point in points])
    low_y, high_y = _ends([math.log10(point["mean"]) for point in points])

    def place(point: Mapping[str, Any]) -> tuple[float, float]:
        x = MARGIN + (math.log10(point["horizon"]) - low_x) / (high_x - low_x) * (END - MARGIN)
        y = BOTTOM - 20 - (math.log10(point["mean"]) - low_y) / (high_y - low_y) * (BOTTOM - 20 - TOP)
        return x, y

    inside, ends = _axes(low_x, high_x, low_y, high_y), {}
    for number, row in enumerate(rows, 1):
        spots = [place(point) for point in row["regret"] if point["mean"] > 0]
        if not spots:
            continue
        colour, dash = COLOURS[(number - 1) % len(COLOURS)], DASHES[(number - 1) // len(COLOURS) % len(DASHES)]
        width = 2.5 if row["system"].startswith("optimistic") else 1.2
        inside += "".join(line(*a, *b, colour, width, dash) for a, b in pairwise(spots))
        inside += "".join(line(x - 2, y, x + 2, y, colour, 4) for x, y in spots)  # what was measured
        ends[number] = spots[-1]
    heights = apart([end[1] for end in ends.values()], LINE_HEIGHT, BOTTOM)
    for (number, (x, y)), height in zip(ends.items(), heights, strict=True):
        inside += line(x + 4, y, END + 14, height, "#999999", 0.6, LEADER) + label(END + 16, height + 4, str(number), "start")
    words = "; ".join(f"{row['system']}: {row['regret'][-1]['mean']:.0f}" for row in rows)
    return drawing(inside, HEIGHT, f"mean regret at the last horizon: {words}")


def apart(heights: Sequence[float], least: float, bottom: float) -> list[float]:
    """The same heights in the same order, moved so that any two are ``least`` apart and none lies below ``bottom``."""
    order = sorted(range(len(heights)), key=lambda place: heights[place])
    moved = list(heights)
    for above, below in pairwise(order):
        moved[below] = max(moved[below], moved[above] + least)
    limit = bottom
    for place in reversed(order):
        moved[place] = min(moved[place], limit)
        limit = moved[place] - least
    return moved


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = math.floor(min(values)), math.ceil(max(values))
    return (low, high) if high > low else (low, low + 1)


def _axes(low_x: float, high_x: float, low_y: float, high_y: float) -> str:
    ink = "currentColor"
    parts = [line(MARGIN, BOTTOM - 20, END, BOTTOM - 20, ink), line(MARGIN, TOP, MARGIN, BOTTOM - 20, ink)]
    for tick in range(int(low_x), int(high_x) + 1):
        x = MARGIN + (tick - low_x) / (high_x - low_x) * (END - MARGIN)
        parts.append(label(x, BOTTOM, f"10^{tick}", "middle"))
    for tick in range(int(low_y), int(high_y) + 1):
        y = BOTTOM - 20 - (tick - low_y) / (high_y - low_y) * (BOTTOM - 20 - TOP)
        parts.append(line(MARGIN, y, END, y, "#bbbbbb", 0.5) + label(LEFT - 10, y + 4, f"10^{tick}", "start"))
    return "".join(parts) + label((MARGIN + RIGHT) / 2, HEIGHT - 6, "horizon T", "middle")
