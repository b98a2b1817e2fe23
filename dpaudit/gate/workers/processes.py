"""Runs the worker of one budget, within the budget's time. Whatever goes wrong there, the budget is not checked."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from dpaudit.gate.budget_facts import BudgetFacts, not_checked
from dpaudit.gate.policy import GateBudget
from dpaudit.gate.workers.closed_memory import closed_memory
from dpaudit.gate.workers.guard import TOUCHED

LARGEST = 10**8  # bytes of a result: the releases of an audit's runs are in it


def judge_apart(
    budget: GateBudget, folder: Path, error: float = 0.0, *, picture: bool = False, describe: bool = False
) -> BudgetFacts:
    """Start the worker, wait, read its result; end it, with all that it started, when its time is over.

    ``picture``: what a page draws is wanted too; ``describe``: only what the claim is about. What the environment or the
    repository puts before Python's own modules (PYTHONPATH, a sitecustomize in the folder) is not there for it.
    """
    shown = None if os.environ.get("DPAUDIT_TRACEBACK") else subprocess.DEVNULL
    nonce = secrets.token_hex(16)
    task = {"folder": str(folder), "name": budget.name, "error": error, "nonce": nonce, "picture": picture, "describe": describe}
    command = [sys.executable, "-I", "-m", "dpaudit.gate.workers.worker"]
    with _ended_by_signals(), closed_memory(), subprocess.Popen(
        command, cwd=folder, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=shown,
        start_new_session=True,
    ) as worker:  # fmt: skip
        try:
            answer, _ = worker.communicate(json.dumps(task).encode(), budget.timeout)
        except subprocess.TimeoutExpired:
            return not_checked(f"not finished within its {budget.timeout} s; give it fewer samples or a longer timeout")
        finally:
            _end(worker)
    return _result(answer, worker.returncode, nonce)


def _environment() -> dict[str, str]:
    """Without what would change how Python starts or which plugins pytest loads, also in processes of the worker."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}


def _result(answer: bytes, code: int, nonce: str) -> BudgetFacts:
    """One line that begins with the nonce, from a process that ended well; everything else is no result."""
    if code == TOUCHED:
        return not_checked(f"its code touched the gate in its own process: {answer[:300].decode(errors='replace')}")
    if code != 0 or not answer:
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return not_checked(f"its process ended {how} before it came to a verdict; DPAUDIT_TRACEBACK=1 shows more")
    said, _, rest = answer.partition(b" ")
    if not secrets.compare_digest(said, nonce.encode()) or rest.count(b"\n") != 1:
        return not_checked("something else than the gate's worker wrote a result in its place")
    try:
        return BudgetFacts(**json.loads(rest)) if len(rest) <= LARGEST else not_checked("its result is too long to be read")
    except (ValueError, TypeError):
        return not_checked("its process left no result that can be read")


def _end(worker: subprocess.Popen[bytes]) -> None:
    """It and all that it started in its group, which may outlive it."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(worker.pid, signal.SIGKILL)
        elif worker.poll() is None:
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
