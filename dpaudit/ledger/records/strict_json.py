"""Strict JSON: one canonical form to write, and a reader that refuses what is ambiguous or huge."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from dpaudit.ledger.errors import MalformedJson

LARGEST_FILE = 16 * 10**6  # bytes; exports are read line by line and may be larger
MOST_BRACKETS = 500_000
DEEPEST = 64
LONGEST_INTEGER = 4096  # digits

# A string, closed or running to the end of the text, or a bracket. Possessive, hence linear on any input.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{\]}]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def canonical(value: object) -> bytes:
    """The one way to write a value: sorted keys, no spaces, ASCII. Raises ValueError for NaN and infinity."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)
    return text.encode("ascii")


def loads(data: bytes, line: int = 1) -> Any:
    """Parse one JSON text that starts at the given line of its file. Raises MalformedJson, nothing else."""
    text = _decode(data, line)

    def refuse(reason: str) -> NoReturn:
        raise MalformedJson(line, reason)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        return fields if len(fields) == len(pairs) else refuse("an object repeats a key; keep one of them")

    def whole(digits: str) -> int:
        return int(digits) if len(digits) <= LONGEST_INTEGER else refuse("an integer has more than 4096 digits")

    def decimal(digits: str) -> float:
        number = float(digits)
        return number if math.isfinite(number) else refuse("a number is out of range")

    _check_depth(text, line)
    try:
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=whole,
            parse_float=decimal,
            parse_constant=lambda name: refuse(f"{name} is not a number in JSON"),
        )
    except json.JSONDecodeError as error:
        raise MalformedJson(line + error.lineno - 1, f"not JSON: {error.msg}, column {error.colno}") from None
    if _SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            refuse("a text holds half of a surrogate pair")
    return value


def load_file(path: str | Path) -> Any:
    """Parse a file that holds one JSON text. Raises MalformedJson; OSError if it cannot be read at all."""
    return loads(_read(path))


def lines(path: str | Path) -> Iterator[tuple[int, Any]]:
    """(line number, value) of every line that is not blank. Raises MalformedJson; OSError if unreadable."""
    data = _read(path)
    _decode(data[:4], 1, partial=True)
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield number, loads(line, number)


def _read(path: str | Path) -> bytes:
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe could wait for ever, a device has no end
        raise MalformedJson(1, "not a regular file")
    with open(path, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise MalformedJson(1, f"the file is larger than {LARGEST_FILE // 10**6} MB; split it")
    return data


def _decode(data: bytes, line: int, partial: bool = False) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or b"\x00" in data:
        raise MalformedJson(line, "the encoding is not plain UTF-8 (a byte-order mark or UTF-16?); save it as UTF-8")
    if partial:
        return ""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MalformedJson(line + data.count(b"\n", 0, error.start), "the encoding is not UTF-8; save it as UTF-8") from None


def _check_depth(text: str, line: int) -> None:
    brackets = text.count("[") + text.count("{")
    if brackets <= DEEPEST:
        return
    if brackets > MOST_BRACKETS:
        raise MalformedJson(line, f"more than {MOST_BRACKETS} lists and objects in one text; split it")
    depth = 0
    for token in _TOKEN.finditer(text):
        mark = text[token.start()]
        if mark in "[{":
            depth += 1
            if depth > DEEPEST:
                reached = line + text.count("\n", 0, token.start())
                raise MalformedJson(reached, f"nested more than {DEEPEST} levels deep")
        elif mark in "]}":
            depth -= 1
