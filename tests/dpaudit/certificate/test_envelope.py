"""Signing and opening: DSSE by its specification, and every changed character is reported."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from dpaudit.certificate import TamperedCertificate, UnreadableCertificate, keyid_of, open_certificate, sign
from dpaudit.certificate.envelope import PAYLOAD_TYPE, open_document

BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def envelope(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def other(character: str) -> str:
    """Another character of the same alphabet, as near as possible: of base64, one bit away."""
    place = BASE64.find(character)
    return BASE64[place ^ 1] if place >= 0 else "A"


def test_the_signature_is_ed25519_over_the_pre_authentication_encoding(certificate: Path, key: Ed25519PrivateKey) -> None:
    """By the text of DSSE v1: "DSSEv1" SP LEN(type) SP type SP LEN(body) SP body, without the library that wrote it."""
    found = envelope(certificate)
    body, kind = b64decode(found["payload"]), found["payloadType"].encode()
    encoded = b"DSSEv1 " + str(len(kind)).encode() + b" " + kind + b" " + str(len(body)).encode() + b" " + body
    key.public_key().verify(b64decode(found["signatures"][0]["sig"]), encoded)
    assert found["payloadType"] == PAYLOAD_TYPE == "application/vnd.in-toto+json"


def test_the_payload_is_canonical_json(certificate: Path) -> None:
    """RFC 8785: sorted keys, no spaces, UTF-8 as it is, and numbers in their shortest form."""
    body = b64decode(envelope(certificate)["payload"])
    value = json.loads(body, parse_float=float)
    again = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert body.decode().replace("1.0", "1") == again.replace("1.0", "1")


def test_it_opens_with_its_key_and_says_whether_that_is_trusted(certificate: Path, key: Ed25519PrivateKey) -> None:
    public = key.public_key()
    trusted, unknown = open_certificate(certificate, [public]), open_certificate(certificate)
    assert (trusted.trusted, unknown.trusted) == (True, False)
    assert trusted.keyid == unknown.keyid == keyid_of(public)
    stranger = Ed25519PrivateKey.generate().public_key()
    assert not open_certificate(certificate, [stranger]).trusted


@pytest.mark.parametrize("part", ["payload", "payloadType", "keyid", "sig"])
@pytest.mark.parametrize("trust", [True, False])
def test_every_changed_character_is_reported(part: str, trust: bool, certificate: Path, key: Ed25519PrivateKey) -> None:
    """A flip in what is signed is tampering; without a trusted key a flip may also make it unreadable, but never whole."""
    keys: list[Ed25519PublicKey] = [key.public_key()] if trust else []
    found = envelope(certificate)
    holder = found["signatures"][0] if part in ("keyid", "sig") else found
    text = holder[part]
    expected = TamperedCertificate if trust else (TamperedCertificate, UnreadableCertificate)
    for place in range(0, len(text), 1 if trust else 7):
        holder[part] = text[:place] + other(text[place]) + text[place + 1 :]
        with pytest.raises(expected):
            open_document(found, "cert.json", keys)
    holder[part] = text
    assert open_document(found, "cert.json", keys).trusted is trust  # the twin: unchanged, it opens


def test_a_changed_byte_between_the_texts_changes_nothing_or_is_reported(certificate: Path, key: Ed25519PrivateKey) -> None:
    """Spaces and line ends of the file are free; whatever else is changed there is no certificate any more."""
    whole, keys = certificate.read_bytes(), [key.public_key()]
    payload = envelope(certificate)["payload"].encode()
    start = whole.index(payload)
    before = open_certificate(certificate, keys)
    reported = 0
    for place in [*range(start), *range(start + len(payload), len(whole))]:
        certificate.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert open_certificate(certificate, keys) == before
        except (TamperedCertificate, UnreadableCertificate):
            reported += 1
    assert reported > 200


def test_spare_bits_of_base64_are_no_free_space(certificate: Path, key: Ed25519PrivateKey) -> None:
    """64 bytes end in "==" with four spare bits: the changed text decodes to the same signature, and is refused all the same."""
    found = envelope(certificate)
    text = found["signatures"][0]["sig"]
    assert text.endswith("==")
    changed = text[:-3] + other(text[-3]) + "=="
    assert b64decode(changed) == b64decode(text)
    found["signatures"][0]["sig"] = changed
    with pytest.raises(TamperedCertificate, match="DPA007"):
        open_certificate(write(certificate, found), [key.public_key()])


def test_a_stranger_who_signs_it_again_is_not_trusted(
    certificate: Path, key: Ed25519PrivateKey, document: tuple[dict[str, Any], Path]
) -> None:
    stranger = Ed25519PrivateKey.generate()
    certificate.write_text(sign(document[0], stranger), encoding="utf-8")
    opened = open_certificate(certificate, [key.public_key()])
    assert not opened.trusted
    assert opened.keyid == keyid_of(stranger.public_key())


def test_a_strangers_signature_under_the_trusted_name_is_tampering(
    certificate: Path, key: Ed25519PrivateKey, document: tuple[dict[str, Any], Path]
) -> None:
    found = envelope(certificate)
    forged = json.loads(sign(document[0], Ed25519PrivateKey.generate()))
    forged["signatures"][0]["keyid"] = found["signatures"][0]["keyid"]
    with pytest.raises(TamperedCertificate):
        open_certificate(write(certificate, forged), [key.public_key()])


def test_what_is_no_certificate_is_unreadable(certificate: Path, key: Ed25519PrivateKey) -> None:
    found = envelope(certificate)
    twice = {**found, "signatures": found["signatures"] * 2}
    wrong: list[object] = [[], {}, "text", {**found, "more": 1}, twice, {**found, "signatures": []}, {**found, "payload": 1}]
    for document in wrong:
        with pytest.raises(UnreadableCertificate):
            open_certificate(write(certificate, document), [key.public_key()])


def test_a_signed_statement_of_another_kind_is_unreadable(
    certificate: Path, key: Ed25519PrivateKey, document: tuple[dict[str, Any], Path]
) -> None:
    for change in ({"predicateType": "https://slsa.dev/provenance/v1"}, {"_type": "other"}, {"subject": [{"name": "ledger"}]}):
        certificate.write_text(sign({**document[0], **change}, key), encoding="utf-8")
        with pytest.raises(UnreadableCertificate):
            open_certificate(certificate, [key.public_key()])
    newer = {**document[0], "predicate": {**document[0]["predicate"], "schema": "dpaudit.certificate/2"}}
    certificate.write_text(sign(newer, key), encoding="utf-8")
    with pytest.raises(UnreadableCertificate, match=r"dpaudit\.certificate/1"):
        open_certificate(certificate, [key.public_key()])


def test_base64_of_the_payload_is_the_standard_one(certificate: Path) -> None:
    text = envelope(certificate)["payload"]
    assert b64encode(b64decode(text)).decode() == text
