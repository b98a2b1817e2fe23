"""A ledger in the repository must go on from the base branch's: one that was swapped or cut has forgotten what was spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dpaudit.gate.against.loosening import Loosening
from dpaudit.ledger.opening import is_ledger, read_entries
from dpaudit.ledger.store.registry import scheme_of


def ledger_loosenings(budget: str, base: Path, now: Path, target: str) -> Iterator[Loosening]:
    """Entries, or hand-written releases, that the base has and this branch has not; nothing where the base has no such file."""
    if scheme_of(target) != "file" or not (base / target).is_file():
        return
    kinds = [is_ledger(folder / target) if (folder / target).is_file() else None for folder in (base, now)]
    if kinds[0] != kinds[1]:
        words = {True: "a ledger", False: "releases written by hand", None: "gone"}
        yield Loosening(budget, f"what is in {target}", words[kinds[0]], words[kinds[1]])
        return
    known, missing = _missing_entries(base / target, now / target) if kinds[0] else _missing_lines(base / target, now / target)
    if missing:
        yield Loosening(budget, f"what is in {target}", f"{known} entries", f"{missing} of them gone or changed")


def _missing_entries(base: Path, now: Path) -> tuple[int, int]:
    """How many entries the base has, and how many of them are not in the same place now."""
    old, new = (_entries(path) for path in (base, now))
    same = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), min(len(old), len(new)))
    return len(old), len(old) - same


def _entries(path: Path) -> list[bytes]:
    store = read_entries(path)
    try:
        return [entry for _, entry in store.read(0)]
    finally:
        store.close()


def _missing_lines(base: Path, now: Path) -> tuple[int, int]:
    """The same for releases written by hand, in any order."""
    old, new = (Counter(line.strip() for line in path.read_bytes().splitlines() if line.strip()) for path in (base, now))
    return old.total(), (old - new).total()
