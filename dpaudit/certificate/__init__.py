"""A certificate is a signed verdict: about a ledger, about code, or about both."""

from dpaudit.certificate.certified_door import live_certified
from dpaudit.certificate.deployments_registry import registry_entry, to_fill
from dpaudit.certificate.envelope import Opened, is_envelope, keyid_of, open_certificate, sign
from dpaudit.certificate.errors import NotAsCertified, Refused, TamperedCertificate, UnreadableCertificate
from dpaudit.certificate.facts.evidence import AuditEvidence, LedgerEvidence, audit_subject, read_ledger
from dpaudit.certificate.facts.reliance import relied_upon
from dpaudit.certificate.refusals import refuse
from dpaudit.certificate.statement import SCHEMA, statement
from dpaudit.certificate.validity import CertificateCheck, check

__all__ = [
    "SCHEMA",
    "AuditEvidence",
    "CertificateCheck",
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
