"""What is installed for dpaudit, found by entry point. The packages that ship beside it win by their path, not by their name.

A user may well have a package of the same name as one of ours. Ours is loaded from the folder that dpaudit itself lies in, and a
user's from where the user's code lies, whatever the order of ``sys.path`` and whichever came first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

DISTRIBUTION = "dpaudit"
GROUPS = ("dpaudit.algorithms", "dpaudit.claims")
HERE = Path(__file__).resolve().parent.parent  # site-packages, or the repository
_aside: dict[str, ModuleType] = {}  # our modules, while a user's package has their names


class _Finder:
    """Finds these packages in these folders, before anybody else looks."""

    def __init__(self, names: Sequence[str], folders: Sequence[Path]) -> None:
        self.names, self.folders = frozenset(names), [str(folder) for folder in folders]

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, self.folders) if name in self.names else None


def points(group: str) -> list[EntryPoint]:
    """The entry points of a group, by name."""
    return sorted(entry_points(group=group), key=lambda point: point.name)


def is_ours(point: EntryPoint) -> bool:
    """Does this entry point come with dpaudit?"""
    return getattr(point.dist, "name", None) == DISTRIBUTION


@lru_cache(maxsize=1)
def shipped() -> frozenset[str]:
    """The packages that come with dpaudit, as its own entry points name them."""
    names = {_top(point.value) for group in GROUPS for point in points(group) if is_ours(point)}
    return frozenset(name for name in names if (HERE / name / "__init__.py").is_file())


def load(point: EntryPoint) -> Any:
    """What an entry point names; for one of ours, from our own packages, for another never from them."""
    with our_packages() if is_ours(point) else their_packages([Path(folder) for folder in sys.path], [_top(point.value)]):
        return point.load()


def comes_with_us(function: Callable[..., Any]) -> bool:
    """Is this function of a package that ships with dpaudit?"""
    top = _top(getattr(function, "__module__", None) or "")
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    return top in shipped() and bool(file) and Path(file).resolve().is_relative_to(HERE / top)


@contextmanager
def our_packages() -> Iterator[None]:
    """Within, the shipped names are ours; a user's modules of these names are back afterwards."""
    theirs = _take({name for name in shipped() if name in sys.modules and not _is_our_module(sys.modules[name])})
    back = [name for name in _aside if _top(name) not in sys.modules]
    sys.modules.update({name: _aside.pop(name) for name in back})
    finder = _Finder(sorted(shipped()), [HERE])
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if theirs:
            _aside.update(_take({_top(name) for name in theirs}))
            sys.modules.update(theirs)


@contextmanager
def their_packages(folders: Sequence[Path], wanted: Collection[str] | None = None) -> Iterator[None]:
    """Within and afterwards, shipped names (or those wanted of them) are of the folder that has a package of that name."""
    names = {
        name
        for name in shipped()
        if (wanted is None or name in wanted) and any(_holds(folder.resolve(), name) for folder in folders)
    }
    _aside.update(_take({name for name in names if name in sys.modules and _is_our_module(sys.modules[name])}))
    finder = _Finder(sorted(names), folders)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _holds(folder: Path, name: str) -> bool:
    """A package or module of a user: a plain folder of that name is not enough to hide ours."""
    return folder != HERE and ((folder / name / "__init__.py").is_file() or (folder / f"{name}.py").is_file())


def _is_our_module(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(HERE / _top(module.__name__))


def _take(names: set[str]) -> dict[str, ModuleType]:
    """The loaded modules of these packages, which are no longer loaded then."""
    return {name: sys.modules.pop(name) for name in list(sys.modules) if _top(name) in names}


def _top(name: str) -> str:
    """The package that a module or an entry point's value is of."""
    return name.partition(":")[0].partition(".")[0]
