"""Which frames an error shows that leaves a deployment: those of the user's code, which got sealed data only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

_HIDDEN = ("dpaudit", "numpy", "pandas", "polars", "scipy")  # dpaudit hands the others plain data


def hide_own_frames(error: BaseException) -> None:
    """Of the error and of those before it; where all were hidden, it shows only where it is raised again."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _shown(one.__traceback__)
        waiting += [one.__cause__, one.__context__]


def _shown(trace: TracebackType | None) -> TracebackType | None:
    files = [getattr(sys.modules.get(name), "__file__", None) for name in _HIDDEN]
    hidden = tuple(str(Path(file).parent) + os.sep for file in files if file is not None)
    links = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(hidden):
            links.append(trace)
        trace = trace.tb_next
    for link in reversed(links):
        trace = TracebackType(trace, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return trace
