"""Which code a piece of evidence is about: digests of modules, and of all that these import."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

FOLLOWED = ("dpaudit", "algorithms")  # packages whose imports are followed, beside the module's own
IMPORTS = "what these import"


def code_digests(names: Sequence[str]) -> dict[str, str]:
    """SHA-256 of each module; and one of all that these import of their own packages, of the algorithms and of dpaudit.

    Raises ModuleNotFoundError, with the module's name, for one that is not installed.
    """
    digests = {name: _digest(name) for name in names}
    rest = sorted(imported(names) - set(names))
    lines = [f"{name} {_digest(name)}" for name in rest]
    return {**digests, IMPORTS: hashlib.sha256("\n".join(lines).encode()).hexdigest()} if rest else digests


def imported(names: Sequence[str]) -> set[str]:
    """All modules that these import, one way or another, as far as they belong to the same packages or to ``FOLLOWED``."""
    tops = {name.partition(".")[0] for name in names} | set(FOLLOWED)
    modules, waiting = set(names), list(names)
    while waiting:
        for name in _imports(waiting.pop()):
            if name.partition(".")[0] in tops and name not in modules:
                modules.add(name)
                waiting.append(name)
    return modules


def _digest(name: str) -> str:
    origin = _origin(name)
    if origin is None:
        raise ModuleNotFoundError(f"{name} is not installed", name=name)
    return hashlib.sha256(origin.read_bytes()).hexdigest()


def _origin(name: str) -> Path | None:
    return _located(name, tuple(sys.path))


@lru_cache(maxsize=65536)
def _located(name: str, path: tuple[str, ...]) -> Path | None:
    """Where a module lies. ``path``: where Python looks; another path is another question."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin)


def _imports(name: str) -> Sequence[str]:
    """The modules that a module names in its imports, also inside functions; one that loads names late has them in its stub."""
    origin = _origin(name)
    if origin is None or origin.suffix != ".py":
        return ()
    package = name if origin.name == "__init__.py" else name.rpartition(".")[0]
    stub = origin.with_suffix(".pyi")
    return _found_imports(name, package, origin.read_bytes(), stub.read_bytes() if stub.exists() else b"", tuple(sys.path))


@lru_cache(maxsize=4096)
def _found_imports(name: str, package: str, source: bytes, stub: bytes, path: tuple[str, ...]) -> Sequence[str]:
    tops = {name.partition(".")[0], *FOLLOWED}
    named = imported_names(source, package) | imported_names(stub, package)
    return tuple(each for each in named if each.partition(".")[0] in tops and _located(each, path) is not None)


@lru_cache(maxsize=4096)
def imported_names(source: bytes, package: str) -> frozenset[str]:
    """The modules that a file names in its imports, also inside functions. ``package``: what relative imports start from.

    ``from a import b`` names a and a.b, whichever of them is a module. Raises SyntaxError and ValueError for what is no Python.
    """
    named: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".") if package else []
            above = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            named |= {".".join(filter(None, (module, each.name))) for each in node.names if each.name != "*"}
            named |= {module} if module else set()
    return frozenset(named)
