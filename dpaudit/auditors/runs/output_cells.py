"""Outputs of any kind as cells (path, kind, number), so that a game may look at each part of them.

A row holds three numbers a cell: a hash of where it stands, what kind of thing it is, and its value. Rows of different shape may
be padded with zeros, as no cell has the kind 0. Two outputs that differ have different cells, up to checksums.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np

from dpaudit.claims import DpauditError

ALLOWED = "numbers, texts, bytes, None, arrays of numbers or texts, and tuples, lists, sets or dicts of these"
EXACT = 2**53  # beyond it, not every whole number is a float
USUAL = (np.float64, np.int64, np.bool_, np.str_, np.bytes_)  # numpy's names for what Python returns
_USUAL_NAN, _PRIME = np.array([np.nan]).view(np.uint64)[0], 2**52 - 47
LONGEST = 40  # characters of a text that is read as a number


class Kind(IntEnum):
    """What a cell holds. Those up to LENGTH have a value that can be compared; the number of others is a checksum."""

    FLOAT = 1
    INTEGER = 2
    TRUTH = 3
    LENGTH = 4  # of a text, or the size of a whole number that no float is
    NOTHING = 5
    NOT_A_NUMBER = 6
    INFINITY = 7
    MINUS_INFINITY = 8
    MINUS_ZERO = 9
    LARGE = 10  # a whole number that no float is
    TEXT = 11
    BYTES = 12
    TUPLE = 13
    LIST = 14
    DICT = 15
    SET = 16
    MEMBER = 17
    ARRAY = 18


ORDERED = Kind.LENGTH  # kinds up to this one are numbers
Cell = tuple[float, int, float]


def cells(returned: Any) -> np.ndarray:
    """One output as a row. Raises DpauditError for what no subject may return."""
    parts = [part if isinstance(part, np.ndarray) else np.array(part) for part in _cells(returned, "")]
    return np.concatenate([part.reshape(-1) for part in parts]).astype(float)


def _cells(value: Any, path: str) -> Iterator[Cell | np.ndarray]:
    if isinstance(value, np.generic):
        if type(value) not in USUAL:
            yield _place(path + "#type"), Kind.ARRAY, _checksum(value.dtype.str.encode())
        value = value.item()
    if isinstance(value, float):
        yield _place(path), *_float(value)
    elif isinstance(value, bool):
        yield _place(path), Kind.TRUTH, float(value)
    elif isinstance(value, int):
        yield from _integer(value, path)
    elif value is None:
        yield _place(path), Kind.NOTHING, 0.0
    elif isinstance(value, str | bytes):
        yield from _text(value, path)
    elif isinstance(value, tuple | list | dict | set | frozenset):
        yield from _container(value, path)
    else:
        yield from _array(value, path)


def _float(value: float) -> tuple[int, float]:
    if math.isfinite(value):
        return (Kind.MINUS_ZERO, 0.0) if value == 0 and math.copysign(1.0, value) < 0 else (Kind.FLOAT, value)
    if math.isnan(value):
        return Kind.NOT_A_NUMBER, float(_payloads(np.array([value]))[0])
    return (Kind.INFINITY if value > 0 else Kind.MINUS_INFINITY), 0.0


def _payloads(missing: np.ndarray) -> np.ndarray:
    """What the bits of NaN say beside that: 0 for the usual one."""
    bits = np.ascontiguousarray(missing, np.float64).view(np.uint64) ^ _USUAL_NAN
    return (bits % np.uint64(_PRIME)).astype(float)  # a checksum: a float holds no 64 bits


def _integer(value: int, path: str) -> Iterator[Cell]:
    if abs(value) <= EXACT:
        yield _place(path), Kind.INTEGER, float(value)
        return
    yield _place(path), Kind.LARGE, _checksum(hex(value).encode())
    yield _place(path + "#size"), Kind.LENGTH, math.log2(abs(value)) * (1 if value > 0 else -1)


def _text(value: str | bytes, path: str) -> Iterator[Cell]:
    data = value.encode(errors="surrogatepass") if isinstance(value, str) else value
    yield _place(path), Kind.TEXT if isinstance(value, str) else Kind.BYTES, _checksum(data)
    yield _place(path + "#length"), Kind.LENGTH, float(len(value))
    if isinstance(value, str) and len(value) <= LONGEST:
        try:
            number = float(value)
        except ValueError:
            return
        yield _place(path + "#number"), *_float(number)


def _container(value: Any, path: str) -> Iterator[Cell | np.ndarray]:
    kinds = ((tuple, Kind.TUPLE), (list, Kind.LIST), (dict, Kind.DICT), (set | frozenset, Kind.SET))
    kind = next(kind for form, kind in kinds if isinstance(value, form))
    yield _place(path + "#kind"), kind, 0.0
    yield _place(path + "#len"), Kind.LENGTH, float(len(value))
    if kind == Kind.SET:
        for member in value:
            inside = b"".join(np.asarray(part, float).tobytes() for part in _cells(member, ""))
            yield _place(f"{path}{{{_checksum(inside):.0f}}}"), Kind.MEMBER, 1.0
    elif kind == Kind.DICT:
        if len(value) > 1:
            yield _place(path + "#order"), Kind.DICT, _checksum(repr(list(map(repr, value))).encode(errors="surrogatepass"))
        for key, part in value.items():
            yield from _cells(part, f"{path}[{type(key).__name__} {key!r}]")
    else:
        for index, part in enumerate(value):
            yield from _cells(part, f"{path}[{index}]")


def _array(value: Any, path: str) -> Iterator[Cell | np.ndarray]:
    array = np.asarray(value)
    letter = "i" if array.dtype.kind == "u" else array.dtype.kind
    if letter not in "bifUS":
        one = letter == "O" and array.ndim == 0
        what = type(array.item()).__name__ if one else f"an array of {array.dtype}"
        raise DpauditError(f"a subject returned {what}; it may return {ALLOWED}")
    yield _place(path + "#kind"), Kind.ARRAY, _checksum(f"{array.dtype.str}{array.shape}".encode())
    yield _place(path + "#len"), Kind.LENGTH, float(array.size)
    large = letter == "i" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > EXACT
    if letter in "US" or large:
        for index, part in enumerate(array.ravel().tolist()):
            yield from _cells(part, f"{path}[{index}]")
        return
    numbers = array.astype(float).ravel()
    kinds = np.full(numbers.size, {"f": Kind.FLOAT, "i": Kind.INTEGER, "b": Kind.TRUTH}[letter], float)
    kinds[np.isnan(numbers)], kinds[np.isposinf(numbers)] = Kind.NOT_A_NUMBER, Kind.INFINITY
    kinds[np.isneginf(numbers)], kinds[(numbers == 0) & np.signbit(numbers)] = Kind.MINUS_INFINITY, Kind.MINUS_ZERO
    shown = np.where(kinds <= ORDERED, numbers, 0.0)
    shown[np.isnan(numbers)] = _payloads(numbers[np.isnan(numbers)])
    yield np.stack([_places(path, numbers.size), kinds, shown], axis=1)


def _checksum(data: bytes) -> float:
    return float(zlib.crc32(data))


@lru_cache(100_000)
def _place(path: str) -> float:
    """A number for a path, never 0: 52 bits of its hash."""
    return float((int.from_bytes(hashlib.blake2b(path.encode(errors="surrogatepass"), digest_size=8).digest()) >> 12) or 1)


@lru_cache(1000)
def _places(path: str, size: int) -> np.ndarray:
    return np.array([_place(f"{path}[{index}]") for index in range(size)])
