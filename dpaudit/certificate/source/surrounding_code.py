"""What a subject's code draws in: the modules of its project that it imports, one way or another, and the project's lock file.

Installed packages are what the lock file says, and dpaudit has a digest of its own. Where a module may be imported by a name that
is made up while the code runs, all of the project's Python files count; of data files those that are read by their name while a
module is imported (``late_imports.py``). What a function reads when it is called is not covered.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.machinery import BYTECODE_SUFFIXES, all_suffixes
from pathlib import Path

from dpaudit.certificate.source.late_imports import LateImports, late_imports
from dpaudit.papers.code_digests import imported_names
from dpaudit.subjects.bytecode import is_installed

IMPORTS, LOCK = "imports", "lock"  # their names in a certificate
LOCKS = (
    "pylock.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "requirements.lock", "requirements.txt",
    "constraints.txt",
)  # fmt: skip
NOTHING = LateImports(frozenset(), False, ())
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
        package = _package_of(file, roots)
        late = _late_in(file, package)
        drawn = [found for name in _names_in(file, package) | late.modules for found in _files_of(name, roots)]
        drawn += [*_data_of(late, file, roots), *(_all_files(code) if late.made_up else ())]
        for module, place in drawn:
            if module not in modules and place not in own:
                modules[module] = place
                waiting.append(place)
    return modules


def project_files(code: Path) -> list[Path]:
    """The Python files that run: those of ``code`` and of the project's modules that it imports."""
    code = code.resolve()
    files = [*(code.rglob("*.py") if code.is_dir() else [code]), *imported_modules(code).values()]
    return sorted(file for file in set(files) if file.suffix == ".py")


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
    told = [Path(entry).resolve() for entry in sys.path if entry]
    outside = [folder for folder in told if folder.is_dir() and not is_installed(folder)]
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
    """The module of this name and the packages that it lies in, each of which is run when it is imported.

    Where a source, an extension and bytecode of one name lie side by side, all of them count: which one runs is Python's choice.
    """
    parts = name.split(".")
    if parts[0] in sys.stdlib_module_names or parts[0] == "dpaudit":
        return
    for length in range(1, len(parts) + 1):
        stem = Path(*parts[:length])
        for root in roots:
            names = [Path(f"{base}{suffix}") for base in (stem / "__init__", stem) for suffix in all_suffixes()]
            found = [root / name for name in names if (root / name).is_file()]
            for place, file in enumerate(sorted(found, key=lambda file: file.suffix != ".py")):
                yield ".".join(parts[:length]) + (f" {file.name}" if place else ""), file
            if found:
                break


def _data_of(late: LateImports, file: Path, roots: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Data files that are read while a module is imported: beside it or in a folder of the project, named whole or in parts."""
    for texts in late.read:
        joined = [str(Path(*texts[start:])) for start in range(len(texts))]
        for name in (*texts, *joined):
            for folder in (file.parent, *roots):
                place = folder / name
                if len(name) < 1000 and "\0" not in name and place.is_file():
                    near = next((root for root in reversed(roots) if place.is_relative_to(root)), folder)
                    yield f"data {place.relative_to(near).as_posix()}", place
                    break


def _all_files(code: Path) -> Iterator[tuple[str, Path]]:
    """Every Python file of the project, by its place in it; without environments and what tools keep."""
    root = _up_to_project(code)[-1]
    for folder, folders, files in os.walk(root):
        hidden = {name for name in folders if name.startswith((".", "__")) or (Path(folder) / name / "pyvenv.cfg").is_file()}
        folders[:] = sorted(set(folders) - hidden)
        for name in sorted(files):
            if name.endswith(".py"):
                place = Path(folder) / name
                yield f"file {place.relative_to(root).as_posix()}", place


def _late_in(file: Path, package: str) -> LateImports:
    """Nothing where a file cannot be read as Python, which is so for data and for extensions; bytecode may import anything."""
    if file.suffix in BYTECODE_SUFFIXES:
        return LateImports(frozenset(), True, ())
    try:
        return late_imports(file.read_bytes(), package) if file.suffix == ".py" else NOTHING
    except (SyntaxError, ValueError):
        return NOTHING


def _names_in(file: Path, package: str) -> frozenset[str]:
    """None where a file cannot be read as Python: it cannot be imported then."""
    try:
        return imported_names(file.read_bytes(), package) if file.suffix == ".py" else frozenset()
    except (SyntaxError, ValueError):
        return frozenset()
