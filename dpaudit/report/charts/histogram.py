"""The privacy losses of an audit's own runs: on D above the line, on its neighbour D' below, and where the claim ends."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpaudit.claims import Losses
from dpaudit.report.charts.svg_shapes import LEFT, RIGHT, WIDTH, bar, box, drawing, label, line
from dpaudit.report.document import Code, Figure, Fold
from dpaudit.report.rounding import at_most

_MIDDLE, _REACH = 96, 68  # the line, and how far the tallest bar goes from it
_FAR = 3  # times the losses: a claim beyond that is named and not drawn
_CLOSE = 130  # units between two marks with short labels
_GROUP = 5  # bins in a row of the text


def histogram(losses: Losses, claim: Fraction) -> Figure:
    """Bars are shares of the runs on each data set."""
    mark = float(claim)
    near = mark <= _FAR * losses.high
    span = max(losses.high, 1.15 * mark) if near else losses.high

    def x(loss: float) -> float:
        return LEFT + (RIGHT - LEFT) * (loss + span) / (2 * span)

    edges, sides = losses.edges(), [_shares(losses.data), _shares(losses.neighbour)]
    tallest = max(max(side) for side in sides) or 1.0
    inside = ""
    for name, side, colour, up in (("D", sides[0], "var(--link)", True), ("D'", sides[1], "var(--open)", False)):
        for place, share in enumerate(side):
            if share:
                left, height = x(edges[place]), _REACH * share / tallest
                description = f"on {name}, loss {edges[place]:.3g} to {edges[place + 1]:.3g}: {_percent(share)} of the runs"
                inside += box(
                    left, _MIDDLE - height if up else _MIDDLE, x(edges[place + 1]) - left - 1, height, colour, description
                )
    inside += line(LEFT, _MIDDLE, RIGHT, _MIDDLE, "var(--ink)") + label(LEFT, 16, "on D") + label(LEFT, 182, "on D'")
    far = f"the claim, ε = {at_most(claim)}, is far outside"
    inside += _marks(x(-mark), x(mark), at_most(claim)) if near else label(RIGHT, 182, far)
    inside += "" if near and x(mark) - x(0) < _close(at_most(claim)) / 2 else label(x(0), 202, "0")
    description = f"privacy losses of {_runs(losses)}; {beyond(losses, mark)}"
    words = Fold("Privacy losses", (Code(histogram_text(losses, mark)),), level=3)
    return Figure(drawing(inside, 208, description), caption(losses, mark), (words,))


def _marks(left: float, right: float, claim: str) -> str:
    """Both ends of the claim; one label for both where two would touch each other or the zero."""
    marks = "".join(line(place, 24, place, 168, "var(--ink)", 1.5, "5 4") for place in (left, right))
    if right - left < _close(claim):
        return marks + label((left + right) / 2, 202, f"±ε = ±{claim}", "middle")
    half = _close(claim) / 2 - 10
    marks += label(max(left, half), 202, f"−ε = −{claim}", "middle")
    return marks + label(min(right, WIDTH - half), 202, f"ε = {claim}", "middle")


def _close(claim: str) -> float:
    """Units between two marks whose labels would touch."""
    return max(_CLOSE, 7 * len(claim) + 64)


def caption(losses: Losses, claim: float) -> str:
    how = "by likelihood ratio" if losses.score == "likelihood ratio" else "as a learned score estimates it"
    return f"Privacy loss of {_runs(losses)}, {how}; dashed: the claim. {beyond(losses, claim)}".strip()


def _runs(losses: Losses) -> str:
    return f"{sum(losses.data):,} runs on D and {sum(losses.neighbour):,} on D'"


def beyond(losses: Losses, claim: float) -> str:
    """Shares of the runs that surely lie beyond ε: bins that hold ε itself do not count."""
    edges, slack = losses.edges(), 1e-6  # losses are rounded to six digits
    data = sum(count for count, low in zip(losses.data, edges[:-1], strict=True) if low > claim + slack)
    neighbour = sum(count for count, high in zip(losses.neighbour, edges[1:], strict=True) if high < -claim - slack)
    if not data and not neighbour:
        return "None was seen clearly beyond ε."
    first, second = data / max(sum(losses.data), 1), neighbour / max(sum(losses.neighbour), 1)
    return f"Beyond ε: {_percent(first)} of those on D, {_percent(second)} of those on D'."


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _shares(counts: Sequence[int]) -> list[float]:
    return [count / max(sum(counts), 1) for count in counts]


def histogram_text(losses: Losses, claim: float) -> str:
    """A few rows: the loss, and a bar for each data set."""
    edges, sides = losses.edges(), (_shares(losses.data), _shares(losses.neighbour))
    rows = []
    for place in range(0, len(losses.data), _GROUP):
        last = min(place + _GROUP, len(losses.data))
        rows.append((edges[place], edges[last], *(sum(side[place:last]) for side in sides)))
    full = max(max(row[2:]) for row in rows) or 1.0
    lines = [f"{'loss':>19}  {'on D':<28}on D'"]
    for low, high, data, neighbour in rows:
        cells = [f"{bar(share, full)} {share:6.1%}" for share in (data, neighbour)]
        lines.append(f"{low:>8.3g} … {high:<8.3g}  {cells[0]:<28}{cells[1]}")
    return "\n".join([*lines, caption(losses, claim).replace("; dashed: the claim", "")])
