"""Through the door once: with a ledger, charge → draw → store → commit → return; under a key, never drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpaudit.claims import InvalidValue
from dpaudit.ledger import Ledger, Release


@dataclass(frozen=True)
class Keyed:
    """What was drawn under a key, and for which trials (None: the one run, or all of them)."""

    what: tuple[Any, ...]  # public facts that another release under the key must share
    index: np.ndarray | None
    output: np.ndarray


@dataclass
class Kept:
    """What passed a door without a ledger under a key. A key belongs to one release of each trial."""

    _found: dict[str, list[Keyed]] = field(default_factory=dict)

    def passed(
        self, draw: Callable[[], np.ndarray], key: str | None, what: tuple[Any, ...], index: np.ndarray | None
    ) -> tuple[np.ndarray, bool]:
        """What leaves a door without a ledger, and whether it was drawn now."""
        earlier = None if key is None else self._find(key, what, index)
        if earlier is not None:
            return earlier, False
        output = draw()
        if key is not None:
            self._found.setdefault(key, []).append(Keyed(what, index, output))
        return output, True

    def _find(self, key: str, what: tuple[Any, ...], index: np.ndarray | None) -> np.ndarray | None:
        """The output under this key. Raises InvalidValue when the key is taken by another release, or by some of the trials."""
        for keyed in self._found.get(key, []):
            if keyed.what == what and _same(keyed.index, index):
                return keyed.output
            if keyed.what != what or keyed.index is None or index is None or np.intersect1d(keyed.index, index).size:
                raise _taken(key)
        return None


def written(ledger: Ledger, record: Release, draw: Callable[[], np.ndarray], key: str | None) -> tuple[np.ndarray, bool]:
    """What leaves a door with a ledger: what is stored under the key, or else drawn after the charge and stored."""
    with ledger.charge(record.charge(), key, later=True) as slot:
        stored = slot.stored
        if stored is None:
            drawn = record.with_values(draw())
            stored = slot.store(drawn)
            if stored is drawn:
                return np.asarray(drawn.values), True
    if replace(stored, values=None) != record:
        raise _taken(key)
    return np.asarray(stored.values), False


def _taken(key: str | None) -> InvalidValue:
    return InvalidValue("key", key, "used for one release only; this one is taken")


def _same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other if one is None or other is None else np.array_equal(one, other)
