"""Is the function that would run the one in the file whose digest is taken? Another one may have been put in its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from dpaudit.certificate.source.surrounding_code import project_files
from dpaudit.subjects.bytecode import SourceOnly, compiled, foreign_bytecode
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
    return _other_module(project_files(place))


def _other_module(files: Sequence[Path]) -> str | None:
    """Which module of the project runs otherwise than its file says: loaded before a change, or from other bytecode."""
    other = foreign_bytecode(files)
    if other is not None:
        return f"the bytecode of {other.name} is not that of its source: delete the __pycache__ beside it"
    wanted = {str(file): file for file in files}
    by_import = [module for module in list(sys.modules.values()) if _loader_of(module) in (SourceFileLoader, SourceOnly)]
    for module in by_import:  # other loaders change what they load, as pytest does with assertions
        file = wanted.get(getattr(module, "__file__", None) or "")
        if file is not None and not _functions_of(module, str(file)) <= _codes(file, _modified_at(file)):
            return f"{file.name} was changed after it was imported: start the process again"
    return None


def _loader_of(module: ModuleType) -> type:
    return type(getattr(getattr(module, "__spec__", None), "loader", None))


def _functions_of(module: ModuleType, file: str) -> set[CodeType]:
    """The code of what a module defines and still holds under its name: functions, and methods of its classes."""
    held = list(vars(module).values())
    held += [
        value for each in held if isinstance(each, type) and each.__module__ == module.__name__ for value in vars(each).values()
    ]
    functions = [value for value in held if isinstance(value, FunctionType)]
    return {function.__code__ for function in functions if function.__code__.co_filename == file}


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


@lru_cache(maxsize=256)
def _codes(file: Path, _: int) -> frozenset[CodeType]:
    """Every function in a file, compiled as an import does; none where it cannot be."""
    try:
        return frozenset(_all_code(compiled(file)))
    except (OSError, SyntaxError, ValueError):
        return frozenset()


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)
