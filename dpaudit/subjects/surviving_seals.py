"""Sealed data that outlives its run: a subject that keeps a result in a global, a cache or an attribute hands one run's data to
the next, whose neighbours know nothing of it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

from dpaudit.sealed.array import Sealed
from dpaudit.subjects.sealed_search import sealed_within

Seals = dict[int, Sealed]


def living_seals() -> Seals:
    """Every sealed value that somebody holds, by its id; holding them here keeps their ids from being used again."""
    return {id(one): one for one in gc.get_objects() if type(one) is Sealed}


def surviving_seals(before: Seals, apart: Any = ()) -> list[Sealed]:
    """Those that are held now and were not ``before``, but for what ``apart`` holds, such as the events of an audit's door."""
    if living_seals().keys() <= before.keys():
        return []
    gc.collect()  # what only holds itself is nobody's
    known = before.keys() | sealed_within(apart)
    return [one for name, one in living_seals().items() if name not in known]


def describe_memory(function: Callable[..., Any], left: Sequence[Sealed]) -> str:
    """Where they may be, for a person: the first global, or attribute of the function, that holds one of them."""
    ids = {id(one) for one in left}
    named = [*getattr(function, "__globals__", {}).items(), *getattr(function, "__dict__", {}).items()]
    named.sort(key=lambda item: callable(item[1]))  # a function holds what its code names: the thing itself first
    places = (repr(name) for name, value in named if ids & sealed_within(value))
    return f"a memory that outlives its run, {next(places, 'a global, a cache or an attribute')},"
