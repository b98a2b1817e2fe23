"""One measured figure: what was asked, what was reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """``met`` is None where nothing was asked."""

    name: str
    asked: str
    reached: str
    met: bool | None = None

    def line(self) -> str:
        mark = {None: "", True: "ok", False: "MISSED"}[self.met]
        return f"{self.name:<58} {self.asked:>22} {self.reached:>44}  {mark}".rstrip()


Figures = Iterator[Figure]
HEADER = Figure("figure", "asked", "reached").line()
