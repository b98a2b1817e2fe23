"""A file system whose locks do nothing is refused before a budget is entrusted to it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpaudit.ledger.store.sqlite.lock_trial import refuse_idle_locks

# Says yes to every lock. IDLE: which of the two kinds.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int pass(const char *name, int handle, int command, void *argument) {
    int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    if (locks && strstr(getenv("IDLE"), "ranges")) return 0;
    int (*real)(int, int, ...) = (int (*)(int, int, ...)) dlsym(RTLD_NEXT, name);
    return real(handle, command, argument);
}

int fcntl(int handle, int command, ...) {
    va_list more; va_start(more, command); void *argument = va_arg(more, void *); va_end(more);
    return pass("fcntl", handle, command, argument);
}
int fcntl64(int handle, int command, ...) {
    va_list more; va_start(more, command); void *argument = va_arg(more, void *); va_end(more);
    return pass("fcntl64", handle, command, argument);
}
int flock(int handle, int operation) {
    if (strstr(getenv("IDLE"), "files")) return 0;
    int (*real)(int, int) = (int (*)(int, int)) dlsym(RTLD_NEXT, "flock");
    return real(handle, operation);
}
"""
OPEN = """
import sys
from dpaudit.ledger import LedgerUnavailable, open_ledger
try:
    open_ledger(sys.argv[1], budget="1").close()
    print("opened")
except LedgerUnavailable as error:
    print(error.reason)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"], cwd=folder, check=True)
    return folder / "shim.so"


@pytest.mark.needs("cc")
@pytest.mark.parametrize("idle", ["ranges", "files", "ranges and files", "none"])
def test_locks_that_do_nothing_are_refused_at_opening(tmp_path: Path, shim: Path, idle: str) -> None:
    """Each kind of lock by itself, on a new ledger and on one that exists. The twin: the same shim that breaks nothing."""
    path = tmp_path / "a.ledger"
    for _ in range(2):
        environment = {**os.environ, "LD_PRELOAD": str(shim), "IDLE": idle}
        done = subprocess.run(
            [sys.executable, "-c", OPEN, str(path)], env=environment, capture_output=True, text=True, check=True
        )
        assert ("opened" if idle == "none" else "locks of its file system do nothing") in done.stdout, done.stderr
        if not path.exists():
            subprocess.run([sys.executable, "-c", OPEN, str(path)], check=True)


LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
"""


def may_lock(path: Path) -> bool:
    """Can another process lock the file in both ways?"""
    return subprocess.run([sys.executable, "-c", LOCK, str(path)], capture_output=True, check=False).returncode == 0


def test_the_trial_leaves_no_lock_behind_and_works_without_locks_of_open_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.touch()
    refuse_idle_locks(path)
    assert may_lock(path)
    monkeypatch.delattr("fcntl.F_OFD_SETLK")
    refuse_idle_locks(path)  # by a child process
    refuse_idle_locks(path)
    assert may_lock(path)
    with path.open("r+b") as held:  # the twin
        fcntl.lockf(held, fcntl.LOCK_EX)
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not may_lock(path)
