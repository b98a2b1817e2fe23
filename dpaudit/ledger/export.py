"""A ledger as JSON Lines: one canonical line per entry, then the head. Every changed byte shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

from dpaudit.ledger.errors import LedgerUnavailable, TamperedLedger
from dpaudit.ledger.records.strict_json import canonical
from dpaudit.ledger.store.ledger import Head, Ledger
from dpaudit.ledger.store.merkle import MerkleTree

OPENING = b'{"entry":"ledger",'

_LONGEST_HEAD = 256  # bytes


def export_jsonl(ledger: Ledger, path: str | Path) -> Head:
    """Write the export; returns the head it ends with. Raises OSError if the file cannot be written."""
    refuse_itself(ledger, path)
    tree = MerkleTree()  # of what is written here: another process may append meanwhile
    with open(path, "wb") as file:
        for entry in ledger.entries():
            file.write(entry + b"\n")
            tree.append(entry)
        head = Head(tree.size, tree.root().hex())
        file.write(_head_line(head.size, head.root))
    return head


def refuse_itself(ledger: Ledger, path: str | Path) -> None:
    """An export that would overwrite what it is read from. Raises LedgerUnavailable."""
    if Path(path).exists() and Path(ledger.where).exists() and Path(path).samefile(ledger.where):
        raise LedgerUnavailable(str(path), "it is the ledger itself; export to another file")


class ExportEntries:
    """The entries of an export, read-only. Raises TamperedLedger if ``export_jsonl`` did not write it."""

    readonly, remote = True, False

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._file = open(path, "rb")  # noqa: SIM115 - closed by close()
        length = self._file.seek(0, 2)
        self._file.seek(max(0, length - _LONGEST_HEAD))
        tail = self._file.read()
        cut = tail.rfind(b"\n", 0, -1) + 1
        self._end, self._sealed = length - len(tail) + cut, _read_head(tail[cut:], self.where)

    def snapshot(self) -> nullcontext[None]:
        return nullcontext()

    def transaction(self) -> NoReturn:
        raise LedgerUnavailable(self.where, "an export is not written to; import it first")

    def write(self, place: int, entry: bytes, root: bytes) -> NoReturn:
        self.transaction()

    def read(self, start: int) -> Iterator[tuple[int, bytes]]:
        offset, place = 0, 0
        while offset < self._end:
            self._file.seek(offset)
            line = self._file.readline()
            offset += len(line)
            if place >= start:
                yield place, line[:-1]
            place += 1

    def sealed(self) -> tuple[int, bytes]:
        return self._sealed

    def head(self) -> None:
        return None

    def make_durable(self, size: int) -> None:
        return None

    def close(self) -> None:
        self._file.close()


def _head_line(size: int, root: str) -> bytes:
    return canonical({"entry": "head", "root": root, "size": size}) + b"\n"


def _read_head(line: bytes, where: str) -> tuple[int, bytes]:
    """Byte for byte the line that an export ends with."""
    root = line[len(b'{"entry":"head","root":"') :][:64]
    size = line[len(_head_line(0, "0" * 64)) - len(b"0}\n") : -len(b"}\n")]
    if size.isdigit() and len(size) <= 18:
        text = root.decode("latin-1")
        if line == _head_line(int(size), text) and set(text) <= set("0123456789abcdef"):
            return int(size), bytes.fromhex(text)
    raise TamperedLedger(where, "the last line is not the head of an export; it may be cut off")
