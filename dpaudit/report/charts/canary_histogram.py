"""Scores of canaries: those that were in above the line, those that were out below it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpaudit.report.charts.svg_shapes import LEFT, RIGHT, bar, box, drawing, label, line
from dpaudit.report.document import Figure, Styled, Table
from dpaudit.training.canary_scores import CanaryScores

_MIDDLE, _REACH = 96, 68  # the line, and how far the tallest bar goes from it
_BINS, _ROWS = 40, 8


def canary_histogram(runs: Sequence[CanaryScores]) -> Figure:
    """Bars are shares of the canaries that were in, and of those that were out; the widest half percent are drawn at the ends."""
    scores = np.concatenate([run.scores for run in runs])
    included = np.concatenate([run.included for run in runs])
    finite = scores[np.isfinite(scores)]
    low, high = (float(end) for end in np.quantile(finite if len(finite) else [0.0], (0.0025, 0.9975)))
    if not low < high:
        low, high = low - 1, low + 1
    edges = np.linspace(low, high, _BINS + 1)
    sides = [_shares(np.clip(scores[side], low, high), edges) for side in (included, ~included)]
    tallest, width = max(float(side.max()) for side in sides) or 1.0, (RIGHT - LEFT) / _BINS
    inside = ""
    for name, side, colour, up in (("in", sides[0], "var(--link)", True), ("out", sides[1], "var(--open)", False)):
        for place, share in enumerate(side):
            if share:
                height = _REACH * float(share) / tallest
                words = f"{name}, score {edges[place]:.3g} to {edges[place + 1]:.3g}: {share:.1%}"
                inside += box(LEFT + place * width, _MIDDLE - height if up else _MIDDLE, width - 1, height, colour, words)
    inside += line(LEFT, _MIDDLE, RIGHT, _MIDDLE, "var(--ink)")
    inside += label(LEFT, 16, f"in: {int(included.sum()):,} canaries") + label(LEFT, 182, f"out: {int((~included).sum()):,}")
    inside += label(LEFT, 202, f"{low:.3g}") + label(RIGHT, 202, f"score {high:.3g}")
    apart = _apart(scores, included)
    caption = f"Scores of canaries that were in (above) and out (below){apart}"
    return Figure(drawing(inside, 208, caption), caption, (_table(edges, sides),))


def _apart(scores: np.ndarray, included: np.ndarray) -> str:
    if not np.isfinite(scores).all() or not included.any() or included.all():
        return ""
    spread = float(np.sqrt((scores[included].var() + scores[~included].var()) / 2))
    return (
        f"; their means lie {(scores[included].mean() - scores[~included].mean()) / spread:.2f} deviations apart"
        if spread
        else ""
    )


def _shares(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    counts, _ = np.histogram(values, edges)
    return counts / max(len(values), 1)


def _table(edges: np.ndarray, sides: Sequence[np.ndarray]) -> Table:
    """The same in a few rows."""
    size = _BINS // _ROWS
    shares = [side.reshape(_ROWS, size).sum(1) for side in sides]
    full = max(float(share.max()) for share in shares) or 1.0
    rows = [
        (f"{edges[size * row]:.3g} to {edges[size * (row + 1)]:.3g}",
         *(part for share in shares for part in (f"{share[row]:.1%}", Styled(bar(float(share[row]), full), "code"))))
        for row in range(_ROWS)
    ]  # fmt: skip
    return Table(("score", "in", "", "out", ""), rows)
