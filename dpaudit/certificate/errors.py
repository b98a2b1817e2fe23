"""What stands in the way of a certificate, or of believing one."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.claims import DpauditError
from dpaudit.claims.errors import FileError
from dpaudit.claims.exit_codes import UNPROVEN, VIOLATED


class Refused(DpauditError):
    """No certificate: every reason by name. ``refuted``: not merely unproven, but shown to be wrong (exit code 1, not 3)."""

    def __init__(self, what: str, reasons: Sequence[str], refuted: bool = False) -> None:
        self.what, self.reasons, self.refuted = what, tuple(reasons), refuted
        self.exit_code = VIOLATED if refuted else UNPROVEN
        super().__init__(f"{what} is not certified: " + "; ".join(reasons))


class TamperedCertificate(FileError):
    """DPA007: a certificate, or what it is about, is not what was signed (exit code 1)."""

    rule = "DPA007"
    exit_code = VIOLATED


class UnreadableCertificate(FileError):
    """The file is no certificate, or not one that this version reads (exit code 2)."""


class NotAsCertified(FileError):
    """A door does not open for code, configuration or ledgers other than the certified ones (exit code 1)."""

    exit_code = VIOLATED
