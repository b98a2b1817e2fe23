"""Is the function that would run the one in the file whose digest is taken? Another one may have been put in its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

from dpaudit.subjects.subject import Subject
from dpaudit.subjects.targets import code_of


def not_its_code(subject: Subject) -> str | None:
    """Why the subject's function is not the one in its source, in words; None where it is."""
    function, place = _function(subject.function), code_of(subject)
    if function is None or place is None:
        return "what runs is no Python function of a file, so no source digest covers it"
    if hasattr(subject.function, "__wrapped__") or hasattr(function, "__wrapped__"):
        return "its function is wrapped in another, which the source digest need not cover: declare the outermost as the subject"
    file = Path(function.__code__.co_filename).resolve()
    inside = file == place.resolve() or (place.is_dir() and place.resolve() in file.parents)
    if not inside or function.__code__ not in _codes(file, _modified_at(file)):
        return "the function that runs is not the one in its source file"
    return None


def _function(called: Any) -> FunctionType | None:
    """The Python function behind what is called: itself, a method's, or that of an object with ``__call__``."""
    if isinstance(called, MethodType):
        called = called.__func__
    if not isinstance(called, FunctionType):
        called = getattr(type(called), "__call__", None)  # noqa: B004  (looked up as a call looks it up)
    return called if isinstance(called, FunctionType) else None


def _modified_at(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=8)
def _codes(file: Path, _: int) -> frozenset[CodeType]:
    """Every function in a file, compiled as an import does; none where it cannot be."""
    try:
        return frozenset(_all_code(compile(file.read_bytes(), str(file), "exec", dont_inherit=True)))
    except (OSError, SyntaxError, ValueError):
        return frozenset()


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)
