"""Records of several kinds, such as (name, age) or {"name": …, "age": …}: a list of them, sealed field by field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.claims import InvalidValue

SealColumn = Callable[[Sequence[Any], Sequence[Any]], Any]  # of the records' values and of the listed ones; None: it cannot


class SealedRecords(list[Any]):
    """One tuple, list or dict of sealed values per record. How many records there are is public."""


def seal_records(data: Any, values: Sequence[Any], seal_column: SealColumn) -> SealedRecords | None:
    """Seal each field of the records; None where the listed records differ in their fields, or hold what cannot be sealed."""
    if not isinstance(data, list | tuple):
        raise InvalidValue("data", type(data).__name__, "a list with one record each")
    parts = _columns(list(data), values, seal_column)
    return None if parts is None else SealedRecords(parts[place] for place in range(len(data)))


def _columns(data: list[Any], values: Sequence[Any], seal_column: SealColumn) -> Any:
    """Something with the sealed value of record k at place k."""
    keys = _fields(values[0])
    if keys is None:
        return seal_column(data, values)
    kind = type(values[0])
    if any(type(one) is not kind or _fields(one) != keys for one in values):
        return None
    if any(not isinstance(one, kind) or _fields(one) != keys for one in data):
        raise InvalidValue(
            "data", "a record with other fields", f"records like those listed: {kind.__name__} of {len(keys)} values"
        )
    parts = [_columns([one[key] for one in data], [one[key] for one in values], seal_column) for key in keys]
    if any(part is None for part in parts):
        return None
    rows = [[part[place] for part in parts] for place in range(len(data))]
    return [dict(zip(keys, row, strict=True)) if kind is dict else kind(row) for row in rows]


def _fields(record: Any) -> list[Any] | None:
    """The keys of its values; None for a value that is no record."""
    if type(record) in (tuple, list):
        return list(range(len(record)))
    return list(record) if type(record) is dict else None
