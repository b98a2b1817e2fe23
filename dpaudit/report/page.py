"""One self-contained HTML page: no script, no request, light and dark, phone and paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --line: #d0d7de; --band: #f6f8fa;
  --good: #1a7f37; --bad: #cf222e; --open: #9a6700; --link: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #0d1117; --line: #30363d; --band: #161b22;
  --good: #3fb950; --bad: #ff7b72; --open: #e3b341; --link: #6cb6ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; font: 16px/1.55 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
p { margin: .4rem 0; } .soft { color: var(--soft); }
.badge { display: inline-block; padding: 0 .55em; border-radius: 1em; border: 1px solid currentColor; font-size: .85em;
  font-weight: 600; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.wide { overflow-x: auto; } .roomy table { min-width: 44rem; }
table { border-collapse: collapse; overflow-wrap: break-word; font-size: .9rem; margin: .6rem 0;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--band); border-radius: 4px; padding: .1em .3em; }
pre { padding: .6rem .8rem; white-space: pre-wrap; }
figure { margin: 1rem 0; } figure svg { width: 100%; height: auto; background: #fff; border-radius: 4px; }
figure svg.chart { background: transparent; fill: currentColor; font: 13px system-ui, sans-serif; max-width: 30rem;
  overflow: visible; display: block; } .chart text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px;
  stroke-linejoin: round; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 0 2rem; }
.charts figure { max-width: 30rem; break-inside: avoid; }
.bars { display: grid; grid-template-columns: auto minmax(3rem, 20rem) auto; justify-content: start; align-items: center;
  gap: .25rem .8rem; font-variant-numeric: tabular-nums; font-size: .9rem; margin: .6rem 0; }
.bar { height: .9rem; min-width: 2px; background: var(--link); border-radius: 2px; print-color-adjust: exact; }
.finding { border-left: 3px solid var(--line); padding-left: .8rem; margin: 1rem 0; } .finding ul { margin: .3rem 0;
  padding-left: 1.2rem; }
figcaption { color: var(--soft); font-size: .9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dt { margin-top: .3rem; } }
@media print { .wide { overflow: visible; } td, th { overflow-wrap: anywhere; font-size: .75rem; padding: .1rem .3rem; }
  body { max-width: none; padding: 0; } h2 { break-after: avoid; } section { break-inside: avoid-page; }
  a { color: inherit; } }
"""


class Html(str):
    """Text that is HTML already."""


def text(value: Any) -> Html:
    """Escaped, unless it is HTML already."""
    return value if isinstance(value, Html) else Html(escape(str(value)))


def page(title: str, body: Iterable[Html], style: str = "") -> str:
    """``style``: rules of this page, after those of all."""
    inside = "\n".join(body)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}{style}</style>\n</head>\n<body>\n{inside}\n</body>\n</html>"
    )


def element(name: str, *inside: Any, **attributes: str) -> Html:
    """<name …>inside</name>; ``class_`` and ``for_`` lose their underscore, ``aria_label`` has a hyphen for it."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}>{''.join(text(part) for part in inside)}</{name}>")


def badge(verdict: str) -> Html:
    tone = {"certified": "good", "verified": "good", "within budget": "good", "refuted": "bad", "over budget": "bad"}.get(
        verdict, "open"
    )
    return element("span", verdict, class_=f"badge {tone}")


def rows(header: Sequence[str], body: Iterable[Sequence[Any]], class_: str = "wide") -> Html:
    """A table that scrolls by itself when it is too wide for a phone; "wide roomy": rather than have tall rows."""
    head = element("tr", *(element("th", cell) for cell in header))
    lines = [element("tr", *(element("td", cell) for cell in line)) for line in body]
    return element("div", element("table", element("thead", head), element("tbody", *lines)), class_=class_)


def facts(pairs: Mapping[str, Any]) -> Html:
    return element("dl", *(part for name, value in pairs.items() for part in (element("dt", name), element("dd", value))))
