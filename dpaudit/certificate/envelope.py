"""Signing: an in-toto statement in canonical JSON (RFC 8785), in a DSSE envelope, by an Ed25519 key.

The envelope and its pre-authentication encoding are securesystemslib's (DSSE v1.0). Every character of the envelope counts: texts
in base64 must be written the one canonical way, and the signer's key stands inside what is signed.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from dpaudit.certificate.errors import Refused, TamperedCertificate, UnreadableCertificate
from dpaudit.certificate.statement import PREDICATE, SCHEMA, STATEMENT
from dpaudit.ledger import MalformedJson, load_file, loads
from dpaudit.ledger.records.strict_json import LARGEST_FILE

PAYLOAD_TYPE = "application/vnd.in-toto+json"
_PARTS, _SIGNATURE = {"payload", "payloadType", "signatures"}, {"keyid", "sig"}
_NEEDED = ("schema", "signer", "guarantee", "door", "ledger", "claims", "assurance", "configuration")


@dataclass(frozen=True)
class Opened:
    """A certificate whose signature fits. ``trusted``: by one of the keys that the reader trusts."""

    path: str
    keyid: str
    trusted: bool
    predicate: dict[str, Any]
    digests: dict[str, str]  # of what it is about: ledger, source, dpaudit, configuration


def keyid_of(key: Ed25519PublicKey) -> str:
    """SHA-256 of the key in securesystemslib's canonical form."""
    return str(SSlibKey.from_crypto(key).keyid)


def sign(statement: dict[str, Any], key: Ed25519PrivateKey) -> str:
    """The envelope as JSON. Raises Refused for a statement that is too long to be read again."""
    public = key.public_key()
    signer = {"keyid": keyid_of(public), "public": public.public_bytes_raw().hex()}
    signed = {**statement, "predicate": {**statement["predicate"], "signer": signer}}
    envelope = Envelope(rfc8785.dumps(signed), PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(key, SSlibKey.from_crypto(public)))
    text = json.dumps(envelope.to_dict(), indent=2)
    if len(text) >= LARGEST_FILE:
        raise Refused(str(statement["predicate"]["name"]), [f"the certificate would be larger than {LARGEST_FILE} bytes"])
    return text


def is_envelope(document: object) -> bool:
    """Does this JSON look like a DSSE envelope?"""
    return isinstance(document, dict) and document.keys() == _PARTS


def open_certificate(path: str | Path, trusted: Sequence[Ed25519PublicKey] = ()) -> Opened:
    """Read a certificate and check its signature, by a trusted key or else by the key that it names itself.

    Raises TamperedCertificate (DPA007), or UnreadableCertificate for what is no certificate of this version.
    """
    try:
        document = load_file(path)
    except MalformedJson as error:
        raise UnreadableCertificate(str(path), str(error)) from None
    return open_document(document, str(path), trusted)


def open_document(document: object, where: str, trusted: Sequence[Ed25519PublicKey] = ()) -> Opened:
    """The same for JSON that was read already, from ``where``."""
    envelope, keyid = _envelope(document, where)
    by_id = {keyid_of(key): key for key in trusted}
    if keyid in by_id:
        _verify(envelope, by_id[keyid], where)
    predicate, digests = _statement(envelope.payload, where)
    signer = _named_signer(predicate, where)
    if keyid_of(signer) != keyid or predicate["signer"].get("keyid") != keyid:
        raise TamperedCertificate(where, "the signature names another key than the certificate")
    _verify(envelope, signer, where)
    return Opened(where, keyid, keyid in by_id, predicate, digests)


def _envelope(document: object, where: str) -> tuple[Envelope, str]:
    if not isinstance(document, dict) or document.keys() != _PARTS:
        raise UnreadableCertificate(where, "not a certificate (a DSSE envelope with payload, payloadType and signatures)")
    signatures = document["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], dict):
        raise UnreadableCertificate(where, "a certificate has one signature")
    texts = [document["payload"], document["payloadType"], *signatures[0].values()]
    if signatures[0].keys() != _SIGNATURE or not all(isinstance(text, str) for text in texts):
        raise UnreadableCertificate(where, "payload, payloadType, keyid and sig of a certificate are texts")
    if document["payloadType"] != PAYLOAD_TYPE:
        raise TamperedCertificate(where, f"its payloadType is not {PAYLOAD_TYPE}")
    if not _canonical(document["payload"]) or not _canonical(signatures[0]["sig"]):
        raise TamperedCertificate(where, "payload or signature is not the base64 that was written")
    copy = {**document, "signatures": [dict(signatures[0])]}  # from_dict takes signatures apart
    return Envelope.from_dict(copy), str(signatures[0]["keyid"])


def _canonical(text: str) -> bool:
    """One text for each sequence of bytes: spare bits and stray characters are no free space."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except (binascii.Error, ValueError):
        return False


def _verify(envelope: Envelope, key: Ed25519PublicKey, where: str) -> None:
    try:
        envelope.verify([SSlibKey.from_crypto(key)], 1)
    except VerificationError:
        raise TamperedCertificate(where, "the signature does not fit its content") from None


def _statement(payload: bytes, where: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Predicate and digests of a statement of this version."""
    try:
        statement = loads(payload)
    except MalformedJson:
        raise TamperedCertificate(where, "what it holds is not the JSON that was signed") from None
    right = isinstance(statement, dict) and statement.get("_type") == STATEMENT and statement.get("predicateType") == PREDICATE
    predicate = statement.get("predicate") if right else None
    if not isinstance(predicate, dict) or predicate.get("schema") != SCHEMA or not all(name in predicate for name in _NEEDED):
        raise UnreadableCertificate(where, f"not a certificate of schema {SCHEMA}")
    try:
        digests = {str(one["name"]): str(one["digest"]["sha256"]) for one in statement["subject"]}
    except (KeyError, TypeError):
        raise UnreadableCertificate(where, "its subjects have no SHA-256") from None
    return predicate, digests


def _named_signer(predicate: dict[str, Any], where: str) -> Ed25519PublicKey:
    try:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(predicate["signer"]["public"]))
    except (KeyError, TypeError, ValueError):
        raise TamperedCertificate(where, "it does not name the key that signed it") from None
