"""The first result is cached, and every later run releases it: in a global, an lru_cache, an attribute of the function."""

from __future__ import annotations

import functools
from typing import Any

import dpaudit as dp

EXPECTED = {
    "bug": ("unproven", "DPA002"),
    "bug_lru_cache": ("unproven", "DPA002"),
    "bug_attribute": ("unproven", "DPA002"),
    "bug_running_mean": ("unproven", "DPA002"),
    "bug_stash_of_the_data": ("unproven", "DPA002"),
    "repaired": ("certified", ""),
    "repaired_public_cache": ("certified", ""),
}
ten = dp.replace_one(n=10, low=0, high=1)
claim = dp.Claim(epsilon="1")
noise = dp.Laplace(scale=1)
results: dict[str, Any] = {}
before: list[Any] = []
stash: list[Any] = []


class Store:
    total: Any = None


@functools.lru_cache
def largest(name: str) -> list[Any]:
    return []


@dp.subject(claim=claim, neighbours=ten)
def bug(records: Any, channel: Any) -> Any:
    if "total" not in results:
        results["total"] = records.sum()
    return channel.release("sum", results["total"], noise, sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def bug_lru_cache(records: Any, channel: Any) -> Any:
    held = largest("sum")
    if not held:
        held.append(records.sum())
    return channel.release("sum", held[0], noise, sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def bug_attribute(records: Any, channel: Any) -> Any:
    if Store.total is None:
        Store.total = records.sum()
    return channel.release("sum", Store.total, noise, sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def bug_running_mean(records: Any, channel: Any) -> Any:
    """Remembers the last run alone: the plain run of an audit takes the place of the sealed one."""
    mixed = records.sum() if not before else records.sum() / 2 + before[0] / 2
    before[:] = [records.sum()]
    return channel.release("sum", mixed, noise, sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def bug_stash_of_the_data(records: Any, channel: Any) -> Any:
    """Nothing is computed from it yet; the next version of the code will."""
    stash.append(records)
    return channel.release("sum", records.sum(), noise, sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def repaired(records: Any, channel: Any) -> Any:
    return channel.release("sum", records.sum(), noise, sensitivity=1)


@dp.subject(claim=claim, neighbours=ten)
def repaired_public_cache(records: Any, channel: Any) -> Any:
    """What is public may be kept."""
    weight = results.setdefault("weight", 0.5)
    return channel.release("sum", weight * records.sum(), noise, sensitivity=1)
