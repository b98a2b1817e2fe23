"""What can go wrong with a ledger or a file of releases. Every message says what to do; none prints data."""

from __future__ import annotations

from dpaudit.claims import DpauditError
from dpaudit.claims.errors import FileError
from dpaudit.claims.exit_codes import VIOLATED


class MalformedJson(DpauditError, ValueError):
    """A file is not the strict JSON that dpaudit reads. Keeps the line, counted from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line, self.reason = line, reason
        super().__init__(f"line {line}: {reason}")


class InvalidRecord(DpauditError, ValueError):
    """A field of a release is missing, unknown or of the wrong type. Keeps line, field and expectation."""

    def __init__(self, field: str, expected: str, line: int | None = None) -> None:
        self.field, self.expected, self.line = field, expected, line
        where = f"line {line}: " if line is not None else ""
        super().__init__(f"{where}{field} must be {expected}")


class UnreadableLedger(FileError):
    """The file is not a ledger, or not one that this version reads (exit code 2)."""


class TamperedLedger(FileError):
    """DPA007: the content of a ledger, an export or a checkpoint is not what was written (exit code 1)."""

    rule = "DPA007"
    exit_code = VIOLATED


class WrongKind(DpauditError):
    """A simulated run tried to write a deployment ledger, or the reverse."""

    def __init__(self, path: str, kind: str, wanted: str) -> None:
        self.path, self.kind, self.wanted = path, kind, wanted
        super().__init__(f"{path} is a {kind} ledger and takes no {wanted} releases; open another file")


class LedgerUnavailable(FileError):
    """The ledger cannot be used now: locked, full, read-only, closed, forked. Nothing was granted."""


class Interrupted(LedgerUnavailable):
    """The connection to a ledger's server was lost; whether the last transaction happened has to be looked up."""
