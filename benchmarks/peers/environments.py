"""One cached environment per peer under .peers/NAME, from its lock NAME.txt; renewed when the lock changes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".peers"


@dataclass(frozen=True)
class Environment:
    """``python`` to run the peer with, or why there is none."""

    name: str
    version: str
    python: Path | None
    failure: str = ""


def lock_of(name: str) -> Path:
    return HERE / f"{name}.txt"


def version_of(name: str, lock: Path | None = None) -> str:
    """As its own lock has it."""
    for line in (lock or lock_of(name)).read_text().splitlines():
        package, _, version = line.partition("==")
        if package.lower().replace("_", "-") == name:
            return version
    return "unknown"


def environment(name: str, lock: Path | None = None) -> Environment:
    """The peer's environment, installed if it is not there yet; a failure is reported. ``lock``: one of another folder."""
    lock = lock or lock_of(name)
    folder, digest = CACHE / name, hashlib.sha256(lock.read_bytes()).hexdigest()
    python, stamp = folder / "bin" / "python", folder / "lock.sha256"
    version = version_of(name, lock)
    if not (stamp.exists() and stamp.read_text() == digest):
        try:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, timeout=300)
            install = [python, "-m", "pip", "install", "--quiet", "--requirement", lock]
            subprocess.run(install, check=True, capture_output=True, timeout=1800)
        except (subprocess.SubprocessError, OSError) as failure:
            told = getattr(failure, "stderr", b"") or b""
            return Environment(
                name, version, None, f"does not install: {told.decode(errors='replace').strip()[-200:] or failure}"
            )
        stamp.write_text(digest)
    return Environment(name, version, python)
