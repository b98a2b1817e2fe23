"""One function of a library, with the claim that its documentation makes; read by both sides, so it imports nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """``call(data)`` runs the function once. ``pair``: neighbouring data, as ``neighbours`` says in the library's own words.

    ``batch``: where one call is dear, ``call(data)`` makes that many runs at once and answers with a list of their outputs,
    such as one for each of many groups with the same records, which a library treats apart.
    """

    name: str
    call: Callable[[Any], Any]
    pair: tuple[Any, Any]
    epsilon: str = "1"
    delta: str = "0"
    neighbours: str = "one record replaced"
    batch: int = 1


def numbers(value: Any) -> list[float]:
    """An output as numbers: what an audit attacks."""
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in numbers(value[key])]
    if hasattr(value, "tolist"):
        return numbers(value.tolist())
    if isinstance(value, list | tuple):
        return [number for each in value for number in numbers(each)]
    return [float(value)]


def replaced(data: Sequence[Any], value: Any) -> list[Any]:
    """The same data with another first record."""
    return [value, *data[1:]]
