"""Sealed data that outlives its run: a subject that keeps a result in a global, a cache or an attribute hands one run's data to
the next, whose neighbours know nothing of it."""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeGuard

from dpaudit.sealed.array import Sealed, living_seals
from dpaudit.subjects.sealed_search import sealed_within

Seals = dict[int, Sealed]


def surviving_seals(before: Seals, apart: Any = ()) -> list[Sealed]:
    """Those that are held now and were not ``before``, but for what ``apart`` holds, such as the events of an audit's door."""
    if living_seals().keys() <= before.keys():
        return []
    known = before.keys() | sealed_within(apart)
    if living_seals().keys() <= known:
        return []
    gc.collect()  # what only holds itself is nobody's
    return [one for name, one in living_seals().items() if name not in known]


@dataclass(frozen=True)
class Memory:
    """Where they may be, for a person: a global, or an attribute of the function, and the line that puts them there."""

    name: str | None
    where: str | None

    def __str__(self) -> str:
        place = "a global, a cache or an attribute" if self.name is None else repr(self.name)
        return f"a memory that outlives its run, {place},"


def find_memory(function: Callable[..., Any], left: Sequence[Sealed]) -> Memory:
    """The first global or attribute of the function that holds one of them: such as its code names before all others, and the
    thing itself before a function, which holds what its code names."""
    ids, inner = {id(one) for one in left}, inspect.unwrap(function)
    code = getattr(inner, "__code__", None)
    used = set(code.co_names) if code is not None else set()
    named = [*getattr(inner, "__globals__", {}).items(), *getattr(function, "__dict__", {}).items()]
    named.sort(key=lambda item: (item[0] not in used, callable(item[1])))
    name = next((name for name, value in named if ids & _held(value)), None)
    return Memory(name, None if name is None or code is None else _line_that_keeps(name, code))


def _held(value: Any) -> set[int]:
    """A class holds what its attributes do."""
    return set(sealed_within(list(vars(value).values()) if isinstance(value, type) else value))


def _line_that_keeps(name: str, code: CodeType) -> str | None:
    """file:line where a function of that file stores something in what is called so, or calls it or a method of it; rather in
    this code than elsewhere."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]
    lines = {node.lineno for one in functions for node in ast.walk(one) if _keeps(node, name)}
    own = {line for _, _, line in code.co_lines() if line is not None}
    best = min(lines & own or lines, default=None)
    return None if best is None else f"{os.path.basename(code.co_filename)}:{best}"


def _keeps(node: ast.AST, name: str) -> TypeGuard[ast.stmt | ast.expr]:
    if isinstance(node, ast.Assign):
        return any(_is_part_of(target, name) for target in node.targets)
    if isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
        return _is_part_of(node.target, name)
    return isinstance(node, ast.Call) and _is_part_of(node.func, name)


def _is_part_of(target: ast.AST, name: str) -> bool:
    """``name``, ``name[…]``, ``name.…`` or ``….name``; or a tuple with one of them."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(_is_part_of(one, name) for one in target.elts)
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        if isinstance(target, ast.Attribute) and target.attr == name:
            return True
        target = target.value
    return isinstance(target, ast.Name) and target.id == name
