"""Sealed values that outlive a run are found wherever they are held; those of the caller, and those that are gone, are not."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.subjects.surviving_seals import find_memory, living_seals, surviving_seals

HELD: list[Any] = []


@functools.lru_cache
def cached(_: int) -> list[Any]:
    return []


class Hidden:
    store: Any = None


def make() -> Any:
    return dp.seal(np.zeros(3), 0, 1)


def in_a_closure() -> Any:
    held: list[Any] = []
    return held.append


KEEP = in_a_closure()


@pytest.mark.parametrize(
    "keep",
    [HELD.append, cached(1).append, lambda value: setattr(Hidden, "store", value), KEEP],
    ids=["global", "lru_cache", "class", "closure"],
)
def test_what_is_kept_survives(keep: Any) -> None:
    before = living_seals()
    keep(make().sum())
    assert len(surviving_seals(before)) == 1


def test_what_is_gone_or_was_there_before_does_not() -> None:
    mine = make()
    before = living_seals()
    (mine + make()).sum()
    ring: list[Any] = [make()]
    ring.append(ring)
    del ring
    assert surviving_seals(before) == []


def test_what_the_door_of_an_audit_holds_is_set_apart() -> None:
    """An event of reports keeps the records that it was made from."""
    before = living_seals()
    with dp.simulate(1, every_report=True) as channel:
        channel.reports("r", make(), dp.Laplace(1), sensitivity=1)
    assert surviving_seals(before)
    assert surviving_seals(before, channel.events) == []


def test_the_place_is_named_where_it_can_be() -> None:
    HELD.append(make())
    kept = make()
    names: dict[str, Any] = {"older": HELD, "results": {"a": kept}}
    exec("def remembering(): ...", names)
    assert "'results'" in str(find_memory(names["remembering"], [kept]))
    assert "a global, a cache or an attribute" in str(find_memory(len, [kept]))
    assert find_memory(len, [kept]).where is None


@pytest.mark.parametrize(
    ("line", "declared"),
    [
        ("BOX['sum'] = kept", "BOX = {}"), ("BOX.append(kept)", "BOX = []"), ("BOX = kept", "BOX = None"),
        ("BOX += [kept]", "BOX = []"), ("BOX.last, rest = kept, 1", "class BOX: ..."), ("subject.last = kept", "BOX = None"),
        ("BOX.run(kept)", "class BOX:\n    run = classmethod(lambda own, value: setattr(own, 'value', value))"),
    ],
)  # fmt: skip
def test_the_line_that_keeps_it_is_told(tmp_path: Path, line: str, declared: str) -> None:
    """Not that of the declaration, nor the first of the function."""
    file = tmp_path / "keeping.py"
    file.write_text(f"{declared}\nother = []\ndef subject(kept):\n    global BOX\n    more = kept\n    {line}\n    return more\n")
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    kept = make()
    names["subject"](kept)
    names["ALL"] = [names["subject"]]  # holds it too, but no code names it
    memory = find_memory(names["subject"], [kept])
    assert memory.name == ("last" if "subject.last" in line else "BOX")
    assert memory.where == f"keeping.py:{6 + declared.count(chr(10))}"
