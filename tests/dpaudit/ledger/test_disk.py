"""Disks that fail: full, or unable to make a write durable. What was acknowledged stays, the rest is refused."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from dpaudit.ledger import LedgerUnavailable, load_releases, open_ledger, verify

pytestmark = pytest.mark.slow

# Fails every fsync and fdatasync while the file named by BROKEN exists; counts the calls that it let through.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_or_fail(const char *name, int handle) {
    const char *broken = getenv("BROKEN");
    if (broken && access(broken, F_OK) == 0) { errno = EIO; return -1; }
    int (*real)(int) = (int (*)(int)) dlsym(RTLD_NEXT, name);
    return real(handle);
}

int fsync(int handle) { return sync_or_fail("fsync", handle); }
int fdatasync(int handle) { return sync_or_fail("fdatasync", handle); }
"""
# Appends releases for ever; breaks the disk after three, mends it after the first refusal, and appends three more.
WRITER = """
import os, sys
from fractions import Fraction
from dpaudit.ledger import LedgerUnavailable, Release, open_ledger

ledger, broken, refused = open_ledger(sys.argv[1]), os.environ["BROKEN"], 0
for i in range(8):
    if i == 3:
        open(broken, "w").close()
    try:
        ledger.append(Release(f"{i}", "laplace", Fraction(1), {"scale": "1"}, epsilon=Fraction(1)), key=f"{i}")
        print("stored", i, flush=True)
    except LedgerUnavailable as error:
        print("refused", i, error.reason, flush=True)
        if (refused := refused + 1) == 2:
            os.unlink(broken)
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"], cwd=folder, check=True)
    return folder / "shim.so"


def append_with(preload: str, tmp_path: Path) -> list[str]:
    environment = {**os.environ, "LD_PRELOAD": preload, "BROKEN": str(tmp_path / "broken")}
    command = [sys.executable, "-c", WRITER, str(tmp_path / "a.ledger")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.needs("cc")
def test_a_release_that_cannot_be_made_durable_is_refused_and_the_rest_is_kept(tmp_path: Path, shim: Path) -> None:
    """The disk fails for two appends; both are refused and stay spent, those before and after are stored."""
    told = append_with(str(shim), tmp_path)
    refused = [line for line in told if line.startswith("refused")]
    assert refused == [f"refused {i} the disk failed; nothing was granted" for i in (3, 4)]
    acknowledged = {line.split()[1] for line in told if line.startswith("stored")}
    assert acknowledged == {"0", "1", "2", "5", "6", "7"}
    stored = [release.name for release in load_releases(tmp_path / "a.ledger")]
    assert sorted(stored) == sorted({*acknowledged, "3", "4"})
    assert verify(tmp_path / "a.ledger").releases == len(stored)
    with open_ledger(tmp_path / "a.ledger", readonly=True) as ledger:
        assert ledger.spent()[0] == len(stored)


def test_without_the_failing_disk_the_same_writer_is_refused_nothing(tmp_path: Path) -> None:
    """The twin: it is the shim, and not the writer, that makes the disk fail."""
    assert append_with("", tmp_path) == [f"stored {i}" for i in range(8)]


@pytest.fixture(params=["a small file system", "a limit on the size of a file"])
def small_disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, bool]]:
    """A file system of 400 kB where one may be mounted, else a plain folder: (folder, is it small)."""
    place = tmp_path / "disk"
    place.mkdir()
    wanted = request.param == "a small file system" and os.getuid() == 0
    mounted = wanted and _run("mount", "-t", "tmpfs", "-o", "size=400k", "none", str(place))
    yield place, mounted
    if mounted:
        _run("umount", str(place))


def _run(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_a_full_disk_refuses_the_release_and_loses_nothing(
    small_disk: tuple[Path, bool], tmp_path: Path, faults: ModuleType
) -> None:
    (folder, small), told = small_disk, tmp_path / "told"
    path, filler = folder / "a.ledger", folder / "filler"
    told.write_bytes(b"")
    filler.write_bytes(b"x" * 100_000)
    open_ledger(path, budget="1000").close()

    def fill() -> None:
        ledger = open_ledger(path)
        if not small:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        for i in range(1000):
            try:
                ledger.append(faults.a_release(str(i)))
            except LedgerUnavailable as error:
                os._exit(0 if "nothing was granted" in error.reason else 1)
            with open(told, "a") as file:
                file.write(f"{i}\n")
        raise AssertionError("the disk was never full")

    assert faults.ended_well(faults.in_child(fill))
    filler.unlink()
    stored = {release.name for release in load_releases(path)}
    acknowledged = set(told.read_text().split())
    assert 0 < len(acknowledged) < 1000
    assert acknowledged <= stored
    with open_ledger(path) as ledger:
        ledger.append(faults.a_release("space again"))
    assert verify(path).releases == len(stored) + 1


def test_a_new_ledger_on_a_full_disk_is_refused_and_leaves_no_half_file(
    small_disk: tuple[Path, bool], faults: ModuleType
) -> None:
    folder, small = small_disk

    def make() -> None:
        if small:
            with pytest.raises(OSError, match="space"):
                (folder / "filler").write_bytes(b"x" * 500_000)
        else:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        with pytest.raises(LedgerUnavailable):
            open_ledger(folder / "a.ledger")

    assert faults.ended_well(faults.in_child(make))
    assert sorted(file.name for file in folder.iterdir()) == (["filler"] if small else [])
