"""Sealed data that outlives its run: a subject that keeps a result in a global, a cache or an attribute hands one run's data to
the next, whose neighbours know nothing of it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from dpaudit.sealed.array import Sealed
from dpaudit.subjects.sealed_search import find_sealed, sealed_within

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


def describe_memory(function: Callable[..., Any]) -> str:
    """Where it may be, for a person: the first global, or attribute of the function, that holds sealed data."""
    named = getattr(function, "__globals__", {}), getattr(function, "__dict__", {})
    places = (repr(name) for names in named for name, value in list(names.items()) if find_sealed(value) is not None)
    return f"a memory that outlives its run, {next(places, 'a global, a cache or an attribute')},"
