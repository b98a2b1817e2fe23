"""Pieces of HTML that are safe by construction: what is no HTML already is escaped."""

from __future__ import annotations

from html import escape
from typing import Any


class Html(str):
    """Text that is HTML already."""


def text(value: Any) -> Html:
    """Escaped, unless it is HTML already."""
    return value if isinstance(value, Html) else Html(escape(str(value)))


def element(name: str, *inside: Any, **attributes: str) -> Html:
    """<name …>inside</name>; ``class_`` loses its underscore, ``aria_label`` has a hyphen for it, empty ones are left out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"' for key, value in attributes.items() if value
    )
    return Html(f"<{name}{written}>{''.join(text(part) for part in inside)}</{name}>")
