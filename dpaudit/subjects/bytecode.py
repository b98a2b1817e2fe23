"""Does an import run what stands in a source file? Python prefers bytecode beside it, which may be stale or somebody else's.

Bytecode is taken for that of a source by its time and length, or by a hash that nobody compares with the code. An edit within the
same second keeps both, and a pull request can bring a ``__pycache__`` along: what is audited would not be what is read.
"""

from __future__ import annotations

import site
import sys
from collections.abc import Iterable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType


class SourceOnly(SourceFileLoader):
    """Loads a module from its source alone; bytecode is neither read nor written."""

    def get_code(self, fullname: str) -> CodeType:
        return compiled(Path(self.path))


class _AsImported(SourceFileLoader):
    """What an import runs; nothing is written."""

    def set_data(self, path: str, data: object, *, _mode: int = 0o666) -> None:
        pass


def compiled(file: Path) -> CodeType:
    """As an import compiles it. Raises OSError, SyntaxError and ValueError."""
    return compile(file.read_bytes(), str(file), "exec", dont_inherit=True)


def foreign_bytecode(files: Iterable[Path]) -> Path | None:
    """The first source file in whose place an import runs bytecode of other code."""
    return next((file for file in files if file.suffix == ".py" and _runs_other_code(file)), None)


def is_installed(file: Path) -> bool:
    """Does it belong to Python or to an installed package, which a lock file names, rather than to a project?"""
    places = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, site.getusersitepackages())}
    return any(file.is_relative_to(place) for place in places)


def _runs_other_code(file: Path) -> bool:
    try:
        imported = _AsImported("imported", str(file)).get_code("imported")
    except (ImportError, EOFError):  # bytecode that cannot be read
        return True
    except (OSError, SyntaxError, ValueError):  # an import fails: nothing runs
        return False
    try:
        return imported != compiled(file)
    except (OSError, SyntaxError, ValueError):  # the bytecode is that of another source: this has none
        return True
