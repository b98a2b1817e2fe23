"""A paper's figures inside a page: SVG that draws, and does nothing else."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from dpaudit.report.document import Figure, Styled
from dpaudit.report.markup import Html

_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_DRAWS = {
    "svg", "g", "path", "rect", "line", "circle", "ellipse", "polyline", "polygon", "text", "tspan", "defs", "use", "clipPath",
    "style", "title", "desc", "marker", "linearGradient", "radialGradient", "stop", "pattern", "mask", "symbol",
}  # fmt: skip
_LOADS = re.compile(r"@|\\|url\(\s*['\"]?(?!#)|javascript:|expression\(", re.IGNORECASE)


def paper_figure(drawn: Any) -> Figure:
    """A figure with its caption. What is no drawing, or could run or load something, is left out, and the caption says so."""
    caption = str(drawn.get("caption", "")) if isinstance(drawn, dict) else ""
    try:
        svg = _inline(str(drawn["svg"]), caption or "a figure of this claim")
    except (KeyError, TypeError, ValueError) as error:
        why = error.args[0] if type(error) is ValueError else "it is no SVG"
        return Figure(Html(), f"{caption} (The figure is not shown: {why}.)".strip())
    return Figure(svg, Styled(caption, "formula"))


def _inline(source: str, label: str) -> Html:
    if "<!" in re.sub(r"<!--.*?-->", "", source, flags=re.DOTALL):  # entities and the like
        raise ValueError("it declares entities")
    try:
        root = ElementTree.fromstring(source)
    except ElementTree.ParseError:
        raise ValueError("it is no SVG") from None
    if root.tag not in (f"{{{_SVG}}}svg", "svg"):
        raise ValueError("it is no SVG")
    _strip(root)
    root.attrib |= {"role": "img", "aria-label": label}
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    return Html(ElementTree.tostring(root, encoding="unicode"))


def _strip(node: ElementTree.Element) -> None:
    """Drop a node's metadata; refuse all that does not draw."""
    for child in list(node):
        name = _local(child.tag)
        if name == "metadata":
            node.remove(child)
        elif name not in _DRAWS or child.tag not in (name, f"{{{_SVG}}}{name}"):
            raise ValueError(f"it holds <{name}>")
        else:
            _strip(child)
    if _local(node.tag) == "style" and (len(node) or _LOADS.search(node.text or "")):
        raise ValueError("its style loads something")
    for key, value in node.attrib.items():
        name = _local(key).lower()
        if name.startswith("on") or (name in ("href", "src") and not value.startswith("#")) or _LOADS.search(value):
            raise ValueError(f"its {name} does more than draw")


def _local(name: Any) -> str:
    return str(name).rpartition("}")[2]
