"""What a file draws in by other ways than import statements: modules named in a call, names made up while it runs, data files.

A module that a call names by a text (``import_module("helper")``) is one more import. Where a name is made up, or code is run
from a text or a file, nobody can say which module it will be: then every Python file of the project counts. A data file counts
where it is read while the module is imported, by a name that stands there; what a function reads when it is called is data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

NAMED = ("import_module", "__import__", "run_module")  # the first argument is a module
MADE_UP = ("run_path", "spec_from_file_location", "SourceFileLoader", "exec_module", "load_module")
BUILTIN = ("exec", "eval")  # as methods they are something else
READERS = (
    "open", "read_text", "read_bytes", "load", "loads", "loadtxt", "genfromtxt", "fromfile", "read_csv", "read_json",
    "read_parquet", "read_excel", "read_pickle", "safe_load",
)  # fmt: skip


@dataclass(frozen=True)
class LateImports:
    """Modules by their names; whether others may come; the texts of statements that read a file, each in its parts."""

    modules: frozenset[str]
    made_up: bool
    read: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=4096)
def late_imports(source: bytes, package: str) -> LateImports:
    """Raises SyntaxError and ValueError for what is no Python. ``package``: what relative names start from."""
    tree = ast.parse(source)
    modules, made_up = set[str](), False
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = _called(call)
        if name in NAMED:
            text = _text(call.args[0]) if call.args else None
            if text is None:
                made_up = True
            else:
                modules.add(_absolute(text, package))
        made_up = made_up or name in MADE_UP or (name in BUILTIN and isinstance(call.func, ast.Name))
    return LateImports(frozenset(modules), made_up, tuple(_texts_read(tree)))


def _called(call: ast.Call) -> str:
    function = call.func
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _absolute(name: str, package: str) -> str:
    """A relative name, as ``import_module`` takes it with its package."""
    dots = len(name) - len(name.lstrip("."))
    if not dots:
        return name
    parts = package.split(".") if package else []
    return ".".join([*parts[: len(parts) - dots + 1], name[dots:]])


def _texts_read(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """The texts of every statement that reads a file while the module is imported, in their order."""
    for statement in _at_import(tree.body):
        inside = list(ast.walk(statement))
        if any(isinstance(node, ast.Call) and _called(node) in READERS for node in inside):
            constants = [node for node in inside if isinstance(node, ast.Constant)]
            ordered = sorted(constants, key=lambda node: (node.lineno, node.col_offset))
            yield tuple(text for text in map(_text, ordered) if text)


def _at_import(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Simple statements outside of functions, also in classes, loops and branches; headers of what has a body."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "__main__" in ast.dump(statement.test):
            continue
        blocks = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
        if not any(blocks):
            yield statement
            continue
        yield from (item for item in getattr(statement, "items", []))  # of with
        for block in blocks:
            yield from _at_import(block)
        for handler in getattr(statement, "handlers", []):
            yield from _at_import(handler.body)
