"""What a subject prints is not the report: while its code runs, standard output goes where errors go."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout


@contextmanager
def output_aside() -> Iterator[None]:
    """Python's own output and, where there is a real file behind it, that of libraries and of forked workers too."""
    place, aside = _descriptor(sys.stdout), _descriptor(sys.stderr)
    if place is None or aside is None:
        with redirect_stdout(sys.stderr):
            yield
        return
    sys.stdout.flush()
    original = os.dup(place)
    try:
        os.dup2(aside, place)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(original, place)
        os.close(original)


def _descriptor(stream: object) -> int | None:
    try:
        return int(stream.fileno())  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return None
