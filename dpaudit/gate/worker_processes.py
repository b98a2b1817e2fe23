"""Runs the worker of one budget, within the budget's time. Whatever goes wrong there, the budget is not checked."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import GateBudget

LARGEST = 10**7  # bytes of a result


def judge_apart(
    budget: GateBudget, folder: Path, error: float = 0.0, *, picture: bool = False, describe: bool = False
) -> BudgetFacts:
    """Start the worker, wait, read its result; end it, with all that it started, when its time is over.

    ``picture``: what a page draws is wanted too; ``describe``: only what the claim is about. What the environment or the
    repository puts before Python's own modules (PYTHONPATH, a sitecustomize in the folder) is not there for it.
    """
    shown = None if os.environ.get("DPAUDIT_TRACEBACK") else subprocess.DEVNULL  # what a subject prints is not the gate's
    with tempfile.TemporaryDirectory(prefix="dpaudit-") as scratch, _ended_by_signals():
        result = Path(scratch) / "result.json"
        nonce = secrets.token_hex(16)
        task = {"folder": str(folder), "name": budget.name, "error": error, "result": str(result), "nonce": nonce}
        command = [sys.executable, "-I", "-m", "dpaudit.gate.worker"]
        with subprocess.Popen(
            command, cwd=folder, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=shown,
            start_new_session=True,
        ) as worker:  # fmt: skip
            try:
                _hand_over(worker, {**task, "picture": picture, "describe": describe})
                code = worker.wait(budget.timeout)
            except subprocess.TimeoutExpired:
                return not_checked(f"not finished within its {budget.timeout} s; give it fewer samples or a longer timeout")
            finally:
                _end(worker)
        return _result(result, code, nonce)


def _environment() -> dict[str, str]:
    """Without what would change how Python starts or which plugins pytest loads, also in processes of the worker."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}


def _hand_over(worker: subprocess.Popen[bytes], task: dict[str, Any]) -> None:
    """Its standard input is empty after this: what a subject can read there says nothing of the result's place."""
    assert worker.stdin is not None
    with suppress(BrokenPipeError):
        worker.stdin.write(json.dumps(task).encode())
        worker.stdin.close()


def _result(file: Path, code: int, nonce: str) -> BudgetFacts:
    if not file.is_file() or not 0 < file.stat().st_size <= LARGEST:
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return not_checked(f"its process ended {how} before it came to a verdict; DPAUDIT_TRACEBACK=1 shows more")
    try:
        answer = json.loads(file.read_text(encoding="utf-8"))
        if answer["nonce"] != nonce:
            return not_checked("another process left a result in its place")
        return BudgetFacts(**answer["facts"])
    except (ValueError, TypeError, KeyError):
        return not_checked("its process left no result that can be read")


def _end(worker: subprocess.Popen[bytes]) -> None:
    """It and its own workers; nothing to do where it has ended by itself."""
    if worker.poll() is not None:
        return
    try:
        if hasattr(os, "killpg"):
            os.killpg(worker.pid, signal.SIGKILL)
        else:
            worker.kill()
    except (ProcessLookupError, PermissionError):
        pass


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A CI job that is cancelled sends SIGTERM: taken for Ctrl-C, so that the worker is ended too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
