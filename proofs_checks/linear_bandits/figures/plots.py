"""The figures drawn: regret against ε, one panel for each calibration. Needs matplotlib (the extra ``reports``)."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from proofs_checks.linear_bandits.figures.regret_data import CALIBRATIONS, DELTA, Spot

# Okabe and Ito's colours, which the colour-blind can tell apart; every curve has a marker and a dash of its own as well.
STYLES: dict[str, dict[str, Any]] = {
    "local": {"color": "#D55E00", "marker": "^", "linestyle": "-", "label": "Algorithm 2, local"},
    "shuffled": {"color": "#0072B2", "marker": "s", "linestyle": "-", "label": "Algorithm 3, shuffled"},
    "central": {"color": "#009E73", "marker": "o", "linestyle": "-", "label": "Algorithm 1, central"},
    "no core set": {"color": "#D55E00", "marker": "^", "linestyle": "-", "label": "Algorithm 1, no core set"},
    "core set": {"color": "#009E73", "marker": "o", "linestyle": "-", "label": "Algorithm 1, core set"},
    "nonprivate": {"color": "#000000", "linestyle": "--", "label": "the same loop without noise"},
    "phased": {"color": "#CC79A7", "linestyle": ":", "label": "phased elimination (textbook, ch. 22)"},
}
TITLES = {
    "printed": "as printed (costs more than the ε claimed)",
    "corrected": "corrected noise and widths",
    "tight": "corrected noise, tight widths",
}


def caption(spots: Sequence[Spot]) -> str:
    """Setting, number of instances and seed."""
    first = spots[0]
    exponent = len(str(first.horizon)) - 1
    delta = f", δ = {float(DELTA):g} (shuffled)" if any(spot.curve == "shuffled" for spot in spots) else ""
    drawn = f"mean of {len(first.regret)} instances ± 2 standard errors, seed {first.seed}"
    setting = f"K = {first.actions}, d = 2, T = 10^{exponent}{delta}; actions and θ uniform on the unit sphere, rewards ±1"
    return f"Total regret: {setting}; {drawn}."


def draw(spots: Sequence[Spot]) -> Any:
    """One panel for each calibration among the spots."""
    from matplotlib.figure import Figure

    shown = [name for name in CALIBRATIONS if any(spot.calibration == name for spot in spots)]
    figure = Figure(figsize=(1.2 + 3.7 * len(shown), 4.6), layout="constrained", facecolor="white")
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for panel, calibration in zip(panels, shown, strict=True):
        _panel(panel, [spot for spot in spots if spot.calibration in (calibration, "textbook")])
        panel.set_title(TITLES[calibration], fontsize=10)
    panels[0].set_ylabel("total regret")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper center", ncols=min(len(labels), 3 if len(shown) > 1 else 1), frameon=False, fontsize=9
    )
    if len(shown) > 1:
        figure.supxlabel(caption(spots), fontsize=8, color="#444444")
    return figure


def _panel(panel: Any, spots: Sequence[Spot]) -> None:
    for curve, style in STYLES.items():
        mine = [spot for spot in spots if spot.curve == curve]
        along = sorted((spot for spot in mine if spot.epsilon is not None), key=lambda spot: float(str(spot.epsilon)))
        if along:
            x, y = [float(str(spot.epsilon)) for spot in along], [spot.mean for spot in along]
            panel.errorbar(x, y, yerr=[2 * spot.error for spot in along], markersize=4.5, linewidth=1.4, capsize=2.5, **style)
        for spot in mine:
            if spot.epsilon is None:
                panel.axhline(spot.mean, linewidth=1.4, **style)
                panel.axhspan(
                    spot.mean - 2 * spot.error, spot.mean + 2 * spot.error, color=style["color"], alpha=0.15, linewidth=0
                )
    local = "  (ε0 in the local model)" if any(spot.curve == "local" for spot in spots) else ""
    panel.set(xscale="log", yscale="log", xlabel=f"privacy budget ε{local}")
    panel.grid(True, which="major", color="#dddddd", linewidth=0.7)
    panel.set_axisbelow(True)
    panel.xaxis.set_major_formatter("{x:g}")


def svg(figure: Any, name: str) -> str:
    """A figure as an SVG element that can stand in a page: its ids are its own, its text is text."""
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    drawn = text.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    return re.sub(r'((?:\bid="|url\(#|href="#))', rf"\g<1>{name}-", drawn)


def inline(spots: Sequence[Spot], name: str) -> list[dict[str, str]]:
    """Evidence "figures" of a check; none without matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return []
    return [{"svg": svg(draw(spots), name), "caption": caption(spots)}]
