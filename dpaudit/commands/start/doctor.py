"""``dpaudit doctor``: what this machine has, what it lacks, and what to do about it."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from dpaudit import __version__
from dpaudit.commands import HOLDS, UNUSABLE, Answer, Command, write_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9._-]+)\s*(?P<least>[^;]*?)\s*(?:;.*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"].*)?$"
)
# Takes the write lock of an SQLite file without waiting; 3: somebody has it.
_SECOND_WRITER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError:
    sys.exit(3)
"""


@dataclass(frozen=True)
class Fact:
    """One thing that was looked at. ``state``: fine, absent (an extra that nobody needs to have) or broken."""

    part: str
    state: str
    found: str
    remedy: str = ""


def doctor_command(options: argparse.Namespace) -> Answer:
    from dpaudit.report.content.start import doctor_report

    facts = [vars(fact) for fact in examine()]
    code = UNUSABLE if any(fact["state"] == "broken" for fact in facts) else HOLDS
    return code, write_report(options, doctor_report(facts))


def examine() -> Iterator[Fact]:
    """Every fact, the needed ones first."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield Fact("python", "fine", f"{python} on {platform.system()} {platform.machine()}")  # an older one cannot load dpaudit
    yield Fact("dpaudit", "fine", __version__)
    yield _entropy()
    yield _locks()
    yield from _distributions()
    yield _shipped()
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    if browser:
        yield Fact("Chromium", "fine", browser)
    else:
        yield Fact("Chromium", "absent", "none found", "only tests and pictures of pages use it: install chromium")


def _entropy() -> Fact:
    """The generator of the operating system answers, without waiting where that can be asked, and never twice the same."""
    try:
        first = os.getrandom(32, os.GRND_NONBLOCK) if hasattr(os, "getrandom") else os.urandom(32)
        second = os.urandom(32)
    except OSError as error:
        return Fact(
            "entropy", "broken", f"no randomness: {error.strerror}", "noise needs the system's generator; wait or seed it"
        )
    if first == second:
        return Fact("entropy", "broken", "the system's generator repeats itself", "do not release anything from this machine")
    return Fact("entropy", "fine", "the system's generator answers at once")


def _locks() -> Fact:
    """Whether a second process sees the lock that a writer of this folder's file holds, as ledgers rely on."""
    try:
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".dpaudit-doctor-") as folder:
            file = str(Path(folder) / "lock.sqlite")
            first = sqlite3.connect(file, timeout=0, isolation_level=None)
            try:
                first.execute("CREATE TABLE t (x)")
                first.execute("BEGIN IMMEDIATE")
                second = subprocess.run([sys.executable, "-I", "-c", _SECOND_WRITER, file], timeout=60, check=False)
            finally:
                first.close()
    except (OSError, sqlite3.Error, subprocess.SubprocessError) as error:
        return Fact("locks", "broken", f"no file can be locked here ({type(error).__name__})", "keep ledgers in another folder")
    if second.returncode != 3:
        return Fact("locks", "broken", "this folder's files cannot be locked", "keep ledgers on a local disk, or in PostgreSQL")
    return Fact("locks", "fine", "a second writer is kept out of this folder's files")


def _distributions() -> Iterator[Fact]:
    """What dpaudit needs, one line each, and its extras, one line each."""
    extras: dict[str, list[str]] = {}
    for requirement in metadata.requires("dpaudit") or ():
        match = _REQUIREMENT.match(requirement)
        if match is None:
            continue
        if match["extra"]:
            extras.setdefault(match["extra"], []).append(match["name"])
        elif version := _version(match["name"]):
            yield Fact(match["name"], "fine", version)
        else:
            yield Fact(match["name"], "broken", "not installed", f"pip install '{match['name']}{match['least']}'")
    for extra, names in extras.items():
        versions = {name: _version(name) for name in names}
        missing = [name for name, version in versions.items() if version is None]
        found = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
        if missing:
            text = f"without {', '.join(missing)}" + (f"; has {found}" if found else "")
            yield Fact(f"[{extra}]", "absent", text, f"pip install 'dpaudit[{extra}]'")
        else:
            yield Fact(f"[{extra}]", "fine", found)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _shipped() -> Fact:
    from dpaudit.subjects.targets import registered

    names = list(registered())
    if not names:
        return Fact(
            "algorithms", "broken", "no entry point is registered", "install dpaudit again: pip install --force-reinstall dpaudit"
        )
    return Fact("algorithms", "fine", f"{len(names)} registered: {', '.join(names[:4])} …")


COMMANDS = (Command("doctor", "is this machine fit for it? versions, entropy, locks, extras, Chromium", doctor_command),)
