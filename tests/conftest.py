"""What all tests share: ``@pytest.mark.needs("cc")``, and the parts of ``benchmarks`` that the suite runs in small."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

MISSING = pytest.StashKey[set[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(program): uses a program of the system; where CI is set, it must be there")
    config.stash[MISSING] = set()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for program in (marker.args[0] for marker in item.iter_markers("needs")):
        if shutil.which(program) is None:
            item.config.stash[MISSING].add(program)
            if os.environ.get("CI"):
                pytest.fail(f"{program} is not installed, and CI leaves out no test", pytrace=False)
            pytest.skip(f"{program} is not installed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for program in sorted(config.stash[MISSING]):
        terminalreporter.write_line(f"not installed, so tests that need it did not run: {program}", yellow=True)


@pytest.fixture(scope="session")
def benchmark_module() -> Callable[[str], ModuleType]:
    """A module of ``benchmarks`` by its name; from its file, as other projects install a package of that name."""

    def load(name: str) -> ModuleType:
        file = Path(__file__).parents[1] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"dpaudit_benchmarks_{name}", file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def faults(benchmark_module: Callable[[str], ModuleType]) -> ModuleType:
    """Killed writers, races for a budget, flipped bytes."""
    return benchmark_module("faults")
