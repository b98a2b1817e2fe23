"""What can be audited by name: a file's subjects, a module's, or a registered algorithm."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from dpaudit.claims import DpauditError
from dpaudit.subject import Subject

GROUP = "dpaudit.algorithms"
DEFAULTS: dict[str, Any] = {"delta": "0", "actions": None, "calibration": "tight"}  # for factories that have none


class TargetError(DpauditError):
    """A target that cannot be found or loaded. Keeps its name."""

    def __init__(self, target: str, reason: str) -> None:
        self.target = target
        super().__init__(f"{target}: {reason}")


class NothingToCheck(TargetError):
    """A target that holds no subject at all."""


def registered() -> dict[str, EntryPoint]:
    """Algorithms found through entry points, by name."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda p: p.name)}


def make_algorithm(name: str, parameters: Mapping[str, Any]) -> Subject:
    """A registered algorithm with these parameters; those it does not take must be None."""
    points = registered()
    if name not in points:
        raise TargetError(
            name,
            "no such algorithm; registered are " + (", ".join(points) or "none") + ", or name a file.py:subject",
        )
    factory = _load(points[name])
    needed = {p.name for p in inspect.signature(factory).parameters.values() if p.default is inspect.Parameter.empty}
    given = {key: value for key, value in parameters.items() if value is not None}
    filled = {key: value for key, value in DEFAULTS.items() if key in needed}
    try:
        made = factory(**{**filled, **given})
    except TypeError as error:
        raise TargetError(name, f"its factory refused the parameters: {error}") from error
    if not isinstance(made, Subject):
        raise TargetError(name, "its factory did not return a subject")
    return made


def _load(point: EntryPoint) -> Any:
    package = point.value.split(":")[0].split(".")[0]
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        found = sys.modules.get(package) or _find(package)
        where = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", [])), None)
        if where and getattr(point.dist, "name", "") == "dpaudit":
            reason = f"another package called {package!r} at {where} hides the one that dpaudit installs; rename or remove it"
            raise TargetError(point.name, reason) from error
        raise TargetError(point.name, f"cannot be loaded: {error}") from error


def _find(package: str) -> Any:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    return type("Found", (), {"__file__": spec.origin if spec else None})


def subjects_of(target: str) -> list[Subject]:
    """The subjects that a target names: ``file.py[:name]`` or ``module:name``."""
    path, _, name = target.partition(":") if not target.endswith(".py") else (target, "", "")
    module = _load_file(target, Path(path)) if path.endswith(".py") else _load_module(target, path)
    if name:
        found = getattr(module, name, None)
        if not isinstance(found, Subject):
            known = ", ".join(_subjects(module)) or "none"
            raise TargetError(target, f"no subject called {name!r}; subjects there: {known}")
        return [found]
    every = _subjects(module)
    if not every:
        raise NothingToCheck(target, "holds no subject; declare one with @dp.subject(claim=…, neighbours=…)")
    return list(every.values())


def _subjects(module: ModuleType) -> dict[str, Subject]:
    found: dict[str, Subject] = {}
    for name, value in vars(module).items():
        if isinstance(value, Subject) and value not in found.values():
            found[name] = value
    return found


def code_of(subject: Subject) -> Path | None:
    """The package of an algorithm, or the file of one that stands alone: what its digest is taken of."""
    package = sys.modules.get(str(getattr(subject.function, "__module__", "")).partition(".")[0])
    if package is not None and hasattr(package, "__path__"):
        return Path(package.__path__[0])
    try:
        file = Path(inspect.getfile(inspect.unwrap(subject.function)))
    except TypeError:  # an object that is called: its class says where it is from
        file = Path(inspect.getfile(type(subject.function)))
    return file if file.is_file() else None


def _load_file(target: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise TargetError(target, "no such file")
    name = f"dpaudit_target_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(target, "not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.parent.resolve())
    sys.path.append(folder)  # its own imports; last, so that it hides nothing
    try:
        spec.loader.exec_module(module)
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:
        raise TargetError(target, f"cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    return module


def _load_module(target: str, name: str) -> ModuleType:
    if ":" not in target:
        known = ", ".join(registered()) or "none"
        raise TargetError(target, f"no such target; give file.py[:name], module:name or an algorithm ({known})")
    try:
        return importlib.import_module(name)
    except DpauditError:
        raise
    except (Exception, SystemExit) as error:
        raise TargetError(target, f"cannot be imported: {type(error).__name__}: {error}") from error
