"""From a path or an address to a ledger, or to a list of releases."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from dpaudit.claims import InvalidValue
from dpaudit.ledger.books.snapshot_file import Snapshots
from dpaudit.ledger.errors import LedgerUnavailable, MalformedJson
from dpaudit.ledger.keys import read_public_key
from dpaudit.ledger.periods import window_ledger
from dpaudit.ledger.records.handwritten import Forms
from dpaudit.ledger.records.release import Release
from dpaudit.ledger.records.strict_json import lines
from dpaudit.ledger.spending.budget import Filter, Limit
from dpaudit.ledger.spending.pure_sums import PureSums
from dpaudit.ledger.store.files import is_ledger_file
from dpaudit.ledger.store.interface import EntryStore
from dpaudit.ledger.store.ledger import Ledger, first_entry
from dpaudit.ledger.store.refusals import KeepsRefusals, Refusals
from dpaudit.ledger.store.registry import scheme_of, store_of
from dpaudit.ledger.store.sqlite import create


def open_ledger(
    path: str | Path,
    *,
    kind: str = "deployment",
    budget: Limit | None = None,
    readonly: bool = False,
    spends: Callable[[], Filter] = PureSums,
    code: str | Path | None = None,
    per: str | None = None,
    snapshot: str | Path | None = None,
    trusted_key: str | Path | Ed25519PublicKey | None = None,
) -> Ledger:
    """Open a ledger file, or make one. All entries are checked first.

    ``kind`` is fixed at creation, and later writers must be of that kind (WrongKind); readers need not.
    ``readonly`` reads files of either kind and exports, also in a folder that cannot be written.
    ``code``: the file or folder of the algorithm that releases; its SHA-256 is kept beside that of dpaudit's own code.
    ``per``: "hour", "day", "week" or "month": ``path`` is a folder with a ledger for each, and the current one is opened, so that
    a budget is one per period; ``dpaudit.ledger.periods`` says why no clock opens a past one again.
    ``snapshot``: a file of ``dpaudit verify --snapshot``, signed by ``trusted_key``: only the entries after it are read and
    checked, which must lead from what it says to the sealed root and the durable head.
    Raises UnreadableLedger (not a ledger, or from the future), TamperedLedger (DPA007) and LedgerUnavailable.
    """
    snapshots = _snapshots(snapshot, trusted_key)
    if per is not None:
        path = _window(path, per)
    first = None if readonly else partial(first_entry, kind, code)
    entries = store_of(path)(_place(path), first)
    try:
        ledger = Ledger(entries, spends=spends, snapshots=snapshots)
        if not readonly:
            ledger.require(kind)
            ledger.note_code(code)
        if budget is not None:
            ledger.limit(budget)
    except BaseException:
        entries.close()
        raise
    return ledger


def _window(path: str | Path, per: str) -> Path:
    if scheme_of(path) != "file":
        raise InvalidValue("per", per, "left out for a database, or given with a folder of ledger files")
    return window_ledger(path, per)


def _snapshots(path: str | Path | None, key: str | Path | Ed25519PublicKey | None) -> Snapshots | None:
    """A private key is not asked for: it does not belong where releases are made."""
    if path is None:
        if key is not None:
            raise InvalidValue("trusted_key", "given", "left out without a snapshot, which is what it signs here")
        return None
    if key is None:
        raise InvalidValue("trusted_key", None, "given together with a snapshot, which anybody else could have written")
    if not Path(path).exists():
        raise InvalidValue("snapshot", str(path), "a file that dpaudit verify LEDGER --snapshot FILE --key PRIVATE has made")
    return Snapshots(Path(path), key if isinstance(key, Ed25519PublicKey) else read_public_key(key))


def read_entries(path: str | Path) -> EntryStore:
    """The entries of a ledger or of an export, for reading."""
    return store_of(path)(_place(path), None)


def read_refusals(path: str | Path) -> list[Refusals]:
    """How many releases doors on this ledger refused, by hour and reason; none for what keeps no such counts."""
    if not is_ledger(path):
        return []
    entries = read_entries(path)
    try:
        return entries.refusals() if isinstance(entries, KeepsRefusals) else []
    finally:
        entries.close()


def shown_place(path: str | Path) -> str:
    """What people may see of a place: no password."""
    if scheme_of(path) != "postgresql":
        return str(path)
    from dpaudit.ledger.store.postgres.address import parse_address

    return parse_address(str(path)).shown


def _place(path: str | Path) -> str:
    return str(Path(path)) if scheme_of(path) == "file" else str(path)


def import_jsonl(source: str | Path, path: str | Path) -> Ledger:
    """Make a new ledger file out of a checked export, with the same entries and head."""
    source, path = Path(source), Path(path)
    if path.exists():
        raise LedgerUnavailable(str(path), "the file exists; import into a new one")
    with open_ledger(source, readonly=True) as exported:
        kind, entries = exported.kind, list(exported.entries())
    create(path, entries)
    return open_ledger(path, kind=kind)


def load_releases(path: str | Path, forms: Forms | None = None) -> list[Release]:
    """The releases of a ledger, of an export, or of a file of JSON Lines; in one of ``forms``, written by hand.

    Raises UnreadableLedger or TamperedLedger for the first two; for the third MalformedJson or InvalidRecord,
    which name the line.
    """
    if is_ledger(path):
        with open_ledger(path, readonly=True) as ledger:
            return list(ledger.releases())
    releases = [Release.from_json(data, number, forms=forms) for number, data in lines(path)]
    if not releases:
        raise MalformedJson(1, "the file holds no release")
    return releases


def is_ledger(path: str | Path) -> bool:
    """Is this a ledger, or the export of one? An address is; a file says so by how it begins."""
    return scheme_of(path) != "file" or is_ledger_file(Path(path))
