"""Which papers claims are of, by the titles that their packages state."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import EntryPoint

from dpaudit import entry_points
from dpaudit.papers.checks import GROUP, Decided


def paper_titles(decided: Sequence[Decided]) -> list[str]:
    """The papers that these claims are of, each once: ``TITLE`` of the module that an entry point names, else its name."""
    modules = {name for one in decided for name in one.code}
    return [_title(point) for point in entry_points.points(GROUP) if any(_is_of(point, name) for name in modules)]


def _is_of(point: EntryPoint, module: str) -> bool:
    """Does the code of a claim lie in the package of this paper?"""
    package = point.module.rpartition(".")[0] or point.module
    return module == package or module.startswith(f"{package}.")


def _title(point: EntryPoint) -> str:
    try:
        if entry_points.is_ours(point):
            with entry_points.our_packages():
                title = getattr(import_module(point.module), "TITLE", None)
        else:
            title = getattr(import_module(point.module), "TITLE", None)
    except Exception:  # a stranger's module that no longer loads; its claims were stored before
        return point.name
    return title if isinstance(title, str) and title.isprintable() and title.strip() else point.name
