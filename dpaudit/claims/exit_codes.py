"""The exit codes of every command, and which of several counts."""

from __future__ import annotations

from collections.abc import Sequence

HOLDS, VIOLATED, UNUSABLE, UNPROVEN, NOTHING = 0, 1, 2, 3, 5
WORST_FIRST = (UNUSABLE, VIOLATED, UNPROVEN, NOTHING, HOLDS)


def worst(codes: Sequence[int]) -> int:
    """Several results: the worst, in the order 2, 1, 3, 5, 0."""
    return next(code for code in WORST_FIRST if code in codes)
