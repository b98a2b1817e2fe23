"""What can be audited by name: a file's subjects, a module's, or a registered algorithm."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeVar

from dpaudit import entry_points
from dpaudit.claims import DpauditError
from dpaudit.subjects.bytecode import SourceOnly, foreign_bytecode, is_installed
from dpaudit.subjects.subject import Subject

GROUP = "dpaudit.algorithms"
Factory = TypeVar("Factory", bound=Callable[..., Subject])
CALIBRATIONS = ("printed", "corrected", "tight")  # of the paper's algorithms, and of factories that do not say theirs
DEFAULTS: dict[str, Any] = {"delta": "0", "actions": None, "calibration": "tight"}  # for factories that have none


class Algorithm(Protocol):
    """What an entry point of ``dpaudit.algorithms`` names: a factory. It may have defaults, and options of its own."""

    def __call__(self, *, epsilon: Any, delta: Any, horizon: Any, actions: Any, calibration: Any) -> Subject: ...


def with_calibrations(*calibrations: str) -> Callable[[Factory], Factory]:
    """Marks a factory whose algorithm has these calibrations and no other; without a mark: printed, corrected, tight."""

    def mark(factory: Factory) -> Factory:
        factory.calibrations = calibrations  # type: ignore[attr-defined]
        return factory

    return mark


def in_demo(*calibrations: str, model: str | None = None) -> Callable[[Factory], Factory]:
    """Marks a factory whose algorithm ``dpaudit demo`` runs, in these calibrations; ``model`` where its name does not say it."""

    def mark(factory: Factory) -> Factory:
        factory.demo_calibrations, factory.demo_model = calibrations, model  # type: ignore[attr-defined]
        return with_calibrations(*calibrations)(factory)

    return mark


@dataclass(frozen=True)
class Printed:
    """What a table of systems says of one without running it: where it is from, and what its authors claim."""

    source: str
    model: str  # nonprivate, central, local or shuffled
    exponent: str  # of T in the claimed regret, a fraction
    unconfirmed: str = ""  # what could not be confirmed from the source; empty where all was
    contextual: bool = False  # its factory takes ``contexts``: so many sets of actions, one drawn in each round


def in_table(row: Printed) -> Callable[[Factory], Factory]:
    """Marks a factory whose algorithm ``dpaudit compare --table1`` runs."""

    def mark(factory: Factory) -> Factory:
        factory.printed = row  # type: ignore[attr-defined]
        return factory

    return mark


class TargetError(DpauditError):
    """A target that cannot be found or loaded. Keeps its name."""

    def __init__(self, target: str, reason: str) -> None:
        self.target = target
        super().__init__(f"{target}: {reason}")


class NothingToCheck(TargetError):
    """A target that holds no subject at all."""


def registered() -> dict[str, EntryPoint]:
    """Algorithms found through entry points, by name."""
    return {point.name: point for point in entry_points.points(GROUP)}


def make_algorithm(name: str, parameters: Mapping[str, Any]) -> Subject:
    """A registered algorithm with these parameters; those it does not take must be None."""
    points = registered()
    if name not in points:
        raise TargetError(
            name,
            "no such algorithm; registered are " + (", ".join(points) or "none") + ", or name a file.py:subject",
        )
    factory: Algorithm = _load(points[name])
    needed = {p.name for p in inspect.signature(factory).parameters.values() if p.default is inspect.Parameter.empty}
    arguments = {key: value for key, value in parameters.items() if value is not None}
    filled = {key: value for key, value in DEFAULTS.items() if key in needed}
    try:
        made = factory(**{**filled, **arguments})
    except TypeError as error:
        raise TargetError(name, f"its factory refused the parameters: {error}") from error
    if not isinstance(made, Subject):
        raise TargetError(name, "its factory did not return a subject")
    return made


def demo_rows() -> list[tuple[str, str]]:
    """Every registered algorithm that is marked for the demo, with each of its calibrations there."""
    marked = {name: getattr(_load(point), "demo_calibrations", ()) for name, point in registered().items()}
    return [(name, calibration) for name, calibrations in marked.items() for calibration in calibrations]


def table_rows() -> dict[str, Printed]:
    """Every registered algorithm that is marked for the table of systems, in the order of models, those without privacy first."""
    marked = {name: getattr(_load(point), "printed", None) for name, point in registered().items()}
    rows = {name: row for name, row in marked.items() if row is not None}
    order = ("nonprivate", "central", "shuffled", "local")
    return dict(sorted(rows.items(), key=lambda each: order.index(each[1].model)))


def demo_model(name: str) -> str:
    """The model of privacy that a row of the demo shows for this algorithm: as marked, else its name."""
    point = registered().get(name)
    return name if point is None else getattr(_load(point), "demo_model", None) or name


def calibrations_of(name: str) -> tuple[str, ...]:
    """The calibrations that an algorithm has."""
    point = registered().get(name)
    return CALIBRATIONS if point is None else tuple(getattr(_load(point), "calibrations", CALIBRATIONS))


def _load(point: EntryPoint) -> Any:
    try:
        return entry_points.load(point)
    except (ImportError, AttributeError) as error:
        raise TargetError(point.name, f"cannot be loaded: {error}") from error


def subjects_of(target: str) -> list[Subject]:
    """The subjects that a target names: ``file.py[:name]`` or ``module:name``."""
    path, _, name = target.partition(":") if not target.endswith(".py") else (target, "", "")
    module = _load_file(target, Path(path)) if path.endswith(".py") else _load_module(target, path)
    if name:
        subject = getattr(module, name, None)
        if not isinstance(subject, Subject):
            known = ", ".join(_subjects(module)) or "none"
            raise TargetError(target, f"no subject called {name!r}; subjects there: {known}")
        return [subject]
    every = _subjects(module)
    if not every:
        raise NothingToCheck(target, "holds no subject; declare one with @dp.subject(claim=…, neighbours=…)")
    return list(every.values())


def _subjects(module: ModuleType) -> dict[str, Subject]:
    subjects: dict[str, Subject] = {}
    for name, value in vars(module).items():
        if isinstance(value, Subject) and value not in subjects.values():
            subjects[name] = value
    return subjects


def code_of(subject: Subject) -> Path | None:
    """What its digest is taken of: the package that its file is part of (folders with ``__init__.py``), else the file.

    It does not depend on how the file was loaded: ``pkg/mod.py:name`` and ``from pkg.mod import name`` are the same code.
    """
    try:
        file = Path(inspect.getfile(inspect.unwrap(subject.function)))
    except TypeError:  # an object that is called: its class says where it is from
        try:
            file = Path(inspect.getfile(type(subject.function)))
        except TypeError:
            return None
    if not file.is_file():
        return None
    return _package(file.resolve()) or file


def _package(file: Path) -> Path | None:
    """The outermost of the folders with ``__init__.py`` that a file lies in; None where its own folder has none."""
    outermost = None
    for folder in file.parents:
        if not (folder / "__init__.py").is_file():
            break
        outermost = folder
    return outermost


def _load_file(target: str, path: Path) -> ModuleType:
    """A file of a package under its dotted name, so that relative imports work; any other one under a name of its own."""
    if not path.is_file():
        raise TargetError(target, "no such file")
    file = path.resolve()
    package = _package(file)
    root = Path.cwd().resolve() if package is None else package.parent
    with _importing(target, "loaded", root, file.parent):
        dotted = _dotted(file, root)
        return _execute(target, file) if dotted is None else importlib.import_module(dotted)


def _dotted(file: Path, root: Path) -> str | None:
    """The name under which an import finds this very file from ``root``, if it lies in a folder of it."""
    parts = file.relative_to(root).with_suffix("").parts if file.is_relative_to(root) else ()
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        return None
    names = parts[:-1] if parts[-1] == "__init__" else parts
    try:
        spec = importlib.util.find_spec(".".join(names))
    except (ModuleNotFoundError, AttributeError, ValueError):  # its first folder is hidden by another module of that name
        return None
    origin = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
    return ".".join(names) if origin == file else None


def _execute(target: str, file: Path) -> ModuleType:
    name = f"dpaudit_target_{file.stem}"
    loader = SourceOnly(name, str(file)) if file.suffix == ".py" else None
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None or spec.loader is None:
        raise TargetError(target, "not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def _importing(target: str, done: str, *folders: Path) -> Iterator[None]:
    """Imports find these folders: last, so that they hide nothing but what ships with dpaudit, and only for now. What goes wrong
    is a TargetError; so is bytecode of a project that is not that of its source."""
    added, before = [str(folder) for folder in folders], set(sys.modules)
    sys.path += added
    importlib.invalidate_caches()
    try:
        with entry_points.their_packages(folders):
            yield
        _require_sources(target, [sys.modules[name] for name in sys.modules.keys() - before])
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:
        raise TargetError(target, f"cannot be {done}: {type(error).__name__}: {error}") from error
    finally:
        for folder in added:
            if folder in sys.path:  # the last one: an earlier one is not ours
                del sys.path[len(sys.path) - 1 - sys.path[::-1].index(folder)]


def _require_sources(target: str, modules: Sequence[ModuleType]) -> None:
    """Refuse a target whose own modules were not run from what their files say."""
    bytecode = [module for module in modules if getattr(module, "__cached__", None)]
    files = sorted({Path(module.__file__).resolve() for module in bytecode if module.__file__})
    other = foreign_bytecode(file for file in files if not is_installed(file))
    if other is not None:
        raise TargetError(target, f"the bytecode of {other.name} is not that of its source; delete the __pycache__ beside it")


def _load_module(target: str, name: str) -> ModuleType:
    if ":" not in target:
        known = ", ".join(registered()) or "none"
        raise TargetError(target, f"no such target; give file.py[:name], module:name or an algorithm ({known})")
    with _importing(target, "imported", Path.cwd()):
        return importlib.import_module(name)
