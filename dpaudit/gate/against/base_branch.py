"""The project as it stands at another commit, checked out beside it: what the base branch says is read from there."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import environ
from pathlib import Path

from dpaudit.claims import DpauditError
from dpaudit.gate.source_places import repository

SECONDS = 300  # that git may take


@contextmanager
def base_folder(folder: Path, reference: str) -> Iterator[Path]:
    """The same folder as at ``reference``, in a temporary copy that has no history. Raises DpauditError."""
    root = repository(folder)
    commit = _commit(root, reference)
    with tempfile.TemporaryDirectory(prefix="dpaudit-base-") as scratch:
        tree = Path(scratch) / "tree"
        index = {"GIT_INDEX_FILE": str(Path(scratch) / "index")}
        _git(root, "read-tree", commit, more=index)
        _git(root, "checkout-index", "--all", f"--prefix={tree}/", more=index)
        (tree / ".git").mkdir(parents=True)  # where the search for a configuration ends
        yield tree / folder.relative_to(root)


def _commit(root: Path, reference: str) -> str:
    if reference.startswith("-"):
        raise DpauditError(f"--against {reference}: not the name of a commit")
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}").strip()
    except DpauditError as error:
        if not (root / ".git").exists():
            raise DpauditError("--against compares with a commit, and this folder is in no git repository") from error
        hint = f"in a shallow clone fetch it first, as in git fetch origin {reference.removeprefix('origin/')}"
        raise DpauditError(f"--against {reference}: no such commit here; {hint}") from error


def _git(root: Path, *arguments: str, more: Mapping[str, str] | None = None) -> str:
    """Without variables that point git to another repository than this one."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], env={**kept, **(more or {})}, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise DpauditError("--against needs git, which is not installed") from None
    except subprocess.TimeoutExpired:
        raise DpauditError(f"git {arguments[0]} did not end within {SECONDS} s") from None
    if done.returncode != 0:
        raise DpauditError(f"git {arguments[0]} failed: {done.stderr.strip().splitlines()[-1:] or ['no reason given']}")
    return done.stdout
