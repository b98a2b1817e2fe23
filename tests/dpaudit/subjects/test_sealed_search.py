"""Sealed data is found wherever a returned value holds it; plain values of any form are not mistaken for it."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import types
import weakref
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.claims import Leak
from dpaudit.subjects.sealed_search import find_sealed, refuse_sealed

SECRET = dp.seal(np.zeros(3), 0, 1).sum()


@dataclasses.dataclass
class Result:
    value: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    value: Any


class Key:
    """Hashable, and holds what it is given."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def trap(self) -> Any:
        raise AssertionError("a search runs no code of what it searches")

    def __eq__(self, _: object) -> bool:
        raise AssertionError("a search runs no code of what it searches")

    def __hash__(self) -> int:
        return 1

    def method(self) -> Any:
        return self.value


class Text(str):
    """A text with attributes."""


def text_with(value: Any) -> Text:
    text = Text("harmless")
    text.value = value  # type: ignore[attr-defined]
    return text


def closure(value: Any) -> Any:
    return lambda: value


def default(value: Any) -> Any:
    return lambda given=value: given


def attribute(value: Any) -> Any:
    def function() -> None: ...

    function.value = value  # type: ignore[attr-defined]
    return function


def caught(value: Any) -> BaseException:
    private = value  # stays in the frame
    try:
        raise ValueError
    except ValueError as error:
        assert private is value
        return error


def local_class(value: Any) -> Any:
    class Local:
        held = value

    return Local()


def cached(value: Any) -> Any:
    @functools.lru_cache
    def get() -> Any:
        return held[0]

    held = [value]
    get()
    held.clear()
    return get


def circular(value: Any) -> Any:
    ring: list[Any] = [1]
    ring.append(ring)
    ring.append(value)
    return ring


def objects(value: Any) -> Any:
    array = np.empty(2, dtype=object)
    array[:] = [1, None]
    array[1] = Key(value)
    return array


HOLDERS: dict[str, Any] = {
    "itself": lambda v: v,
    "tuple": lambda v: (1, (2, v)),
    "dict value": lambda v: {"a": [v]},
    "dict key": lambda v: {Key(v): 1},
    "set": lambda v: {Key(v)},
    "deque": lambda v: collections.deque([v]),
    "ordered": lambda v: collections.OrderedDict(a=v),
    "proxy": lambda v: types.MappingProxyType({"a": v}),
    "view": lambda v: {"a": v}.values(),
    "namespace": lambda v: types.SimpleNamespace(a=v),
    "dataclass": Result,
    "slots": Slotted,
    "attribute": Key,
    "method": lambda v: Key(v).method,
    "partial": lambda v: functools.partial(print, v),
    "closure": closure,
    "default": default,
    "function attribute": attribute,
    "text": text_with,
    "exception": caught,
    "error argument": lambda v: ValueError(v),
    "local class": local_class,
    "object array": objects,
    "cache": cached,
    "ring": circular,
    "generator": lambda v: (x for x in [v]),
    "iterator": lambda v: iter([v]),
    "map": lambda v: map(str, [v]),
    "chain": lambda v: itertools.chain([v]),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS.keys())
def test_sealed_data_is_found_wherever_it_is_held(holder: Any) -> None:
    assert find_sealed(holder(SECRET)) is not None
    with pytest.raises(Leak, match="DPA002"):
        refuse_sealed(holder(SECRET), "subject")


@pytest.mark.parametrize(
    "holder", [h for name, h in HOLDERS.items() if name not in {"generator", "iterator", "map", "chain"}],
    ids=[name for name in HOLDERS if name not in {"generator", "iterator", "map", "chain"}],
)  # fmt: skip
def test_the_same_holders_of_plain_data_pass(holder: Any) -> None:
    assert find_sealed(holder(1.5)) is None


def test_generators_and_coroutines_are_refused_whatever_they_will_give() -> None:
    async def later() -> int:
        return 1

    for late in ((x for x in "plain"), later(), iter([1]), map(str, [1])):
        assert "cannot be searched" in str(find_sealed(late))


def test_a_weak_reference_is_followed() -> None:
    held = Result(SECRET)
    assert find_sealed(weakref.ref(held)) is not None
    assert find_sealed(weakref.ref(Result(1))) is None


def test_private_objects_are_refused_by_identity() -> None:
    """Data of other forms than arrays, such as a bandit's rewards, is private without being an array that is sealed."""
    rewards = Result([1.0])
    assert find_sealed({"a": [rewards]}, private=[rewards]) is not None
    assert find_sealed({"a": [Result([1.0])]}, private=[rewards]) is None


@pytest.mark.parametrize(
    "plain",
    [None, 1, "text", b"bytes", np.zeros(3), np.float64(1), {"a": [1, (2.0, None)]}, Result({1: {2}}), np.sum, len, Key, dp],
)
def test_plain_values_pass(plain: Any) -> None:
    refuse_sealed(plain, "subject")


def test_no_message_tells_the_data() -> None:
    with pytest.raises(Leak) as caught_leak:
        refuse_sealed([dp.seal(np.full(3, 0.123456), 0, 1)], "mechanism")
    assert "0.123" not in str(caught_leak.value)
    assert "mechanism" in str(caught_leak.value)
