"""Texts that are safe to print: a name from a ledger must not move the cursor, clear the screen or turn a line around."""

from __future__ import annotations

import re
from typing import Any

from dpaudit.claims import InvalidValue

# Control characters, line and paragraph separators, marks of writing direction, halves of surrogate pairs. A fixed list:
# str.isprintable depends on the version of Unicode, and a ledger must read the same everywhere.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def is_plain(text: object) -> bool:
    """A text without any of those."""
    return isinstance(text, str) and (text.isprintable() or _UNSAFE.search(text) is None)


def plain(text: Any, name: str) -> None:
    """Raises InvalidValue, which shows the text escaped."""
    if not isinstance(text, str):
        raise InvalidValue(name, type(text).__name__, "a text")
    if not is_plain(text):
        raise InvalidValue(name, text, "a text without control characters")
