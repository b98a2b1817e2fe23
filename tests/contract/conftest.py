"""How the contract is run: the installed console script, the shipped schemas, the examples."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.resources
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

HERE = Path(__file__).parent
TIMEOUT_SECONDS = 180

Completed = subprocess.CompletedProcess[str]
Cli = Callable[..., Completed]


def run_console_script(*arguments: object, cwd: Path, env: Mapping[str, str] | None = None) -> Completed:
    """Run the ``dpaudit`` that is installed beside this Python, as a customer would."""
    script = Path(sys.executable).with_name("dpaudit")
    assert script.exists(), "the console script is not installed; run `pip install -e .` first"
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "GITHUB_ACTIONS": "", **(env or {})}
    command = [str(script), *(str(argument) for argument in arguments)]
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def strict_json(text: str) -> Any:
    """JSON as the standard has it: NaN, Infinity and repeated keys are refused."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            raise ValueError("a key occurs twice")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def load_schema(name: str) -> dict[str, Any]:
    """A schema as it ships inside the package."""
    file = importlib.resources.files("dpaudit") / "schemas" / f"{name}.json"
    schema: dict[str, Any] = strict_json(file.read_text(encoding="utf-8"))
    return schema


@pytest.fixture
def dpaudit_cli(tmp_path: Path) -> Cli:
    """Run the console script in a folder of the test's own."""

    def run(*arguments: object, cwd: Path = tmp_path, env: Mapping[str, str] | None = None) -> Completed:
        return run_console_script(*arguments, cwd=cwd, env=env)

    return run


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``examples.py`` and two hand-written releases, for commands that only read."""
    folder = tmp_path_factory.mktemp("shared")
    shutil.copy(HERE / "examples.py", folder)
    release = '{"name": "sum", "mechanism": "laplace", "scale": "2", "sensitivity": "2"}\n'
    (folder / "releases.jsonl").write_text(release * 2, encoding="utf-8")
    (folder / "empty.py").write_text("", encoding="utf-8")
    coins = "".join(f"{i % 2},{i % 2 + i / 10**6}\n" for i in range(2000))  # every guess is right
    training = '{"name": "gradients", "mechanism": "gaussian", "sigma": "4", "sensitivity": "1"}\n'
    (folder / "training.jsonl").write_text(training, encoding="utf-8")
    check = {
        "name": "noise",
        "rule": "DPA005",
        "passed": False,
        "message": "half of it",
        "p_value": 0.0,
        "gap": None,
        "allowed": None,
    }
    (folder / "checks.json").write_text(json.dumps({"schema": "dpaudit.checks/1", "checks": [check]}), encoding="utf-8")
    (folder / "scores.csv").write_text("included,score\n" + coins, encoding="utf-8")
    (folder / "channel.json").write_text('[["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], [0.25, 0.25, 0.5]]', encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def shared_cli(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Run a command that only reads, once per run of the tests, however many tests and workers look at its result."""
    workers = os.environ.get("PYTEST_XDIST_WORKER") is not None
    place = tmp_path_factory.getbasetemp().parent if workers else tmp_path_factory.getbasetemp()

    def run(*arguments: object) -> Completed:
        key = tuple(str(argument) for argument in arguments)
        file = place / f"command-{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.json"
        with file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                made = run_console_script(*key, cwd=shared_folder)
                file.write_text(json.dumps([made.returncode, made.stdout, made.stderr]), encoding="utf-8")
        return subprocess.CompletedProcess(list(key), *json.loads(file.read_text(encoding="utf-8")))

    return run


@pytest.fixture(scope="session")
def demo(shared_cli: Cli) -> Completed:
    return shared_cli("demo", "--format", "json")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The test's own folder, with ``examples.py`` in it."""
    shutil.copy(HERE / "examples.py", tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def examples() -> ModuleType:
    """The mechanisms of ``examples.py``, for calls from Python."""
    spec = importlib.util.spec_from_file_location("contract_examples", HERE / "examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["contract_examples"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Any]:
    """Strict JSON: NaN, Infinity and repeated keys are refused."""
    return strict_json


@pytest.fixture(scope="session")
def schema_of() -> Callable[[str], dict[str, Any]]:
    """A schema as it ships inside the package, by its command's name."""
    return load_schema


@pytest.fixture(scope="session")
def validate() -> Callable[[Any, str], None]:
    """Hold a document to a shipped schema; raises ``jsonschema.ValidationError``."""

    def check(document: Any, schema_name: str) -> None:
        schema = load_schema(schema_name)
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)

    return check
