"""Released values: integer multiples of the grid, written as JSON; long arrays packed, canonically."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dpaudit.claims import InvalidValue
from dpaudit.ledger.errors import InvalidRecord

Units = npt.NDArray[np.int64]

_SHORT = 64  # entries; longer arrays are packed
_MOST = 10**8  # entries of one array
_PART = 3 * 2**18  # entries at once, so that packing takes little beside what is packed; threes fill whole letters of base64


def as_units(values: object) -> Units:
    """A read-only int64 copy of released units. Raises InvalidValue without printing them."""
    try:
        array = np.asarray(values)
    except ValueError:  # ragged nesting
        raise InvalidValue("values", type(values).__name__, "a rectangular array of integers") from None
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.max(initial=0) > 2**63 - 1):
        raise InvalidValue("values", f"{array.dtype} array", "integers of 64 bits, in units of the grid")
    if array.dtype == np.int64 and array.flags.owndata and not array.flags.writeable:
        return array  # nobody writes to it
    units = array.astype(np.int64)
    units.setflags(write=False)
    return units


def units_to_json(units: Units) -> Any:
    """Nested lists when short; else offsets from the least, ``width`` little-endian bytes each, in base64."""
    if units.size <= _SHORT and (units.size or units.ndim == 1):
        return units.tolist()
    least, width = _offset_form(units)
    return {"data": "".join(_texts(units, least, width)), "least": least, "shape": list(units.shape), "width": width}


def is_json_of(data: Any, units: Units) -> bool:
    """Is it what ``units_to_json`` writes of them? Compared in parts, without another copy."""
    if units.size <= _SHORT and (units.size or units.ndim == 1):
        return bool(data == units.tolist())
    least, width = _offset_form(units)
    if {**data, "data": ""} != {"data": "", "least": least, "shape": list(units.shape), "width": width}:
        return False
    text, place = data["data"], 0
    for part in _texts(units, least, width):
        if text[place : place + len(part)] != part:
            return False
        place += len(part)
    return place == len(text)


def _offset_form(units: Units) -> tuple[int, int]:
    """The least of them, and the bytes that the largest offset from it takes."""
    least = int(units.min()) if units.size else 0
    span = int(units.max()) - least if units.size else 0
    return least, max(1, (span.bit_length() + 7) // 8)


def _texts(units: Units, least: int, width: int) -> Iterator[str]:
    flat = units.ravel()
    for start in range(0, units.size, _PART):
        # Offsets modulo 2^64 are exact: the span of int64 values fits in an unsigned word.
        offsets = flat[start : start + _PART].astype(np.uint64) - np.uint64(least % 2**64)
        words = offsets.astype("<u8").view(np.uint8).reshape(-1, 8)
        yield base64.b64encode(np.ascontiguousarray(words[:, :width]).tobytes()).decode("ascii")


def units_from_json(data: object, line: int | None = None) -> Units:
    """Read what ``units_to_json`` writes. Raises InvalidRecord."""
    try:
        return as_units(_unpack(data) if isinstance(data, dict) else _nested(data))
    except (InvalidValue, KeyError, TypeError, ValueError, OverflowError, binascii.Error):
        expected = "an integer, nested lists of integers, or the packed form that a ledger writes"
        raise InvalidRecord("values", expected, line) from None


def _nested(data: object) -> object:
    """Plain ints only: numpy would read booleans, texts and floats too."""
    pending = [data]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(item)
        elif type(item) is not int:
            raise TypeError
    return data


def _unpack(data: dict[str, Any]) -> Units:
    shape, width, least = data["shape"], data["width"], data["least"]
    if set(data) != {"data", "least", "shape", "width"} or not isinstance(shape, list):
        raise ValueError
    if any(type(number) is not int for number in (*shape, width, least)) or min(shape, default=0) < 0:
        raise ValueError
    size = math.prod(shape)
    text, step = data["data"], _PART * width // 3 * 4  # letters of a part
    if not 1 <= width <= 8 or size > _MOST or len(text) != -(-size * width // 3) * 4:
        raise ValueError
    units = np.empty(shape, dtype=np.int64)
    flat = units.reshape(-1)
    for number, start in enumerate(range(0, size, _PART)):
        packed = np.frombuffer(base64.b64decode(text[number * step : (number + 1) * step], validate=True), dtype=np.uint8)
        words = np.zeros((min(_PART, size - start), 8), dtype=np.uint8)
        words[:, :width] = packed.reshape(-1, width)
        offsets = words.view("<u8").ravel()
        if least + int(offsets.max()) >= 2**63:
            raise ValueError
        flat[start : start + _PART] = (offsets.astype(np.uint64) + np.uint64(least % 2**64)).astype(np.int64)
    units.setflags(write=False)
    return units
