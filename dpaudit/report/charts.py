"""Two small charts as inline SVG that follow the page's colours."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.report.page import Html, element

_MOST_BARS = 60


def interval(lower: float, upper: float | None, claim: float) -> Html:
    """[attacked, proven] on the axis of ε, with the claim as a mark; an open end where nothing is proven."""
    end = max(1.25 * max(lower, upper or 0.0, claim), 1e-12)
    left, right = _x(lower, end), 620.0 if upper is None else _x(upper, end)
    tone = "var(--bad)" if lower > claim else "var(--good)" if upper is not None and upper <= claim else "var(--open)"
    dash = ' stroke-dasharray="6 5"' if upper is None else ""
    told = f"attacked {lower:.4g}, proven {'nothing' if upper is None else f'{upper:.4g}'}, claimed {claim:.4g}"
    right_label = "not proven" if upper is None else f"≤ {upper:.4g}"
    claimed = _x(claim, end)
    inside = (
        f'<line x1="20" y1="60" x2="620" y2="60" stroke="var(--line)"/>'
        f'<line x1="{left - 4:.1f}" y1="60" x2="{max(right, left) + 4:.1f}" y2="60" stroke="{tone}" stroke-width="8"{dash}/>'
        f'<line x1="{claimed:.1f}" y1="34" x2="{claimed:.1f}" y2="76" stroke="var(--ink)" stroke-width="2"/>'
        f'<text x="{claimed:.1f}" y="26" text-anchor="middle">claim {claim:.4g}</text>'
        f'<text x="{left:.1f}" y="96" text-anchor="{_anchor(left)}">≥ {lower:.4g}</text>'
        + (f'<text x="{right:.1f}" y="116" text-anchor="{_anchor(right)}">{right_label}</text>')
    )
    return _figure(inside, 126, told, "ε: attacked from below, proven from above, against the claim")


def bars(values: Sequence[tuple[str, float]]) -> Html:
    """What each release costs, in the order of release; the first sixty."""
    shown = values[:_MOST_BARS]
    most = max((value for _, value in shown), default=0.0) or 1.0
    width = 600 / max(len(shown), 1)
    inside = "".join(_bar(20 + k * width, width, value / most, f"{name}: ε {value:.4g}") for k, (name, value) in enumerate(shown))
    inside += f'<line x1="20" y1="110" x2="620" y2="110" stroke="var(--line)"/><text x="20" y="14">ε {most:.4g}</text>'
    more = f" (the first {len(shown)} of {len(values)})" if len(values) > len(shown) else ""
    return _figure(inside, 120, f"cost of {len(values)} releases", f"ε of each release, in order{more}")


def _bar(x: float, width: float, share: float, told: str) -> str:
    box = f'x="{x:.1f}" y="{110 - 90 * share:.1f}" width="{max(width - 2, 1):.1f}" height="{max(90 * share, 0.5):.1f}"'
    return f'<rect {box} fill="var(--link)">{element("title", told)}</rect>'


def _x(value: float, end: float) -> float:
    return 20 + 600 * value / end


def _anchor(x: float) -> str:
    return "start" if x < 80 else "end" if x > 560 else "middle"


def _figure(inside: str, height: int, told: str, caption: str) -> Html:
    style = "background: transparent; fill: currentColor; font: 13px system-ui, sans-serif; max-width: 40rem"
    opening = f'<svg viewBox="0 0 640 {height}" role="img" aria-label="{told}" style="{style}">'
    return element("figure", Html(f"{opening}{inside}</svg>"), element("figcaption", caption))
