"""The curves of a table of systems as a PNG picture, by matplotlib where it is installed."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from dpaudit.claims import DpauditError

_STYLES = ("-", "--", ":", "-.")


def curves_picture(rows: Sequence[Mapping[str, Any]], title: str) -> bytes:
    """Log-log lines with error bars; the legend has the fitted slope beside the claimed one. Raises DpauditError."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise DpauditError("a PNG needs matplotlib: pip install 'dpaudit[reports]', or ask for --format html") from None
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    axes = figure.add_subplot()
    for number, row in enumerate(rows):
        best = row["system"].startswith("optimistic")
        points = [point for point in row["regret"] if point["mean"] > 0]
        x, y, error = ([point[key] for point in points] for key in ("horizon", "mean", "error"))
        slope = "none" if row["slope"] is None else f"{row['slope']:.2f}"
        axes.errorbar(
            x, y, yerr=error, label=f"{row['system']} ({row['model']}): slope {slope}, claimed {row['exponent']}",
            color=f"C{number % 10}", linestyle=_STYLES[number // 10 % 4], linewidth=3 if best else 1.3, marker="o",
            markersize=6 if best else 3, capsize=2,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="horizon T", ylabel="mean regret", title=title)
    axes.grid(True, which="major", alpha=0.3)
    figure.legend(loc="outside right center", fontsize=8)
    stream = io.BytesIO()
    FigureCanvasAgg(figure).print_png(stream)
    return stream.getvalue()
