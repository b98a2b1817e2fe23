"""How many entries are read at once: few where one is looked up, many where all are read."""

from __future__ import annotations

from collections.abc import Iterator

MOST = 10_000


def growing_chunks() -> Iterator[int]:
    size = 16
    while True:
        yield size
        size = min(8 * size, MOST)
