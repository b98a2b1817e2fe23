"""From a path to a ledger or to a list of releases: the file says what it is."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from dpaudit.ledger.errors import LedgerUnavailable, MalformedJson, UnreadableLedger
from dpaudit.ledger.export import OPENING, ExportEntries
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.strict_json import lines
from dpaudit.ledger.spending.budget import Filter, Limit
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.book import Entries
from dpaudit.ledger.store.ledger import Ledger, first_entry
from dpaudit.ledger.store.sqlite import MAGIC, SqliteEntries, create


class SqliteLedger(Ledger):
    """A ledger in a file, made if it is not there. See ``open_ledger``."""

    def __init__(
        self,
        path: str | Path,
        kind: str = "deployment",
        budget: Limit | None = None,
        readonly: bool = False,
        spends: Callable[[], Filter] = PureSums,
        code: str | Path | None = None,
    ) -> None:
        path = Path(path)
        if not readonly and not path.exists():
            create(path, [first_entry(kind, code)])
        entries = read_entries(path) if readonly else SqliteEntries(_ledger_file(path), readonly=False)
        try:
            super().__init__(entries, spends=spends)
            if not readonly:
                self.require(kind)
                self.note_code(code)
            if budget is not None:
                self.limit(budget)
        except BaseException:
            entries.close()
            raise


def open_ledger(
    path: str | Path,
    *,
    kind: str = "deployment",
    budget: Limit | None = None,
    readonly: bool = False,
    spends: Callable[[], Filter] = PureSums,
    code: str | Path | None = None,
) -> Ledger:
    """Open a ledger file, or make one. All entries are checked first.

    ``kind`` is fixed at creation, and later writers must be of that kind (WrongKind); readers need not.
    ``readonly`` reads files of either kind and exports, also in a folder that cannot be written.
    ``code``: the file or folder of the algorithm that releases; its SHA-256 is kept beside that of dpaudit's own code.
    Raises UnreadableLedger (not a ledger, or from the future), TamperedLedger (DPA007) and LedgerUnavailable.
    """
    return SqliteLedger(path, kind, budget, readonly, spends, code)


def read_entries(path: Path) -> Entries:
    """The entries of a ledger file or of an export, for reading."""
    if _starts_with(path, OPENING):
        return ExportEntries(path)
    return SqliteEntries(_ledger_file(path), readonly=True)


def import_jsonl(source: str | Path, path: str | Path) -> Ledger:
    """Make a new ledger file out of a checked export, with the same entries and head."""
    source, path = Path(source), Path(path)
    if path.exists():
        raise LedgerUnavailable(str(path), "the file exists; import into a new one")
    with open_ledger(source, readonly=True) as exported:
        kind, entries = exported.kind, list(exported.entries())
    create(path, entries)
    return open_ledger(path, kind=kind)


def load_releases(path: str | Path) -> list[Release]:
    """The releases of a ledger, of an export, or of a hand-written file of JSON Lines.

    Raises UnreadableLedger or TamperedLedger for the first two; for the third MalformedJson or InvalidRecord,
    which name the line.
    """
    path = Path(path)
    if is_ledger(path):
        with open_ledger(path, readonly=True) as ledger:
            return list(ledger.releases())
    found = [Release.from_json(data, number) for number, data in lines(path)]
    if not found:
        raise MalformedJson(1, "the file holds no release")
    return found


def is_ledger(path: str | Path) -> bool:
    """Is this file a ledger or the export of one, by how it begins?"""
    return _starts_with(Path(path), MAGIC) or _starts_with(Path(path), OPENING)


def _ledger_file(path: Path) -> Path:
    if not _starts_with(path, MAGIC):
        raise UnreadableLedger(str(path), "the file is not a dpaudit ledger")
    return path


def _starts_with(path: Path, opening: bytes) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe could wait for ever, a device has no end
            raise UnreadableLedger(str(path), "not a regular file")
        with open(path, "rb") as file:
            return file.read(len(opening)) == opening
    except OSError as error:
        raise UnreadableLedger(str(path), f"the file cannot be read: {error.strerror}") from None
