"""What a subject's code draws in: the modules of its project that it imports, one way or another, and the project's lock file.

Installed packages are what the lock file says, and dpaudit has a digest of its own. What is imported by a name that is made up
while the code runs is not followed, and neither are data files.
"""

from __future__ import annotations

import site
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from dpaudit.papers.code_digests import imported_names

IMPORTS, LOCK = "imports", "lock"  # their names in a certificate
LOCKS = (
    "pylock.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.lock", "requirements.txt",
    "constraints.txt",
)  # fmt: skip
_ROOTS = (".git", "pyproject.toml")  # what a project's folder holds


def surroundings(code: Path | None) -> dict[str, str]:
    """Digests of what is imported and of the lock file, each where there is one. ``code``: a file, or a package's folder."""
    if code is None:
        return {}
    modules, lock = imported_modules(code), lock_file(code)
    lines = "\n".join(f"{name} {sha256(modules[name].read_bytes()).hexdigest()}" for name in sorted(modules))
    digests = {IMPORTS: sha256(lines.encode()).hexdigest()} if modules else {}
    return digests if lock is None else {**digests, LOCK: sha256(lock.read_bytes()).hexdigest()}


def imported_modules(code: Path) -> dict[str, Path]:
    """Files of the project by their modules' names, without those of ``code`` itself."""
    code = code.resolve()
    own = sorted(code.rglob("*.py")) if code.is_dir() else [code]
    roots, modules, waiting = _import_roots(code), dict[str, Path](), list(own)
    while waiting:
        file = waiting.pop()
        for name in _names_in(file, _package_of(file, roots)):
            for module, place in _files_of(name, roots):
                if module not in modules and place not in own:
                    modules[module] = place
                    waiting.append(place)
    return modules


def lock_file(code: Path) -> Path | None:
    """The first that is known by its name, in the nearest folder that has one, up to the project's."""
    for folder in _up_to_project(code.resolve()):
        for name in LOCKS:
            if (folder / name).is_file():
                return folder / name
    return None


def _up_to_project(code: Path) -> list[Path]:
    """The folder of the code and those above it, as far as the project reaches; only its own where there is no project."""
    folders = list((code / "_").parents if code.is_dir() else code.parents)
    last = next((place for place, folder in enumerate(folders) if any((folder / mark).exists() for mark in _ROOTS)), 0)
    return folders[: last + 1]


def _import_roots(code: Path) -> list[Path]:
    """Where the project's own modules are looked for: in its folders, and in those that Python was told of, unless installed."""
    installed = [Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix, site.getusersitepackages())]
    told = [Path(entry).resolve() for entry in sys.path if entry]
    outside = [folder for folder in told if folder.is_dir() and not any(folder.is_relative_to(place) for place in installed)]
    first = [code.parent] if code.is_dir() else []
    return list(dict.fromkeys([*first, *_up_to_project(code), *outside]))


def _package_of(file: Path, roots: Sequence[Path]) -> str:
    """The package that relative imports of a file start from: dotted from the nearest root; empty beside one."""
    folders = []
    for folder in file.parents:
        if folder in roots or not (folder / "__init__.py").is_file():
            break
        folders.append(folder.name)
    return ".".join(reversed(folders))


def _files_of(name: str, roots: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """The module of this name and the packages that it lies in, each of which is run when it is imported."""
    parts = name.split(".")
    if parts[0] in sys.stdlib_module_names or parts[0] == "dpaudit":
        return
    for length in range(1, len(parts) + 1):
        stem = Path(*parts[:length])
        for root in roots:
            found = [place for place in (root / stem / "__init__.py", root / stem.with_suffix(".py")) if place.is_file()]
            if found:
                yield ".".join(parts[:length]), found[0]
                break


def _names_in(file: Path, package: str) -> frozenset[str]:
    """None where a file cannot be read as Python: it cannot be imported then."""
    try:
        return imported_names(file.read_bytes(), package)
    except (SyntaxError, ValueError):
        return frozenset()
