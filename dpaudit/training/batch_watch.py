"""Hears of every batch that a loader's sampler draws, without changing one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Told = Callable[[Sequence[int]], None]


def watch_batches(data_loader: Any, tell: Told) -> bool:
    """Call ``tell`` with the indices of each batch before it is loaded; False where there is no batch sampler to watch.

    A loader with workers draws ahead of its steps, in order all the same.
    """
    sampler = getattr(data_loader, "batch_sampler", None)
    if sampler is None:
        return False
    if not hasattr(sampler, "dpaudit_tell"):
        sampler.__class__ = _watched(type(sampler))
        sampler.dpaudit_tell = []
    sampler.dpaudit_tell.append(tell)
    return True


def _watched(own: type) -> type:
    """A subclass of the sampler's class, so that whoever asks for its type still finds it."""

    def draw(sampler: Any) -> Iterator[Any]:
        for batch in own.__iter__(sampler):  # type: ignore[attr-defined]
            for tell in sampler.dpaudit_tell:
                tell(batch)
            yield batch

    return type(own.__name__, (own,), {"__iter__": draw})
