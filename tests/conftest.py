"""What all tests share: markers, children that hear Ctrl-C and always end, and the parts of ``benchmarks`` that run in small."""

from __future__ import annotations

import glob
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

MISSING = pytest.StashKey[set[str]]()
SLOW_FIXTURES = {"debugger", "cluster", "postgres"}
Start = Callable[..., "subprocess.Popen[str]"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "needs(program, module=None): uses a program of the system, or a Python package; where CI is set, it must be there",
    )
    config.addinivalue_line("markers", "slow: of the slow tier (make test-slow); everything else is make test-fast")
    config.stash[MISSING] = set()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser or a scheduler makes a test slow."""
    for item in items:
        if SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        absent = [program for program in marker.args if shutil.which(program) is None]
        absent += [package for package in marker.kwargs.values() if importlib.util.find_spec(package) is None]
        for name in absent:
            item.config.stash[MISSING].add(name)
            if os.environ.get("CI"):
                pytest.fail(f"{name} is not installed, and CI leaves out no test", pytrace=False)
            pytest.skip(f"{name} is not installed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for name in sorted(config.stash[MISSING]):
        terminalreporter.write_line(f"not installed, so tests that need it did not run: {name}", yellow=True)


@pytest.fixture
def start_child() -> Iterator[Start]:
    """Start a program in a session of its own; ``interrupt``: what it does on SIGINT (default: what a program does by itself).

    A job in the background of a script ignores SIGINT, and so would every program that it starts. What still runs when
    the test is over is killed with its group, so that no test waits for a child.
    """
    children: list[subprocess.Popen[str]] = []

    def start(command: list[str], interrupt: Any = signal.default_int_handler, **options: Any) -> subprocess.Popen[str]:
        before = signal.signal(signal.SIGINT, interrupt)  # exec resets a handler to the default and keeps SIG_IGN
        try:
            child = subprocess.Popen(command, text=True, start_new_session=True, **options)
        finally:
            signal.signal(signal.SIGINT, before)
        children.append(child)
        return child

    yield start
    for child in children:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate(timeout=20)


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


@pytest.fixture(scope="session")
def postgres(benchmark_module: Callable[[str], ModuleType]) -> Iterator[Any]:
    """A PostgreSQL server of the test's own, in a temporary folder; tests use ledgers of different names in it."""
    if not glob.glob("/usr/lib/postgresql/*/bin/initdb") or importlib.util.find_spec("psycopg_pool") is None:
        if os.environ.get("CI"):
            pytest.fail("postgresql and psycopg are not installed, and CI leaves out no test", pytrace=False)
        pytest.skip("postgresql and psycopg are not installed")
    server = benchmark_module("postgres_server").Server()
    try:
        yield server.start()
    finally:
        server.stop()
