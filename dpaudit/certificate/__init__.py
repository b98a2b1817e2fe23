"""A certificate is a signed verdict: about a ledger, about code, or about both."""

from dpaudit.certificate.checking import Checked, check
from dpaudit.certificate.door import live_certified
from dpaudit.certificate.envelope import Opened, is_envelope, keyid_of, open_certificate, sign
from dpaudit.certificate.errors import NotAsCertified, Refused, TamperedCertificate, UnreadableCertificate
from dpaudit.certificate.evidence import AuditEvidence, LedgerEvidence, audit_subject, read_ledger
from dpaudit.certificate.refusals import refuse
from dpaudit.certificate.registry import registry_entry, to_fill
from dpaudit.certificate.reliance import relied_upon
from dpaudit.certificate.statement import SCHEMA, statement

__all__ = [
    "SCHEMA",
    "AuditEvidence",
    "Checked",
    "LedgerEvidence",
    "NotAsCertified",
    "Opened",
    "Refused",
    "TamperedCertificate",
    "UnreadableCertificate",
    "audit_subject",
    "check",
    "is_envelope",
    "keyid_of",
    "live_certified",
    "open_certificate",
    "read_ledger",
    "refuse",
    "registry_entry",
    "relied_upon",
    "sign",
    "statement",
    "to_fill",
]
