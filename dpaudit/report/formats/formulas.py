"""Formulas in plain text, as a page shows them: x_i and x^2 as real subscripts and superscripts, without a script or a font."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from dpaudit.report.markup import Html, text

# r_k, n_ia, R_T, A_{i+1}: one letter, perhaps with a hat, then one or two small letters or digits, or a capital; no snake_case.
_BASE = r"(?P<base>(?:(?<![A-Za-z_])[^\W\d_]|[A-ZΑ-Ωα-ω])[\u0300-\u036f]?)"
_LOW = _BASE + r"_(?P<low>\{[^{}]+\}|(?:[a-z0-9α-ω]{1,2}|max|min)(?![a-z0-9_])|[A-Z](?![A-Za-z0-9_]))"
# 10^-6, e^ε0, T^{1/2}, (3/ζ)^d, e^(−L); but T^1/4 may be read in two ways, and stays as it is.
_NUMBER, _LETTER = r"[-−+]?\d+(?:\.\d+)?(?![\d.]*/\d)(?!\d)", r"[-−+]?[^\W\d_][0-9]?(?![^\W_])"
_BRACED = r"\{[^{}]+\}|\((?:[^()]|\([^()]*\))+\)|[+*](?!\w)"
_HIGH = rf"(?<=[\w)}}\]|])\^(?P<high>{_BRACED}|{_NUMBER}|{_LETTER})"
FORMULA = re.compile(f"{_LOW}|{_HIGH}")


def formula(value: Any) -> Html:
    """Escaped text with its subscripts and superscripts; HTML is left alone."""
    if isinstance(value, Html):
        return value
    plain, at = str(value), 0
    parts: list[str] = []
    for match in FORMULA.finditer(plain):
        parts.append(text(plain[at : match.start()]))
        parts.append(_set(match))
        at = match.end()
    return Html("".join([*parts, text(plain[at:])]))


def _set(match: re.Match[str]) -> str:
    name, inside = ("sub", match["low"]) if match["low"] is not None else ("sup", match["high"])
    inside = inside[1:-1] if inside.startswith("{") else inside
    nested = formula(inside) if name == "sup" else escape(inside)
    return f"{escape(match['base'] or '')}<{name}>{nested}</{name}>"
